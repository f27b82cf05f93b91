"""The notifier of a project: only where push is on, and what is said of it."""

import subprocess
import sys

import pytest

from mock_server.errors import PushRefused
from mock_server.project.endpoints import A2AServer
from mock_server.push.opening import open_notifier
from mock_server.tasks.push_config import PushConfig

pytestmark = pytest.mark.anyio

ON = A2AServer("", push_notifications_enabled=True)


@pytest.mark.req("PUSH-1")
async def test_without_push_there_is_none() -> None:
    server = A2AServer("")
    async with open_notifier(server, opens_loopback=True, sends_authorization=True) as notifier:
        assert notifier is None


@pytest.mark.req("PUSH-5")
@pytest.mark.parametrize("opens_loopback", [True, False])
async def test_loopback_is_opened_aloud(
    opens_loopback: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_notifier(
        ON, opens_loopback=opens_loopback, sends_authorization=True
    ) as notifier:
        assert notifier is not None
        if opens_loopback:
            assert (await notifier.check(PushConfig("http://localhost:1/"))).host == "localhost"
        else:
            with pytest.raises(PushRefused):
                await notifier.check(PushConfig("http://localhost:1/"))
    assert ("--allow-local-push" in caplog.text) is opens_loopback


@pytest.mark.req("CFG-1", "PUSH-3")
async def test_entry_that_is_no_host_admits_nobody_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = A2AServer(
        "",
        push_notifications_enabled=True,
        push_notification_allowed_hosts=("https://a.example", "LOCALHOST."),
    )
    async with open_notifier(server, opens_loopback=True, sends_authorization=True) as notifier:
        assert notifier is not None
        assert await notifier.check(PushConfig("http://localhost/"))
        with pytest.raises(PushRefused, match="not allowed"):
            await notifier.check(PushConfig("http://a.example/"))
    assert "https://a.example" in caplog.text


def test_httpx_is_imported_by_those_who_push() -> None:
    code = "import sys, mock_server.serve, mock_server.web.app; print('httpx' in sys.modules)"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == "False\n"
