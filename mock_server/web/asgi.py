"""ASGI without a framework: bodies up to a limit, and server-sent events."""

from collections.abc import AsyncIterator, Callable
from datetime import datetime

from starlette.types import Receive
from structlog.stdlib import get_logger

from mock_server.service.live_task import Subscription
from mock_server.tasks.task import Task, Update

# What is read past the limit and discarded: a client that is refused while it still writes
# sees a reset instead of the answer.
DRAINED_BYTES = 64 * 1024 * 1024


class BodyTooLarge(Exception):
    """The body is longer than the limit."""


class ClientGone(Exception):
    """The client hung up before its request was complete."""


async def read_body(receive: Receive, limit_bytes: int) -> bytes:
    """Return the body.

    Raises:
        BodyTooLarge: it is longer than `limit_bytes`, whether it said so or came in chunks.
        ClientGone: it never came to its end.
    """
    chunks: list[bytes] = []
    size_bytes = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        size_bytes += len(chunk)
        if size_bytes <= limit_bytes:
            chunks.append(chunk)
        elif size_bytes > limit_bytes + DRAINED_BYTES:
            break
    if size_bytes > limit_bytes:
        raise BodyTooLarge
    return b"".join(chunks)


logger = get_logger("a2a_server")

SSE_MEDIA_TYPE = "text/event-stream"
SSE_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


def sse_frame(envelope: bytes) -> bytes:
    return b"data: " + envelope + b"\r\n\r\n"


async def sse_frames(
    subscription: Subscription,
    encode: Callable[[Task | Update], bytes],
    *,
    ping_seconds: float,
    now: Callable[[], datetime],
) -> AsyncIterator[bytes]:
    """One frame an occurrence, and a comment whenever `ping_seconds` pass without one."""
    try:
        while not subscription.is_over:
            occurrences = await subscription.next(ping_seconds)
            for occurrence in occurrences:
                yield sse_frame(encode(occurrence))
            if not occurrences:
                yield f": ping - {now()}\r\n\r\n".encode()
    except Exception:
        # The status line is out: all that is left is to end the stream, and to say so here.
        logger.exception("a2a_server.sanic_app.stream_sse.error", task_id=subscription.task_id)
