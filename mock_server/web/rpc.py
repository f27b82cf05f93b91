"""JSON-RPC over HTTP: `POST /`."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeAlias

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from structlog.stdlib import get_logger

from mock_server.errors import RpcError
from mock_server.service.service import Service
from mock_server.service.store import Subscription
from mock_server.tasks.task import Task, Update
from mock_server.web.http_server import (
    SSE_HEADERS,
    SSE_MEDIA_TYPE,
    BodyTooLarge,
    ClientGone,
    read_body,
    sse_frame,
)
from mock_server.wire import jsonrpc
from mock_server.wire.operations import (
    Answered,
    BadCall,
    Call,
    CallContext,
    Resubscribe,
    Streamed,
    StreamMessage,
)

logger = get_logger("a2a_server")

OK = 200
CONFLICT = 409
CONTENT_TOO_LARGE = 413
JSON = b"application/json"
Header: TypeAlias = tuple[bytes, bytes]
RETRY_AFTER: tuple[Header, ...] = ((b"retry-after", b"1"),)

RpcHandler: TypeAlias = Callable[[Scope, Receive, Send, CallContext], Awaitable[None]]
"""An ASGI application that takes the context of the call, too."""


@dataclass(frozen=True, slots=True)
class RpcEndpoint:
    """The one hot route; nothing stands between it and the server but what sets `context`."""

    service: Service
    max_body_bytes: int
    ping_seconds: float
    now: Callable[[], datetime]

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, context: CallContext
    ) -> None:
        codec = context.codec
        try:
            body = await read_body(receive, self.max_body_bytes)
        except ClientGone:
            return
        except BodyTooLarge:
            await reply(send, codec.encode_error(None, jsonrpc.too_large()), CONTENT_TOO_LARGE)
            return
        match codec.decode(body):
            case BadCall(id=rpc_id, error=error):
                await reply(send, codec.encode_error(rpc_id, error))
            case Call() as call:
                try:
                    if isinstance(call.operation, StreamMessage | Resubscribe):
                        response = await self._stream(call, call.operation, context)
                        await response(scope, receive, send)
                    else:
                        await reply(send, await self._reply_to(call, call.operation, context))
                except jsonrpc.InFlight as conflict:
                    refusal = codec.encode_error(call.id, conflict)
                    await reply(send, refusal, CONFLICT, RETRY_AFTER)

    async def _reply_to(self, call: Call, operation: Answered, context: CallContext) -> bytes:
        try:
            answer = await self.service.answer(operation, context)
            return context.codec.encode_reply(call, answer)
        except jsonrpc.InFlight:
            raise
        except Exception as error:
            return context.codec.encode_error(call.id, _as_rpc_error(error))

    async def _stream(self, call: Call, operation: Streamed, context: CallContext) -> Response:
        """A stream that cannot begin has the error as its one event, as a2a-sdk 0.3.26 does."""
        codec = context.codec
        try:
            subscription = await self.service.follow(operation, context)
        except jsonrpc.InFlight:
            raise
        except Exception as error:
            only = sse_frame(codec.encode_error(call.id, _as_rpc_error(error)))
            return Response(only, headers=SSE_HEADERS, media_type=SSE_MEDIA_TYPE)
        encode = partial(codec.encode_event, call, subscription.task_id, subscription.context_id)
        frames = sse_frames(subscription, encode, ping_seconds=self.ping_seconds, now=self.now)
        return StreamingResponse(frames, headers=SSE_HEADERS, media_type=SSE_MEDIA_TYPE)


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
        # The status line is sent: all that is left is to end the stream and to log the error.
        logger.exception("a2a_server.sanic_app.stream_sse.error", task_id=subscription.task_id)


def _as_rpc_error(error: Exception) -> RpcError:
    """What the client sees of `error`: nothing of an unexpected one (HTTP-5)."""
    if isinstance(error, RpcError):
        return error
    logger.error("a2a_server.sanic_app.request.error", exc_info=error)
    return jsonrpc.internal_error()


async def reply(
    send: Send,
    body: bytes,
    status: int = OK,
    headers: Iterable[Header] = (),
    *,
    content_type: bytes = JSON,
) -> None:
    """Answer with `body`."""
    length = (b"content-length", str(len(body)).encode())
    fixed = ((b"content-type", content_type), length)
    await send({"type": "http.response.start", "status": status, "headers": [*fixed, *headers]})
    await send({"type": "http.response.body", "body": body})


async def reply_without_body(send: Send, status: int, headers: Iterable[Header] = ()) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [*headers]})
    await send({"type": "http.response.body", "body": b""})
