"""The places where something is wrong: errors and findings that are more than a hint."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from inspector.core.entries import ASIDE
from inspector.tui.board import Board
from inspector.tui.messages import Place
from inspector.views.exchanges import Exchange
from inspector.views.persistent import Series
from inspector.views.problems import refusal_of
from inspector.views.timeline import TaskRow, Update
from inspector.wire.findings import Severity


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
