"""What of a board passes a filter, brought up to date at the cost of what has changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from inspector.tui.board import Board
from inspector.views.chat import Said
from inspector.views.exchanges import Exchange
from inspector.views.filtered import (
    FilteredExchanges,
    FilteredTimeline,
    filter_exchanges,
    filter_timeline,
)
from inspector.views.filters import NO_FILTER, Filter
from inspector.views.persistent import Series
from inspector.views.timeline import TaskRow


@dataclass(frozen=True, slots=True)
class FilteredBoard:
    """What the panels show. `counts` are how many of how many, by panel; empty: all pass."""

    chat: Sequence[Said] = ()
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
