"""What of the views a filter lets through, kept up to date at the cost of what has changed.

A filter costs all entries once. After that each entry is asked about when it comes, and what
stands is passed over: the views share what has not changed, and so do these.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from inspector.views.exchanges import Exchange, Exchanges, find
from inspector.views.filters import Filter
from inspector.views.matching import find_in_bytes, is_match, is_update
from inspector.views.series import Series
from inspector.views.task_rows import TaskRow, Update
from inspector.views.timeline import Timeline

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Chosen(Generic[T]):
    """Some items of a sequence, in its order: `items[i]` stands there at `places[i]`."""

    places: Series[int]
    items: Series[T]

    def with_edits(self, edits: Mapping[int, T | None]) -> "Chosen[T]":
        """These with the items of `edits` in their places; None takes out what stands there."""
        places, items = self.places, self.items
        for place in sorted(edits):
            item = edits[place]
            index = bisect_left(places, place)
            is_known = index < len(places) and places[index] == place
            if is_known and item is not None:
                items = items.set(index, item)
            elif item is not None and index == len(places):
                places, items = places.append(place), items.append(item)
            elif is_known or item is not None:
                rest = {one: edits[one] for one in edits if one >= place}
                return Chosen(places, items)._spliced(index, rest)
        return Chosen(places, items)

    def _spliced(self, index: int, edits: Mapping[int, T | None]) -> "Chosen[T]":
        """These with all from `index` on written again."""
        tail: dict[int, T | None] = dict(zip(self.places[index:], self.items[index:], strict=True))
        tail |= edits
        places, items = self.places.cut(index), self.items.cut(index)
        for place in sorted(tail):
            if (item := tail[place]) is not None:
                places, items = places.append(place), items.append(item)
        return Chosen(places, items)


@dataclass(frozen=True, slots=True)
class FilteredExchanges:
    """`found[i]` says which terms on bytes hold for the exchange at place i of `seen`."""

    filter: Filter
    seen: Series[Exchange]
    found: Series[int]
    chosen: Chosen[Exchange]

    @property
    def items(self) -> Series[Exchange]:
        return self.chosen.items


def filter_exchanges(
    before: FilteredExchanges | None, filter_: Filter, view: Exchanges
) -> FilteredExchanges:
    """The exchanges for which `filter_` holds; `before` is what it gave for an earlier view."""
    if before is None or before.filter != filter_:
        before = FilteredExchanges(filter_, Series(), Series(), Chosen(Series(), Series()))
    found = before.found
    edits: dict[int, Exchange | None] = {}
    for place in view.rows.changes(before.seen):
        exchange = view.rows[place]
        is_known = place < len(before.seen)
        earlier = before.seen[place] if is_known else None
        bits = find_in_bytes(filter_, exchange, earlier, found[place] if is_known else 0)
        found = found.set(place, bits) if is_known else found.append(bits)
        edits[place] = exchange if is_match(filter_, exchange, bits) else None
    return FilteredExchanges(filter_, view.rows, found, before.chosen.with_edits(edits))


@dataclass(frozen=True, slots=True)
class FilteredRow:
    """A row with those of its updates that are let through."""

    seen: TaskRow
    updates: Chosen[Update]

    @property
    def shown(self) -> TaskRow | None:
        """The row as it is to be drawn; None where nothing of it is let through."""
        if not self.updates.items:
            return None
        return replace(self.seen, updates=self.updates.items)


@dataclass(frozen=True, slots=True)
class FilteredTimeline:
    filter: Filter
    seen: Series[TaskRow]
    rows: Series[FilteredRow]
    chosen: Chosen[TaskRow]

    @property
    def items(self) -> Series[TaskRow]:
        return self.chosen.items


def filter_timeline(
    before: FilteredTimeline | None, filter_: Filter, view: Timeline, exchanges: Exchanges
) -> FilteredTimeline:
    """The rows with the updates for which `filter_` holds; a row may also hold by itself."""
    if before is None or before.filter != filter_:
        before = FilteredTimeline(filter_, Series(), Series(), Chosen(Series(), Series()))
    rows = before.rows
    edits: dict[int, TaskRow | None] = {}
    for place in view.rows.changes(before.seen):
        row = view.rows[place]
        is_known = place < len(rows)
        filtered = _filter_row(rows[place] if is_known else None, filter_, row, exchanges)
        rows = rows.set(place, filtered) if is_known else rows.append(filtered)
        shown = filtered.shown
        if shown is None and is_update(filter_, row, None, find(exchanges, row.exchange)):
            shown = replace(row, updates=Series())
        edits[place] = shown
    return FilteredTimeline(filter_, view.rows, rows, before.chosen.with_edits(edits))


def _filter_row(
    before: FilteredRow | None, filter_: Filter, row: TaskRow, exchanges: Exchanges
) -> FilteredRow:
    if before is None or _told_by_row(before.seen) != _told_by_row(row):
        before = FilteredRow(replace(row, updates=Series()), Chosen(Series(), Series()))
    edits: dict[int, Update | None] = {}
    for place in row.updates.changes(before.seen.updates):
        update = row.updates[place]
        holds = is_update(filter_, row, update, find(exchanges, update.exchange))
        edits[place] = update if holds else None
    return FilteredRow(row, before.updates.with_edits(edits))


def _told_by_row(row: TaskRow) -> tuple[str | None, str | None, str, bool]:
    """What all updates of a row are asked for alike."""
    return row.task_id, row.context_id, row.title, row.elapsed_ms is None
