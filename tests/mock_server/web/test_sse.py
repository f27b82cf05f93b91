"""Frames of a stream."""

from datetime import UTC, datetime

import pytest

from mock_server.service.live_task import LiveTask
from mock_server.service.subscription import Subscription
from mock_server.tasks.log import StatusUpdate, submitted
from mock_server.tasks.task import Message, Role, Status, TaskState
from mock_server.web.sse import frames

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


def live_task() -> LiveTask:
    return LiveTask(submitted("t", "c", Message("m", Role.USER, ())))


def no_time() -> datetime:
    raise OSError("the clock has stopped")


@pytest.mark.req("HTTP-7")
async def test_comment_fills_the_silence_before_the_last_frame() -> None:
    live = live_task()
    stream = frames("r1", Subscription(live.task, live), ping_seconds=0.001, now=lambda: NOW)
    assert await anext(stream) == b": ping - 2026-11-20 10:00:00+00:00\r\n\r\n"
    live.publish(StatusUpdate(Status(TaskState.COMPLETED, NOW), is_final=True))
    rest = [frame async for frame in stream]
    assert rest[-1].startswith(b'data: {"id":"r1","jsonrpc":"2.0","result":{"contextId":"c"')
    assert rest[-1].endswith(b"}\r\n\r\n")


@pytest.mark.req("LOG-1")
async def test_stream_that_breaks_ends_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    live = live_task()
    stream = frames("r1", Subscription(live.task, live), ping_seconds=0.001, now=no_time)
    assert [frame async for frame in stream] == []
    assert "a2a_server.sanic_app.stream_sse.error" in caplog.text
