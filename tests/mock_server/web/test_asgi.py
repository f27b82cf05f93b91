"""Bodies are read to their end, or given up."""

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from functools import partial

import pytest
from starlette.types import Message as AsgiMessage
from starlette.types import Receive

from mock_server.service.live_task import LiveTask, Subscription
from mock_server.tasks.task import Message, Role, Status, StatusUpdate, TaskState, submitted
from mock_server.web.asgi import DRAINED_BYTES, BodyTooLarge, ClientGone, read_body, sse_frames
from mock_server.wire.operations import Call, Resubscribe
from mock_server.wire.v0_3 import V03

pytestmark = pytest.mark.anyio


def client(
    *chunks: bytes, then: AsgiMessage | None = None
) -> tuple[Receive, Iterator[AsgiMessage]]:
    """A client that sends `chunks`, and what it has not sent yet."""
    end = then or {"type": "http.request", "body": b"", "more_body": False}
    left = iter(
        [*({"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks), end]
    )

    async def receive() -> AsgiMessage:
        return next(left)

    return receive, left


async def test_chunks_are_joined() -> None:
    receive, _ = client(b"ab", b"c")
    assert await read_body(receive, 3) == b"abc"


@pytest.mark.req("HTTP-5")
async def test_oversized_body_is_read_to_its_end() -> None:
    receive, left = client(b"ab", b"cd", b"ef")
    with pytest.raises(BodyTooLarge):
        await read_body(receive, 3)
    assert next(left, None) is None


@pytest.mark.req("HTTP-5")
async def test_endless_body_is_given_up() -> None:
    huge = b" " * (DRAINED_BYTES // 2)
    receive, left = client(huge, huge, huge, huge)
    with pytest.raises(BodyTooLarge):
        await read_body(receive, 3)
    assert next(left, None) is not None


async def test_client_that_hangs_up_has_no_body() -> None:
    receive, _ = client(b"ab", then={"type": "http.disconnect"})
    with pytest.raises(ClientGone):
        await read_body(receive, 3)


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
