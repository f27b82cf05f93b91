"""Everything the screen draws, as one value; what passes a filter, and where it goes wrong."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from inspector.core.entries import ASIDE, Purpose
from inspector.tui.messages import Place
from inspector.views import data, live, mock, reading, timeline
from inspector.views import exchanges as wire
from inspector.views.card import CardView
from inspector.views.chat import ChatMessage, Offer
from inspector.views.data import DataView, TurnData
from inspector.views.exchanges import Exchange, Exchanges
from inspector.views.filtered import (
    FilteredExchanges,
    FilteredTimeline,
    filter_exchanges,
    filter_timeline,
)
from inspector.views.filters import NO_FILTER, Filter
from inspector.views.live import LiveView
from inspector.views.mock import MockView
from inspector.views.persistent import Series
from inspector.views.problems import problem_of, refusal_of
from inspector.views.reading import Readings
from inspector.views.timeline import TaskRow, Timeline, Update
from inspector.wire.findings import Severity
from inspector.wire.json_values import Json


@dataclass(frozen=True, slots=True)
class Board:
    """The folds of one log."""

    card: CardView | None = None
    chat: Sequence[ChatMessage] = ()
    timeline: Timeline = timeline.EMPTY
    data: DataView = data.EMPTY
    exchanges: Exchanges = wire.EMPTY
    mock: MockView = mock.EMPTY
    live: LiveView = live.EMPTY
    readings: Readings = reading.EMPTY

    @property
    def tasks(self) -> Series[TaskRow]:
        return self.timeline.rows

    @property
    def turns(self) -> Sequence[TurnData]:
        return self.data.turns

    @property
    def open_task(self) -> TaskRow | None:
        """The newest task, whether it still runs or has ended."""
        return self.tasks[-1] if self.tasks else None

    @property
    def context_id(self) -> str | None:
        """The context spoken in last; a turn that was refused has told none."""
        return next((task.context_id for task in reversed(self.tasks) if task.context_id), None)

    @property
    def offers(self) -> tuple[Offer, ...]:
        """The buttons of the agent's last message, until the user has spoken again."""
        return self.chat[-1].offers if self.chat else ()

    @property
    def running(self) -> tuple[Exchange, ...]:
        """What the user waits for, which replays are not."""
        return tuple(one for one in self.exchanges.running if one.id not in self.live.under_way)

    @property
    def trouble(self) -> ChatMessage | None:
        """Why no card came at the last attempt, told as part of the conversation."""
        last = self.exchanges[-1] if self.exchanges else None
        if last is None or last.purpose is not Purpose.CARD:
            return None
        problem = problem_of(last)
        if problem is None:
            return None
        lines = [problem.what, *(f"{name}: {text}" for name, text in problem.details)]
        at_ms = last.request.at_ms + (last.total_ms or 0)
        return ChatMessage(last.request.seq, at_ms, last.id, "agent", "", problem="\n".join(lines))

    def turn_at(self, place: Place | None) -> TurnData | None:
        """Return the data that `place` belongs to: the last of its exchange, or the newest."""
        if place is None:
            return self.turns[-1] if self.turns else None
        found = self.data.turn_of_exchange.get(place.exchange)
        if found is None:
            found = bisect_right(self.turns, place.exchange, key=lambda turn: turn.exchange) - 1
        return self.turns[found] if found >= 0 else None

    def slots(self) -> Mapping[str, Json]:
        """The slots that the agent last told."""
        return {row.name: row.value for row in self.turns[-1].slots} if self.turns else {}


@dataclass(frozen=True, slots=True)
class FilteredBoard:
    """What the panels show. `counts` are how many of how many, by panel; empty: all pass."""

    chat: Sequence[ChatMessage] = ()
    tasks: Series[TaskRow] = field(default_factory=Series[TaskRow])
    exchanges: Series[Exchange] = field(default_factory=Series[Exchange])
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])


@dataclass(frozen=True, slots=True)
class BoardFilter:
    """A filter with what it let through of the board before."""

    filter: Filter = NO_FILTER
    exchanges: FilteredExchanges | None = None
    timeline: FilteredTimeline | None = None

    def apply(self, board: Board) -> "tuple[BoardFilter, FilteredBoard]":
        if not self.filter.terms:
            return self, FilteredBoard(board.chat, board.tasks, board.exchanges.rows)
        exchanges = filter_exchanges(self.exchanges, self.filter, board.exchanges)
        timeline = filter_timeline(self.timeline, self.filter, board.timeline, board.exchanges)
        passing = {exchange.id for exchange in exchanges.items}
        chat = [said for said in board.chat if said.exchange in passing]
        counts = {
            "conversation": (len(chat), len(board.chat)),
            "timeline": (len(timeline.items), len(board.tasks)),
            "wire": (len(exchanges.items), len(board.exchanges)),
        }
        filtered = FilteredBoard(chat, timeline.items, exchanges.items, counts)
        return BoardFilter(self.filter, exchanges, timeline), filtered


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """`text` says the first thing that is wrong there, `panel` where it is seen."""

    place: Place
    text: str
    panel: str


@dataclass(frozen=True, slots=True)
class FoundCount:
    """How many places there are, counted on from an earlier board."""

    total: int = 0
    rows: Series[TaskRow] = field(default_factory=Series[TaskRow])
    exchanges: Series[Exchange] = field(default_factory=Series[Exchange])

    def step(self, board: Board) -> "FoundCount":
        total = self.total
        for place in board.tasks.changes(self.rows):
            row = board.tasks[place]
            before = self.rows[place].updates if place < len(self.rows) else Series[Update]()
            for index in row.updates.changes(before):
                total += bool(_trouble(row.updates[index]))
                total -= bool(index < len(before) and _trouble(before[index]))
        rows = board.exchanges.rows
        for place in rows.changes(self.exchanges):
            total += bool(_trouble_aside(rows[place]))
            total -= bool(place < len(self.exchanges) and _trouble_aside(self.exchanges[place]))
        return FoundCount(total, board.tasks, rows)


def found_places(board: Board) -> list[FoundPlace]:
    """Return all places in the order of the log."""
    return sorted(_places(board), key=lambda found: found.place.seq)


def _places(board: Board) -> Iterator[FoundPlace]:
    for row in board.tasks:
        for update in row.updates:
            if text := _trouble(update):
                yield FoundPlace(Place(update.exchange, update.seq), text, "timeline")
    for exchange in board.exchanges:
        if text := _trouble_aside(exchange):
            yield FoundPlace(Place(exchange.id, exchange.request.seq), text, "wire")


def _trouble(update: Update) -> str:
    """Return what is wrong with `update`; "" where nothing is."""
    if update.kind == "error":
        return update.text
    return next((one.message for one in update.findings if one.severity is not Severity.HINT), "")


def _trouble_aside(exchange: Exchange) -> str:
    """Return what is wrong with an exchange that no task tells of, such as that of the card."""
    if exchange.purpose not in ASIDE:
        return ""
    if exchange.failure is not None:
        return exchange.failure.message
    if (refusal := refusal_of(exchange)) is not None:
        return refusal.cause
    return next((one.message for one in exchange.findings if one.severity is not Severity.HINT), "")
