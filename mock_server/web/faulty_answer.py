"""The answer to one request under the faults that hit it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http.client import responses
from typing import TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mock_server.errors import RpcError
from mock_server.faults.effects import (
    ConnectionReset,
    Delay,
    Effect,
    HttpStatus,
    Moment,
    RateLimited,
    SlowDribble,
    WrongContentType,
)
from mock_server.faults.fault import Fired
from mock_server.faults.matching import RPC_PATH, ReceivedRequest
from mock_server.faults.tampering import END, Cut, StreamTampering, tampered_document
from mock_server.tasks.json_text import parse_json
from mock_server.web import http_server
from mock_server.web.rpc import JSON, RETRY_AFTER, Header, reply, reply_without_body
from mock_server.wire import jsonrpc
from mock_server.wire.jsonrpc import error_envelope, readable_id
from mock_server.wire.operations import Codec, RpcId

Sleep: TypeAlias = Callable[[float], Awaitable[None]]

TOO_MANY_REQUESTS = 429
BODILESS = frozenset({204, 304})
# What the server itself sends along with these (server.md AUTH-1, TURN-5).
EXTRA_HEADERS: Mapping[int, tuple[Header, ...]] = {
    401: ((b"www-authenticate", b"Bearer"),),
    409: RETRY_AFTER,
}


@dataclass(frozen=True, slots=True)
class FaultyAnswer:
    """Passes a request on to the application and its answer back, with what `fired` does to both.

    `codec` writes the errors; `headers` gives what is to be added when the answer begins.
    """

    fired: tuple[Fired, ...]
    request: ReceivedRequest
    body: bytes
    codec: Codec
    sleep: Sleep
    headers: Callable[[], tuple[Header, ...]]

    async def __call__(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        if await self._fails(Moment.BEFORE, scope, receive, send):
            return
        effects = tuple(hit.effect for hit in self.fired)
        if any(map(_replaces, effects)):
            await app(scope, receive, _discard)
            await self._fails(Moment.AFTER, scope, receive, send)
            return
        answer = TamperedAnswer(effects, self.sleep, scope, receive, send)

        async def begin(message: Message) -> None:
            if message["type"] == "http.response.start":
                await self._fails(Moment.AFTER, scope, receive, send)
                message = {**message, "headers": [*message["headers"], *self.headers()]}
            await answer.take(message)

        await app(scope, receive, begin)

    async def _fails(self, moment: Moment, scope: Scope, receive: Receive, send: Send) -> bool:
        """Whether the request ends here; first it waits as long as it has to."""
        for hit in self.fired:
            match hit.effect:
                case Delay(when=when) as delay if when is moment:
                    await self.sleep(delay.seconds + delay.jitter_seconds * hit.chance)
                case HttpStatus(when=when) as failure if when is moment:
                    await self._fail(send, failure)
                    return True
                case RateLimited(retry_after_seconds=seconds) if moment is Moment.BEFORE:
                    body = self._error_body(TOO_MANY_REQUESTS)
                    retry = (b"retry-after", str(seconds).encode())
                    await _respond(send, TOO_MANY_REQUESTS, body, retry)
                    return True
                case ConnectionReset(when=when) if when == moment.value:
                    await http_server.reset_connection(scope, receive)
                    return True
                case _:
                    pass
        return False

    async def _fail(self, send: Send, failure: HttpStatus) -> None:
        body = self._error_body(failure.status)
        if failure.body is not None:
            body = failure.body.encode(), failure.content_type.encode()
        await _respond(send, failure.status, body, *EXTRA_HEADERS.get(failure.status, ()))

    def _error_body(self, status: int) -> tuple[bytes, bytes]:
        """A body and its type, as the server itself writes them."""
        phrase = responses.get(status, f"Status {status}")
        if self.request.path != RPC_PATH or self.request.verb != "POST":
            return phrase.encode(), b"text/plain; charset=utf-8"
        return self._rpc_error(status, phrase), JSON

    def _rpc_error(self, status: int, phrase: str) -> bytes:
        match status:
            case 401:
                return error_envelope(None, jsonrpc.unauthorized(), writes_null_id=True)
            case 409:
                names = (self.request.context_id or "", self.request.message_id or "")
                return self.codec.encode_error(self._rpc_id(), jsonrpc.InFlight(*names))
            case 413:
                return self.codec.encode_error(None, jsonrpc.too_large())
            case _:
                error = RpcError(jsonrpc.Code.INTERNAL, phrase)
                return self.codec.encode_error(self._rpc_id(), error)

    def _rpc_id(self) -> RpcId:
        try:
            return readable_id(parse_json(self.body))
        except ValueError:
            return None


def _replaces(effect: Effect) -> bool:
    """Whether the application runs, and its answer is discarded."""
    match effect:
        case HttpStatus(when=Moment.AFTER) | ConnectionReset(when="after"):
            return True
        case _:
            return False


async def _discard(_: Message) -> None:
    pass


async def _respond(send: Send, status: int, body: tuple[bytes, bytes], *extra: Header) -> None:
    if status in BODILESS:
        await reply_without_body(send, status, extra)
    else:
        await reply(send, body[0], status, extra, content_type=body[1])


STREAM = b"text/event-stream"


class TamperedAnswer:
    """An answer on its way out; the head of a document is held back until its length is known."""

    def __init__(
        self,
        effects: tuple[Effect, ...],
        sleep: Sleep,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        self._effects = effects
        self._stream = StreamTampering(effects)
        self._sleep = sleep
        self._scope = scope
        self._receive = receive
        self._send = send
        self._head: Message = {}
        self._unsent = b""
        self._is_over = False

    async def take(self, message: Message) -> None:
        """One ASGI message of the application."""
        if self._is_over:
            return
        if message["type"] == "http.response.start":
            self._head = message
            if _is_stream(message):
                await self._begin(None)
            return
        self._unsent += message.get("body", b"")
        has_ended = not message.get("more_body", False)
        if _is_stream(self._head):
            await self._pass_frames(has_ended=has_ended)
        elif has_ended:
            await self._send_document()

    async def _pass_frames(self, *, has_ended: bool) -> None:
        while END in self._unsent:
            frame, _, self._unsent = self._unsent.partition(END)
            for step in self._stream.frame(frame + END):
                await self._do(step)
        if has_ended and not self._is_over:
            for step in self._stream.end():
                await self._do(step)
        if has_ended and not self._is_over:
            await self._finish()

    async def _do(self, step: bytes | Cut) -> None:
        if isinstance(step, bytes):
            await self._write(step)
            return
        self._is_over = True
        match step.how:
            case "reset":
                await http_server.reset_connection(self._scope, self._receive)
            case "cut":
                await http_server.close_connection(self._scope, self._receive)
            case _:
                await self._finish()

    async def _send_document(self) -> None:
        if self._head["status"] in BODILESS:
            await self._begin(None)
            await self._finish()
            return
        document = tampered_document(self._unsent, self._effects)
        await self._begin(len(document))
        is_cut = any(isinstance(e, ConnectionReset) and e.when == "during" for e in self._effects)
        if is_cut:
            await self._write(document[: len(document) // 2])
            await self._do(Cut("reset"))
            return
        await self._write(document)
        await self._finish()

    async def _begin(self, length: int | None) -> None:
        lies = [e.content_type for e in self._effects if isinstance(e, WrongContentType)]
        replaced = {b"content-length", b"content-type"} if lies else {b"content-length"}
        headers = [pair for pair in self._head["headers"] if pair[0] not in replaced]
        if lies:
            headers.append((b"content-type", lies[-1].encode()))
        if length is not None:
            headers.append((b"content-length", str(length).encode()))
        await self._send({**self._head, "headers": headers})

    async def _write(self, content: bytes) -> None:
        slow = next((e for e in self._effects if isinstance(e, SlowDribble)), None)
        if slow is None:
            await self._send({"type": "http.response.body", "body": content, "more_body": True})
            return
        for start in range(0, len(content), slow.size_bytes):
            if start:
                await self._sleep(slow.pause_seconds)
            piece = content[start : start + slow.size_bytes]
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _finish(self) -> None:
        self._is_over = True
        await self._send({"type": "http.response.body", "body": b""})


def _is_stream(head: Message) -> bool:
    return any(name == b"content-type" and STREAM in value for name, value in head["headers"])
