"""The outermost layer: the admin API beside the mock; the journal and the faults around all else.

While no fault is armed a request costs its entry in the journal and nothing more.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mock_server.faults.fault import ArmedFaults
from mock_server.faults.matching import read_request
from mock_server.faults.tampering import handling
from mock_server.web.faulty_answer import FaultyAnswer, Header
from mock_server.web.journal import Exchange, Journal
from mock_server.web.rpc import RpcHandler
from mock_server.wire.operations import CallContext

ADMIN_PREFIX = "/__admin"
WANTS_TRACE: Header = (b"x-mock-trace", b"1")
TRACE_ID = b"x-mock-trace-id"


@dataclass(frozen=True, slots=True)
class Middleware:
    """In front of `app`; `context` is that of a call without faults, and without a trace.

    `has_trace` reports whether a turn is traced under an id.
    """

    app: RpcHandler
    context: CallContext
    admin: ASGIApp
    journal: Journal
    faults: ArmedFaults
    has_trace: Callable[[str], bool]
    sleep: Callable[[float], Awaitable[None]]
    max_body_bytes: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith(ADMIN_PREFIX):
            await self.admin(scope, receive, send)
            return
        exchange = self.journal.open(scope)
        receive = exchange.recording_receive(receive)
        try:
            if self.faults or WANTS_TRACE in scope["headers"]:
                await self._handle_with_faults(exchange, scope, receive, send)
            else:
                await self.app(scope, receive, exchange.recording_send(send), self.context)
        finally:
            self.journal.close(exchange)

    async def _handle_with_faults(
        self, exchange: Exchange, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Read the request ahead, find the faults that hit it, and apply them to the answer."""
        received, body = await _read_ahead(receive, self.max_body_bytes)
        request = read_request(scope["method"], scope["path"], scope["headers"], body)
        fired = self.faults.fire(request)
        exchange.faults = tuple(hit.fault_id for hit in fired)
        trace_id = f"trace-{exchange.number}" if WANTS_TRACE in scope["headers"] else None
        asked = handling(trace_id, (hit.effect for hit in fired))
        answer = FaultyAnswer(
            fired, request, body, self.sleep, partial(self._trace_header, trace_id)
        )
        app = _noting(self.app, replace(self.context, handling=asked), exchange)
        await answer(app, scope, _replaying(received, receive), _noting_status(send, exchange))

    def _trace_header(self, trace_id: str | None) -> tuple[Header, ...]:
        """Only a turn that was begun has a trace."""
        if trace_id is None or not self.has_trace(trace_id):
            return ()
        return ((TRACE_ID, trace_id.encode()),)


async def _read_ahead(receive: Receive, limit_bytes: int) -> tuple[list[Message], bytes]:
    """The messages of a request up to its end, or to where it becomes too long."""
    received: list[Message] = []
    chunks: list[bytes] = []
    size_bytes = 0
    while size_bytes <= limit_bytes:
        message = await receive()
        received.append(message)
        if message["type"] == "http.disconnect":
            break
        chunks.append(message.get("body", b""))
        size_bytes += len(chunks[-1])
        if not message.get("more_body", False):
            break
    return received, b"".join(chunks)


def _replaying(received: list[Message], receive: Receive) -> Receive:
    pending = iter(received)

    async def replayed() -> Message:
        message = next(pending, None)
        return await receive() if message is None else message

    return replayed


def _noting(app: RpcHandler, context: CallContext, exchange: Exchange) -> ASGIApp:
    """`app`, whose answers are kept as it gives them, before faults change them."""

    async def noting(scope: Scope, receive: Receive, send: Send) -> None:
        async def noted(message: Message) -> None:
            exchange.note_answer(message)
            await send(message)

        await app(scope, receive, noted, context)

    return noting


def _noting_status(send: Send, exchange: Exchange) -> Send:
    async def noted(message: Message) -> None:
        exchange.note_status(message)
        await send(message)

    return noted
