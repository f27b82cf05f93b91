"""Streams fill silences and end when they break; what nobody foresaw stays inside."""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import httpx
import pytest

from mock_server.actions.runner import Progress
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.outside import ActionResult
from mock_server.dialogue.state import DialogueState, Tracker
from mock_server.service.conversation import AgentVersion
from mock_server.service.runtime import Runtime, real_runtime
from mock_server.service.service import Service, ServiceSettings
from mock_server.service.store import LiveTask, Subscription
from mock_server.tasks.task import Message, Role, Status, StatusUpdate, TaskState, submitted
from mock_server.web.app import App, Page, Site
from mock_server.web.rpc import sse_frames
from mock_server.wire.operations import Call, Resubscribe
from mock_server.wire.v0_3 import V03

pytestmark = pytest.mark.anyio


def no_id() -> str:
    raise OSError("no randomness is left")


def no_action(_: str, __: DialogueState, ___: Tracker) -> Iterator[Progress]:
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


NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


def live_task() -> LiveTask:
    return LiveTask(submitted("t", "c", Message("m", Role.USER, ())))


def frames(live: LiveTask, now: Callable[[], datetime]) -> AsyncIterator[bytes]:
    call = Call("r1", Resubscribe("t"))
    encode = partial(V03().encode_event, call, "t", "c")
    return sse_frames(Subscription(live.task, live), encode, ping_seconds=0.001, now=now)


def no_time() -> datetime:
    raise OSError("the clock has stopped")


@pytest.mark.req("HTTP-7")
async def test_comment_fills_the_silence_before_the_last_frame() -> None:
    live = live_task()
    stream = frames(live, lambda: NOW)
    assert await anext(stream) == b": ping - 2026-11-20 10:00:00+00:00\r\n\r\n"
    live.publish(StatusUpdate(Status(TaskState.COMPLETED, NOW), is_final=True))
    rest = [frame async for frame in stream]
    assert rest[-1].startswith(b'data: {"id":"r1","jsonrpc":"2.0","result":{"contextId":"c"')
    assert rest[-1].endswith(b"}\r\n\r\n")


@pytest.mark.req("LOG-1")
async def test_stream_that_breaks_ends_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    live = live_task()
    stream = frames(live, no_time)
    assert [frame async for frame in stream] == []
    assert "a2a_server.sanic_app.stream_sse.error" in caplog.text
