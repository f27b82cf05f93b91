"""Server-sent events as a2a-sdk 0.3.26 frames them."""

from collections.abc import AsyncIterator, Callable
from datetime import datetime

from structlog.stdlib import get_logger

from mock_server.service.subscription import Occurrence, Subscription
from mock_server.tasks.task import Task
from mock_server.wire.envelopes import RpcId, result_envelope
from mock_server.wire.v03_tasks import encode_task, encode_update

logger = get_logger("a2a_server")

MEDIA_TYPE = "text/event-stream"
HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


def frame(envelope: bytes) -> bytes:
    return b"data: " + envelope + b"\r\n\r\n"


async def frames(
    rpc_id: RpcId,
    subscription: Subscription,
    *,
    ping_seconds: float,
    now: Callable[[], datetime],
) -> AsyncIterator[bytes]:
    """One frame an occurrence, and a comment whenever `ping_seconds` pass without one."""
    try:
        while not subscription.is_over:
            occurrences = await subscription.next(ping_seconds)
            for occurrence in occurrences:
                yield frame(result_envelope(rpc_id, _encode(subscription, occurrence)))
            if not occurrences:
                yield f": ping - {now()}\r\n\r\n".encode()
    except Exception:
        # The status line is out: all that is left is to end the stream, and to say so here.
        logger.exception("a2a_server.sanic_app.stream_sse.error", task_id=subscription.task_id)


def _encode(subscription: Subscription, occurrence: Occurrence) -> bytes:
    if isinstance(occurrence, Task):
        return encode_task(occurrence)
    return encode_update(subscription.task_id, subscription.context_id, occurrence)
