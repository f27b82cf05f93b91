"""The log as all of the screen shows it: its views, what is selected, what passes the filter."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from inspector.core.decoding import InOrder
from inspector.core.entries import ASIDE, Entry, Purpose
from inspector.core.requests import TURNS
from inspector.tui.messages import Place
from inspector.views import log_views
from inspector.views.card import CardView
from inspector.views.chat import ChatMessage, Offer, divide
from inspector.views.data import TurnData
from inspector.views.exchanges import Exchange, Exchanges, find
from inspector.views.filtered import (
    FilteredExchanges,
    FilteredTimeline,
    filter_exchanges,
    filter_timeline,
)
from inspector.views.filters import NO_FILTER, Filter
from inspector.views.live import LiveView
from inspector.views.log_views import Views
from inspector.views.mock import MockView
from inspector.views.persistent import Series
from inspector.views.problems import problem_of, refusal_of
from inspector.views.timeline import TaskRow, Update
from inspector.views.waiting import Waiting
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import Json

FRAME_SECONDS = 1 / 30
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Passing:
    """What of the views passes `filter`, brought up to date at the cost of what has changed."""

    filter: Filter = NO_FILTER
    chat: Sequence[ChatMessage] = ()
    tasks: Series[TaskRow] = field(default_factory=Series[TaskRow])
    exchanges: Series[Exchange] = field(default_factory=Series[Exchange])
    _exchanges: FilteredExchanges | None = None
    _timeline: FilteredTimeline | None = None

    def step(self, views: Views) -> "Passing":
        if not self.filter.terms:
            rows = views.exchanges.rows
            return Passing(self.filter, views.chat.said, views.timeline.rows, rows)
        exchanges = filter_exchanges(self._exchanges, self.filter, views.exchanges)
        timeline = filter_timeline(self._timeline, self.filter, views.timeline, views.exchanges)
        passing = {exchange.id for exchange in exchanges.items}
        chat = divide(said for said in views.chat.said if said.exchange in passing)
        return Passing(self.filter, chat, timeline.items, exchanges.items, exchanges, timeline)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A place with an error, or a finding that is more than a hint; `text` says the first one."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class TroubleCount:
    """How many places there are where something is wrong, counted on from earlier views."""

    total: int = 0
    rows: Series[TaskRow] = field(default_factory=Series[TaskRow])
    exchanges: Series[Exchange] = field(default_factory=Series[Exchange])

    def step(self, views: Views) -> "TroubleCount":
        total, rows, exchanges = self.total, views.timeline.rows, views.exchanges.rows
        for place in rows.changes(self.rows):
            updates = rows[place].updates
            before = self.rows[place].updates if place < len(self.rows) else Series[Update]()
            for index in updates.changes(before):
                total += bool(_trouble(updates[index]))
                total -= bool(index < len(before) and _trouble(before[index]))
        for place in exchanges.changes(self.exchanges):
            total += bool(_trouble_aside(exchanges[place]))
            total -= bool(place < len(self.exchanges) and _trouble_aside(self.exchanges[place]))
        return TroubleCount(total, rows, exchanges)


@dataclass(frozen=True, slots=True, eq=False)
class LogView:
    """One value for all panels. Without a `place` the newest is selected, and followed."""

    views: Views = log_views.EMPTY
    place: Place | None = None
    passing: Passing = Passing()
    trouble_count: TroubleCount = TroubleCount()

    def with_views(self, views: Views) -> "LogView":
        passing, count = self.passing.step(views), self.trouble_count.step(views)
        return replace(self, views=views, passing=passing, trouble_count=count)

    def at(self, place: Place | None) -> "LogView":
        return replace(self, place=place)

    def filtered(self, filter: Filter) -> "LogView":
        return replace(self, passing=Passing(filter).step(self.views))

    @property
    def is_filtered(self) -> bool:
        return bool(self.passing.filter.terms)

    # What there is, whether it passes the filter or not

    @property
    def card(self) -> CardView | None:
        return self.views.card.card

    @property
    def chat(self) -> Sequence[ChatMessage]:
        return self.views.chat.said

    @property
    def tasks(self) -> Series[TaskRow]:
        return self.views.timeline.rows

    @property
    def turns(self) -> Sequence[TurnData]:
        return self.views.data.turns

    @property
    def exchanges(self) -> Exchanges:
        return self.views.exchanges

    @property
    def mock(self) -> MockView:
        return self.views.mock

    @property
    def live(self) -> LiveView:
        return self.views.live

    @property
    def waiting(self) -> Waiting:
        return self.views.waiting

    @property
    def last_task(self) -> TaskRow | None:
        """The newest task, whether it still runs or has ended."""
        return self.tasks[-1] if self.tasks else None

    @property
    def context_id(self) -> str | None:
        """The context that the user spoke in last; a turn that was refused has none."""
        spoken = (one.context_id for one in reversed(self.chat) if one.speaker == "you")
        return next((context_id for context_id in spoken if context_id), None)

    @property
    def offers(self) -> tuple[Offer, ...]:
        """The buttons of the agent's last message, until the user has spoken again."""
        return self.chat[-1].offers if self.chat else ()

    @property
    def running(self) -> tuple[Exchange, ...]:
        """What the user waits for."""
        return self.exchanges.running

    @property
    def slots(self) -> Mapping[str, Json]:
        """The slots that the agent last reported."""
        return {row.name: row.value for row in self.turns[-1].slots} if self.turns else {}

    @property
    def card_trouble(self) -> ChatMessage | None:
        """Why no card came at the last attempt, as a part of the conversation."""
        last = self.exchanges.newest
        if last is None or last.purpose is not Purpose.CARD:
            return None
        problem = problem_of(last)
        if problem is None:
            return None
        at_ms = last.request.at_ms + (last.total_ms or 0)
        return ChatMessage(last.request.seq, at_ms, last.id, "agent", "", problem=problem)

    # What is selected

    @property
    def exchange(self) -> Exchange | None:
        """The selected exchange, else the newest of the conversation and what is beside it."""
        if self.place is None:
            return self.exchanges.newest
        return find(self.exchanges, self.place.exchange)

    @property
    def turn_exchange(self) -> Exchange | None:
        """The exchange of the selected turn; of what came after a turn, that of this turn."""
        return next((one for one in self._up_to_selected() if one.purpose in TURNS), None)

    @property
    def task_exchange(self) -> Exchange | None:
        """The exchange whose task is selected; where it names none, the one before that does."""
        return next((one for one in self._up_to_selected() if one.progress.task_id), None)

    @property
    def turn(self) -> TurnData | None:
        """The data of the selected turn; None where it brought none.

        While the newest turn runs and nothing is selected, that of the turn before it stays.
        """
        data, exchange = self.views.data, self.exchange
        newest = self.turns[-1] if self.turns else None
        if self.place is None:
            spoken = self._spoken
            has_failed = spoken not in data.turn_of_exchange and spoken not in self._under_way
            return None if newest and has_failed and newest.exchange < spoken else newest
        found = data.turn_of_exchange.get(self.place.exchange)
        if found is None and exchange is not None and exchange.purpose not in TURNS:
            is_aside = exchange.purpose in ASIDE
            about = data.turn_of_task.get(exchange.task_id or "")
            found = data.turn_of_exchange.get(self._spoken) if is_aside else about
        return None if found is None else self.turns[found]

    @property
    def _under_way(self) -> Mapping[int, Exchange]:
        return self.views.chat.running

    @property
    def _spoken(self) -> int:
        """The exchange in which the user spoke last, up to what is selected; 0 for none."""
        most = None if self.place is None else self.place.exchange
        said = (one.exchange for one in reversed(self.chat) if one.speaker == "you")
        return next((one for one in said if most is None or one <= most), 0)

    def _up_to_selected(self) -> Iterator[Exchange]:
        """Yield the selected exchange and those before it, newest first."""
        return self.exchanges.up_to(None if self.place is None else self.place.exchange)

    def troubles(self) -> list[Trouble]:
        """Return all places where something is wrong, in the order of the log."""
        found = [
            Trouble(Place(update.exchange, update.seq), text)
            for row in self.tasks
            for update in row.updates
            if (text := _trouble(update))
        ]
        found += [
            Trouble(Place(exchange.id, exchange.request.seq), text)
            for exchange in self.exchanges
            if (text := _trouble_aside(exchange))
        ]
        return sorted(found, key=lambda trouble: trouble.place.seq)


def _trouble(update: Update) -> str:
    """Return what is wrong with `update`; "" where nothing is."""
    if update.kind == "error":
        return update.text
    return _first_odd(update.findings)


def _trouble_aside(exchange: Exchange) -> str:
    """Return what is wrong with an exchange that belongs to no task, such as that of the card."""
    if exchange.purpose not in ASIDE:
        return ""
    if exchange.failure is not None:
        return exchange.failure.message
    if (refusal := refusal_of(exchange)) is not None:
        return refusal.cause
    return _first_odd(exchange.findings)


def _first_odd(findings: Iterable[Finding]) -> str:
    return next((one.message for one in findings if one.severity is not Severity.HINT), "")


class Frames:
    """Entries folded as they come, drawn as often as drawing them allows.

    `ask` is called with the seconds until the next frame; slow frames come more rarely.
    """

    def __init__(self, ask: Callable[[float], object]) -> None:
        self._ask = ask
        self._views = log_views.EMPTY
        self._is_asked = False
        self._cost_seconds = 0.0
        self._entries = InOrder(lambda entry: log_views.step(self._views, entry), self._take)

    def take(self, entry: Entry) -> None:
        self._entries.put(entry)

    def close(self) -> None:
        """Fold nothing more."""
        self._entries.close()

    def draw(self, show: Callable[[Views], None]) -> None:
        """Show everything folded so far."""
        began = perf_counter()
        self._is_asked = False
        show(self._views)
        self._cost_seconds = perf_counter() - began

    async def catch_up(self, entries: Sequence[Entry]) -> None:
        """Take what a log holds, also what comes meanwhile; keys are answered in between."""
        taken = 0
        while taken < len(entries):
            chunk = entries[taken : taken + _CHUNK]
            for entry in chunk:
                self.take(entry)
            taken += len(chunk)
            await asyncio.sleep(0)
            await self._entries.settle()

    def _take(self, views: Views) -> None:
        self._views = views
        if not self._is_asked:
            self._is_asked = True
            self._ask(max(FRAME_SECONDS, 2 * self._cost_seconds))
