"""The wire view: every exchange with its raw request, frames and times."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TypeAlias, assert_never, overload

from inspector.core.decoding import UNKNOWN, ReplyReader, Source
from inspector.core.entries import (
    Failed,
    FrameReceived,
    OpeningRequest,
    Purpose,
    PushReceived,
    PushVerdict,
    RequestSent,
    ResponseStarted,
    size_of,
)
from inspector.views.persistent import Index, Series
from inspector.views.reads import STREAMS, Asked, Began, Ended, Pushed, Read, Received
from inspector.wire.dialect import Reply
from inspector.wire.findings import Finding, Severity
from inspector.wire.progress import Progress
from inspector.wire.states import STATES

_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request with all that came of it; times are ms since it was sent, None until then.

    A request to the push receiver is an exchange, too: its `purpose` is None, and what we
    answered stands in the request. `rpc_method` is None for it and for a card.
    `is_replay`: a live replay made it, beside the conversation.
    `progress` is how far the task has come by this exchange alone; `about` are the task and
    the context that the request named. `answer` is the last frame with a reply that could be
    read, `is_refused` says that it was an error, `worst` is the gravest severity found.
    """

    id: int
    request: OpeningRequest
    rpc_method: str | None
    reader: ReplyReader = UNKNOWN
    response: ResponseStarted | None = None
    frames: Series[FrameReceived] = field(default_factory=Series[FrameReceived])
    failure: Failed | None = None
    first_byte_ms: float | None = None
    total_ms: float | None = None
    size_bytes: int = 0
    findings: Series[Finding] = field(default_factory=Series[Finding])
    connect_ms: float | None = None
    progress: Progress = field(default_factory=Progress)
    about: tuple[str | None, str | None] = (None, None)
    answer: Source | None = None
    has_read_answer: bool = False
    is_refused: bool = False
    worst: Severity | None = None

    @property
    def purpose(self) -> Purpose | None:
        return self.request.purpose if isinstance(self.request, RequestSent) else None

    @property
    def is_replay(self) -> bool:
        return isinstance(self.request, RequestSent) and self.request.is_replay

    @property
    def push(self) -> PushReceived | None:
        """The notification, where the agent began the exchange."""
        return self.request if isinstance(self.request, PushReceived) else None

    @property
    def task_id(self) -> str | None:
        return self.progress.task_id or self.about[0]

    @property
    def context_id(self) -> str | None:
        return self.progress.context_id or self.about[1]

    @property
    def is_failed(self) -> bool:
        """Say whether it broke off, or one side refused what the other sent."""
        if self.push is not None:
            return self.push.verdict is not PushVerdict.ACCEPTED
        status = self.response.status if self.response is not None else 0
        return self.failure is not None or self.is_refused or status >= HTTPStatus.BAD_REQUEST

    @property
    def redirected_from(self) -> int | None:
        """The exchange whose answer sent the request on to here."""
        return self.request.redirected_from if isinstance(self.request, RequestSent) else None

    @property
    def is_redirect(self) -> bool:
        """Say whether the request went on in another exchange."""
        is_on = self.response is not None and self.response.is_redirect
        return is_on and self.failure is None

    @property
    def is_stream(self) -> bool:
        return self.purpose in STREAMS

    @property
    def is_running(self) -> bool:
        return self.total_ms is None

    @property
    def last_reply(self) -> Reply | None:
        """The last reply that could be read; where none could, the last that came at all."""
        return None if self.answer is None else self.answer.reply

    def read(self, frame: FrameReceived) -> Reply | None:
        """The reply in one of the frames; None for an event without data."""
        return Source(frame, self.reader).reply


@dataclass(frozen=True, slots=True)
class Exchanges(Sequence[Exchange]):
    """A sequence of exchanges in the order in which they began, those of replays among them.

    `newest_place` is that of the newest which is not a replay's.
    """

    rows: Series[Exchange] = field(default_factory=Series[Exchange])
    places: Index[int, int] = field(default_factory=Index[int, int], hash=False)
    open: Mapping[int, int] = field(default_factory=dict[int, int], hash=False)
    newest_place: int | None = None

    @property
    def newest(self) -> Exchange | None:
        """The newest, whatever replays came after it."""
        return None if self.newest_place is None else self.rows[self.newest_place]

    @property
    def running(self) -> tuple[Exchange, ...]:
        """Those under way but for replays, oldest first; costs as much as there are of them."""
        rows = (self.rows[place] for place in self.open.values())
        return tuple(one for one in rows if not one.is_replay)

    def up_to(self, id: int | None) -> Iterator[Exchange]:
        """Yield those up to exchange `id` (None: all), newest first.

        Those of replays only where `id` is one of them, and then only these.
        """
        selected = None if id is None else find(self, id)
        is_replay = selected is not None and selected.is_replay
        for one in reversed(self.rows):
            if one.is_replay is is_replay and (id is None or one.id <= id):
                yield one

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Exchange]:
        return iter(self.rows)

    @overload
    def __getitem__(self, index: int) -> Exchange: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Exchange, ...]: ...
    def __getitem__(self, index: int | slice) -> Exchange | tuple[Exchange, ...]:
        return self.rows[index]


EMPTY = Exchanges()


def step(view: Exchanges, read: Read) -> Exchanges:
    """Add `read` to its exchange, or begin one; calls of a mock's admin API are left out."""
    if not isinstance(read, Pushed) and read.call.purpose is Purpose.ADMIN:
        return view
    if isinstance(read, Asked | Pushed):
        place = len(view.rows)
        begun = begin(read)
        return Exchanges(
            view.rows.append(begun),
            view.places.set(begun.id, place),
            {**view.open, begun.id: place} if begun.is_running else view.open,
            view.newest_place if begun.is_replay else place,
        )
    place = view.places[read.entry.exchange]
    rows = view.rows.set(place, extend(view.rows[place], read))
    if isinstance(read, Ended):
        still_open = {key: one for key, one in view.open.items() if key != read.entry.exchange}
        return replace(view, rows=rows, open=still_open)
    return replace(view, rows=rows)


def find(view: Exchanges, exchange: int) -> Exchange | None:
    place = view.places.get(exchange)
    return None if place is None else view.rows[place]


def begin(read: Asked | Pushed) -> Exchange:
    """The exchange as its request opens it; a notification comes whole."""
    entry = read.entry
    if isinstance(read, Asked):
        call = read.call
        about = (call.task_id, call.context_id)
        method = call.request.method
        return Exchange(
            entry.exchange, entry, method, call.reader, progress=call.progress, about=about
        )
    exchange = Exchange(entry.exchange, entry, None, first_byte_ms=0.0, total_ms=0.0)
    if (result := read.result) is not None:
        state = result.state if result.state in STATES else None
        progress = Progress(result.task_id, result.context_id, state, result.is_final)
        exchange = replace(exchange, progress=progress)
    return _with_findings(exchange, read.findings)


_Later: TypeAlias = Began | Received | Ended


def extend(exchange: Exchange, read: _Later) -> Exchange:
    """`exchange` with what came of it next."""
    since_ms = read.entry.at_ms - exchange.request.at_ms
    match read:
        case Began(entry):
            exchange = replace(
                exchange, response=entry, first_byte_ms=since_ms, connect_ms=entry.connect_ms
            )
        case Received():
            exchange = _add_frame(exchange, read)
        case Ended(entry):
            failure = entry if isinstance(entry, Failed) else None
            exchange = replace(exchange, failure=failure, total_ms=since_ms)
        case _ as never:
            assert_never(never)
    return _with_findings(exchange, read.findings)


def _add_frame(exchange: Exchange, received: Received) -> Exchange:
    is_read = received.reply is not None and not received.reply.problem
    is_refusal = received.reply is not None and received.reply.error is not None
    is_answer = is_read or (received.reply is not None and not exchange.has_read_answer)
    return replace(
        exchange,
        frames=exchange.frames.append(received.entry),
        size_bytes=exchange.size_bytes + size_of(received.entry),
        progress=received.call.progress,
        answer=received.source if is_answer else exchange.answer,
        is_refused=exchange.is_refused or is_refusal,
        has_read_answer=exchange.has_read_answer or is_read,
    )


def _with_findings(exchange: Exchange, findings: tuple[Finding, ...]) -> Exchange:
    if not findings:
        return exchange
    severities = [finding.severity for finding in findings]
    known = [exchange.worst] if exchange.worst is not None else []
    return replace(
        exchange,
        findings=exchange.findings.extend(findings),
        worst=min(severities + known, key=_RANKS.__getitem__),
    )
