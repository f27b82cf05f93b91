"""The answer to one request under the faults that hit it."""

from collections.abc import Callable, Mapping
from http.client import responses
from typing import TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mock_server.errors import RpcError
from mock_server.faults.armed import Fired
from mock_server.faults.effects import (
    ConnectionReset,
    Delay,
    Effect,
    HttpStatus,
    Moment,
    RateLimited,
)
from mock_server.faults.request import RPC_PATH, ReceivedRequest
from mock_server.tasks.json_text import parse_json
from mock_server.web import connection
from mock_server.web.tampered_answer import Sleep, TamperedAnswer
from mock_server.wire import rpc_errors
from mock_server.wire.envelopes import RpcId, error_envelope, readable_id

Header: TypeAlias = tuple[bytes, bytes]

TOO_MANY_REQUESTS = 429
BODILESS = frozenset({204, 304})
# What the server itself sends along with these (server.md AUTH-1, TURN-5).
EXTRA_HEADERS: Mapping[int, tuple[Header, ...]] = {
    401: ((b"www-authenticate", b"Bearer"),),
    409: ((b"retry-after", b"1"),),
}


class FaultyAnswer:
    """Passes a request on to the application and its answer back, with what `fired` does to both.

    `headers` are asked for what is to be added when the answer begins.
    """

    def __init__(
        self,
        fired: tuple[Fired, ...],
        request: ReceivedRequest,
        body: bytes,
        sleep: Sleep,
        headers: Callable[[], tuple[Header, ...]],
    ) -> None:
        self._fired = fired
        self._effects = tuple(hit.effect for hit in fired)
        self._request = request
        self._body = body
        self._sleep = sleep
        self._headers = headers

    async def __call__(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        if await self._fails(Moment.BEFORE, scope, receive, send):
            return
        if any(_replaces(effect) for effect in self._effects):
            await app(scope, receive, _into_nothing)
            await self._fails(Moment.AFTER, scope, receive, send)
            return
        answer = TamperedAnswer(self._effects, self._sleep, scope, receive, send)

        async def begin(message: Message) -> None:
            if message["type"] == "http.response.start":
                await self._fails(Moment.AFTER, scope, receive, send)
                message = {**message, "headers": [*message["headers"], *self._headers()]}
            await answer.take(message)

        await app(scope, receive, begin)

    async def _fails(self, moment: Moment, scope: Scope, receive: Receive, send: Send) -> bool:
        """Whether the request ends here; first it waits as long as it has to."""
        for hit in self._fired:
            match hit.effect:
                case Delay(when=when) as delay if when is moment:
                    await self._sleep(delay.seconds + delay.jitter_seconds * hit.chance)
                case HttpStatus(when=when) as failure if when is moment:
                    await self._fail(send, failure)
                    return True
                case RateLimited(retry_after_seconds=seconds) if moment is Moment.BEFORE:
                    body = self._error_body(TOO_MANY_REQUESTS)
                    retry = (b"retry-after", str(seconds).encode())
                    await _respond(send, TOO_MANY_REQUESTS, body, retry)
                    return True
                case ConnectionReset(when=when) if when == moment.value:
                    await connection.reset(scope, receive)
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
        """A body and its type, as like the server's own as can be."""
        phrase = responses.get(status, f"Status {status}")
        if self._request.path != RPC_PATH or self._request.verb != "POST":
            return phrase.encode(), b"text/plain; charset=utf-8"
        return self._rpc_error(status, phrase), b"application/json"

    def _rpc_error(self, status: int, phrase: str) -> bytes:
        match status:
            case 401:
                return error_envelope(None, rpc_errors.unauthorized(), writes_null_id=True)
            case 409:
                names = (self._request.context_id or "", self._request.message_id or "")
                return error_envelope(self._rpc_id(), rpc_errors.InFlight(*names))
            case 413:
                return error_envelope(None, rpc_errors.too_large())
            case _:
                error = RpcError(rpc_errors.Code.INTERNAL, phrase)
                return error_envelope(self._rpc_id(), error)

    def _rpc_id(self) -> RpcId:
        try:
            return readable_id(parse_json(self._body))
        except ValueError:
            return None


def _replaces(effect: Effect) -> bool:
    """Whether the application's answer is thrown away, although it worked for it."""
    match effect:
        case HttpStatus(when=Moment.AFTER) | ConnectionReset(when="after"):
            return True
        case _:
            return False


async def _into_nothing(_: Message) -> None:
    pass


async def _respond(send: Send, status: int, body: tuple[bytes, bytes], *extra: Header) -> None:
    content, content_type = body
    if status in BODILESS:
        await send({"type": "http.response.start", "status": status, "headers": [*extra]})
        await send({"type": "http.response.body"})
        return
    length = (b"content-length", str(len(content)).encode())
    headers = [(b"content-type", content_type), length, *extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
