"""JSON-RPC over HTTP: `POST /`."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from structlog.stdlib import get_logger

from mock_server.errors import RpcError
from mock_server.service.service import Service
from mock_server.service.store import Subscription
from mock_server.web import asgi
from mock_server.web.asgi import BodyTooLarge, ClientGone, read_body
from mock_server.wire import jsonrpc
from mock_server.wire.jsonrpc import RpcId, error_envelope, result_envelope
from mock_server.wire.operations import (
    Answered,
    BadCall,
    Call,
    CancelTask,
    DeletePushConfig,
    GetExtendedCard,
    GetPushConfig,
    GetTask,
    ListPushConfigs,
    Operation,
    Resubscribe,
    SendMessage,
    SetPushConfig,
    Streamed,
    StreamMessage,
    authorized,
    handled,
)
from mock_server.wire.v0_3 import (
    decode_call,
    decode_strictly,
    encode_push_config,
    encode_push_configs,
    with_history,
)

logger = get_logger("a2a_server")

OK = 200
NO_CONTENT = 204
CONFLICT = 409
CONTENT_TOO_LARGE = 413
# Where an application in front leaves, in the scope, when the caller's token expires.
AUTHORIZED_UNTIL = "a2a_mock.authorized_until"
# And what the admin API asks of the turn.
HANDLING = "a2a_mock.handling"
RETRY_AFTER = ((b"retry-after", b"1"),)


class RpcEndpoint:
    """An ASGI application for the one hot route; nothing stands between it and the server."""

    def __init__(
        self,
        service: Service,
        *,
        max_body_bytes: int,
        ping_seconds: float,
        now: Callable[[], datetime],
    ) -> None:
        self._service = service
        self._profile = service.profile
        self._decode = decode_strictly if service.profile.keeps_to_json_rpc else decode_call
        self._max_body_bytes = max_body_bytes
        self._ping_seconds = ping_seconds
        self._now = now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await read_body(receive, self._max_body_bytes)
        except ClientGone:
            return
        except BodyTooLarge:
            await _reply(send, self._error(None, jsonrpc.too_large()), CONTENT_TOO_LARGE)
            return
        match self._decode(body):
            case BadCall(is_notification=True):
                await _stay_silent(send)
            case BadCall(id=rpc_id, error=error):
                await _reply(send, self._error(rpc_id, error))
            case Call(id=rpc_id, operation=operation, is_notification=is_notification):
                if AUTHORIZED_UNTIL in scope:
                    operation = authorized(operation, scope[AUTHORIZED_UNTIL])
                if HANDLING in scope:
                    operation = handled(operation, scope[HANDLING])
                if is_notification:
                    await self._heed(operation)
                    await _stay_silent(send)
                    return
                try:
                    if isinstance(operation, StreamMessage | Resubscribe):
                        response = await self._stream(rpc_id, operation)
                        await response(scope, receive, send)
                    else:
                        await _reply(send, await self._answer(rpc_id, operation))
                except jsonrpc.InFlight as conflict:
                    await _reply(send, self._error(rpc_id, conflict), CONFLICT, RETRY_AFTER)

    def _error(self, rpc_id: RpcId, error: RpcError) -> bytes:
        return error_envelope(rpc_id, error, writes_null_id=self._profile.keeps_to_json_rpc)

    async def _heed(self, operation: Operation) -> None:
        """Do what nobody wants to hear of; a turn that it begins goes on by itself."""
        try:
            match operation:
                case StreamMessage() | Resubscribe():
                    await self._subscription(operation)
                case SendMessage():
                    await self._service.send(replace(operation, is_blocking=False))
                case _:
                    await self._result(operation)
        except Exception as error:
            _told(error)

    async def _answer(self, rpc_id: RpcId, operation: Answered) -> bytes:
        try:
            return result_envelope(rpc_id, await self._result(operation))
        except jsonrpc.InFlight:
            raise
        except Exception as error:
            return self._error(rpc_id, _told(error))

    async def _result(self, operation: Answered) -> bytes | None:
        match operation:
            case SendMessage(history_length=length):
                return with_history((await self._service.send(operation)).encoded, length)
            case GetTask(history_length=length):
                return with_history(self._service.get(operation).encoded, length)
            case CancelTask():
                return self._service.cancel(operation).encoded
            case SetPushConfig(task_id=task_id):
                return encode_push_config(task_id, await self._service.push.set(operation))
            case GetPushConfig(task_id=task_id):
                return encode_push_config(task_id, self._service.push.get(operation))
            case ListPushConfigs(task_id=task_id):
                return encode_push_configs(task_id, self._service.push.list(operation))
            case DeletePushConfig():
                self._service.push.delete(operation)
                return None
            case GetExtendedCard():
                if self._profile.names_missing_extended_card:
                    raise jsonrpc.extended_card_not_configured()
                raise jsonrpc.no_extended_card()

    async def _stream(self, rpc_id: RpcId, operation: Streamed) -> Response:
        """A stream that cannot begin has the error as its one event, as a2a-sdk 0.3.26 does."""
        try:
            subscription = await self._subscription(operation)
        except jsonrpc.InFlight:
            raise
        except Exception as error:
            only = asgi.sse_frame(self._error(rpc_id, _told(error)))
            return Response(only, headers=asgi.SSE_HEADERS, media_type=asgi.SSE_MEDIA_TYPE)
        frames = asgi.sse_frames(
            rpc_id, subscription, ping_seconds=self._ping_seconds, now=self._now
        )
        return StreamingResponse(frames, headers=asgi.SSE_HEADERS, media_type=asgi.SSE_MEDIA_TYPE)

    async def _subscription(self, operation: Streamed) -> Subscription:
        match operation:
            case StreamMessage(turn=turn):
                return await self._service.stream(turn)
            case Resubscribe():
                return self._service.resubscribe(operation)


def _told(error: Exception) -> RpcError:
    """What the client is told of `error`: nothing of what nobody foresaw (HTTP-5)."""
    if isinstance(error, RpcError):
        return error
    logger.error("a2a_server.sanic_app.request.error", exc_info=error)
    return jsonrpc.internal_error()


async def _reply(
    send: Send, body: bytes, status: int = OK, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    length = (b"content-length", str(len(body)).encode())
    fixed = ((b"content-type", b"application/json"), length)
    await send({"type": "http.response.start", "status": status, "headers": [*fixed, *headers]})
    await send({"type": "http.response.body", "body": body})


async def _stay_silent(send: Send) -> None:
    await send({"type": "http.response.start", "status": NO_CONTENT, "headers": []})
    await send({"type": "http.response.body", "body": b""})
