"""What nobody foresaw stays inside."""

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from mock_server.actions.runner import Progress
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.outside import ActionResult
from mock_server.dialogue.state import DialogueState, Story
from mock_server.service.conversation import AgentVersion
from mock_server.service.runtime import Runtime, real_runtime
from mock_server.service.service import Service, ServiceSettings
from mock_server.web.app import App, Page, Site

pytestmark = pytest.mark.anyio


def no_id() -> str:
    raise OSError("no randomness is left")


def no_action(_: str, __: DialogueState, ___: Story) -> Iterator[Progress]:
    yield ActionResult()


async def post(method: str, runtime: Runtime) -> httpx.Response:
    async with Service(AgentVersion(Assistant(), no_action), runtime, ServiceSettings()) as service:
        app = App(service, Site(Page({}), Page({})), runtime.now)
        transport = httpx.ASGITransport(app)
        message = {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "x"}]}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}
        async with httpx.AsyncClient(transport=transport, base_url="http://mock") as client:
            return await client.post("/", json=body)


@pytest.mark.req("HTTP-5")
@pytest.mark.parametrize("method", ["message/send", "message/stream"])
async def test_failure_of_the_server_is_an_internal_error_without_its_text(
    method: str, caplog: pytest.LogCaptureFixture
) -> None:
    runtime = replace(real_runtime(), make_id=no_id)
    response = await post(method, runtime)
    assert response.status_code == 200
    expected = '{"error":{"code":-32603,"message":"Internal error"},"id":1,"jsonrpc":"2.0"}'
    assert response.text.strip().removeprefix("data: ") == expected
    assert "no randomness is left" in caplog.text
