"""The requests received and their outcomes, as references to bytes that are read on demand.

Every request passes here, so nothing is parsed or copied before it is needed.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from starlette.types import Message, Receive, Scope, Send

from mock_server.dialogue.model import Json
from mock_server.faults.matching import ReceivedRequest, read_request
from mock_server.tasks.json_text import parse_json

KEPT_EXCHANGES = 1000
KEPT_BYTES = 16 * 1024 * 1024
# Of a longer body the beginning is kept, of a longer answer nothing.
KEPT_BYTES_EACH = 256 * 1024
DATA = b"data: "


@dataclass(frozen=True, slots=True)
class ExchangeOutcome:
    """What an answer reports; `state` is spelt with underscores, `error` is JSON-RPC's code."""

    task_id: str | None = None
    context_id: str | None = None
    state: str | None = None
    error: int | None = None


@dataclass(slots=True, eq=False)
class Exchange:
    """A request, and its answer as far as it has come; `bodies` counts the pieces of its body."""

    number: int
    verb: str
    path: str
    headers: list[tuple[bytes, bytes]]
    at: datetime
    began: float
    body: bytes = b""
    status: int | None = None
    answer: bytes = b""
    bodies: int = 0
    faults: tuple[str, ...] = ()
    seconds: float | None = None
    size_bytes: int = 0
    is_kept: bool = True

    def recording_receive(self, receive: Receive) -> Receive:
        """`receive`, which also keeps the beginning of the body that comes."""

        async def recorded() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                chunk = message.get("body", b"")
                if len(self.body) < KEPT_BYTES_EACH:
                    chunk = chunk[: KEPT_BYTES_EACH - len(self.body)]
                    self.body = self.body + chunk if self.body else chunk
            return message

        return recorded

    def recording_send(self, send: Send) -> Send:
        """`send`, which also keeps what goes: of a stream the last event."""

        def recorded(message: Message) -> Awaitable[None]:
            self.note_status(message)
            self.note_answer(message)
            return send(message)

        return recorded

    def note_status(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]

    def note_answer(self, message: Message) -> None:
        if message["type"] == "http.response.body" and (body := message.get("body")):
            self.answer = body
            self.bodies += 1

    def asked(self) -> ReceivedRequest:
        return read_request(self.verb, self.path, self.headers, self.body)

    def request(self) -> ReceivedRequest:
        """As asked, with the context and the task of the answer where it names them."""
        request, outcome = self.asked(), self.outcome()
        return replace(
            request,
            context_id=outcome.context_id or request.context_id,
            task_id=outcome.task_id or request.task_id,
        )

    def outcome(self) -> ExchangeOutcome:
        return read_outcome(self.answer_document())

    def answer_document(self) -> bytes:
        """The answer's body, or the last event of a stream, without its framing."""
        return self.answer.removeprefix(DATA)


class Journal:
    """The last exchanges, bounded in number and in bytes."""

    def __init__(self, now: Callable[[], datetime], elapsed_seconds: Callable[[], float]) -> None:
        self._now = now
        self._elapsed_seconds = elapsed_seconds
        self._exchanges: deque[Exchange] = deque()
        self._size_bytes = 0
        self._number = 0

    def __iter__(self) -> Iterator[Exchange]:
        """From the oldest on."""
        return iter(self._exchanges)

    def open(self, scope: Scope) -> Exchange:
        self._number += 1
        exchange = Exchange(
            self._number,
            scope["method"],
            scope["path"],
            scope["headers"],
            at=self._now(),
            began=self._elapsed_seconds(),
        )
        self._exchanges.append(exchange)
        if len(self._exchanges) > KEPT_EXCHANGES:
            self._drop_oldest()
        return exchange

    def close(self, exchange: Exchange) -> None:
        """The exchange has ended."""
        exchange.seconds = self._elapsed_seconds() - exchange.began
        if len(exchange.answer) > KEPT_BYTES_EACH:
            exchange.answer = b""
        if exchange.is_kept:
            exchange.size_bytes = len(exchange.body) + len(exchange.answer)
            self._size_bytes += exchange.size_bytes
            while self._size_bytes > KEPT_BYTES:
                self._drop_oldest()

    def clear(self) -> None:
        while self._exchanges:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        oldest = self._exchanges.popleft()
        oldest.is_kept = False
        self._size_bytes -= oldest.size_bytes


def read_outcome(answer: bytes) -> ExchangeOutcome:
    """Read a JSON-RPC answer, or an event of a stream; anything else gives nothing."""
    try:
        document = parse_json(answer)
    except ValueError:
        return ExchangeOutcome()
    match document:
        case {"error": {"code": int(code)}}:
            return ExchangeOutcome(error=code)
        case {"result": {"kind": "task", "id": str(task), "contextId": str(context), **rest}}:
            return ExchangeOutcome(task, context, _state(rest.get("status")))
        case {"result": {"taskId": str(task), "contextId": str(context), **rest}}:
            return ExchangeOutcome(task, context, _state(rest.get("status")))
        case _:
            return ExchangeOutcome()


def _state(status: Json) -> str | None:
    match status:
        case {"state": str(state)}:
            return state.replace("-", "_")
        case _:
            return None
