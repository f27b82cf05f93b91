"""Everything the screen draws, as one value; the panels get their share of it."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspector.core.entries import Purpose
from inspector.tui.messages import Place
from inspector.views import data, live, mock, reading, timeline
from inspector.views import exchanges as wire
from inspector.views.card import CardView
from inspector.views.chat import Offer, Said
from inspector.views.data import DataView, TurnData
from inspector.views.exchanges import Exchange, Exchanges
from inspector.views.live import LiveView
from inspector.views.mock import MockView
from inspector.views.persistent import Series
from inspector.views.problems import problem_of
from inspector.views.reading import Readings
from inspector.views.timeline import TaskRow, Timeline
from inspector.wire.json_values import Json


@dataclass(frozen=True, slots=True)
class Board:
    """The folds of one log."""

    card: CardView | None = None
    chat: Sequence[Said] = ()
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
    def trouble(self) -> Said | None:
        """Why no card came at the last attempt, told as part of the conversation."""
        last = self.exchanges[-1] if self.exchanges else None
        if last is None or last.purpose is not Purpose.CARD:
            return None
        problem = problem_of(last)
        if problem is None:
            return None
        lines = [problem.what, *(f"{name}: {text}" for name, text in problem.details)]
        at_ms = last.request.at_ms + (last.total_ms or 0)
        return Said(last.request.seq, at_ms, last.id, "agent", "", problem="\n".join(lines))

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
