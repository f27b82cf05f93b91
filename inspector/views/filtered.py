"""What of the views a filter lets through, kept up to date at the cost of what has changed.

A filter costs all entries once. After that each entry is asked about when it comes, and what
stands is passed over: the views share what has not changed, and so do these.
"""

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar, assert_never

from inspector.core.entries import Channel, FrameReceived, Purpose, PushReceived, RequestSent
from inspector.views.exchanges import Exchange, Exchanges, find
from inspector.views.filters import (
    FieldTerm,
    Filter,
    FilterField,
    PathTerm,
    Term,
    TextTerm,
    may_hold,
    values_at,
)
from inspector.views.persistent import Series
from inspector.views.timeline import TaskRow, Timeline, Update
from inspector.wire.findings import Finding
from inspector.wire.json_values import Json, parse_json
from inspector.wire.sse import parse_event
from inspector.wire.states import parse_state

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


_LANES = {Purpose.POLL: Channel.POLL, Purpose.STREAM: Channel.SSE, Purpose.RESUBSCRIBE: Channel.SSE}


# Exchanges


def find_in_bytes(filter_: Filter, exchange: Exchange, before: Exchange | None, found: int) -> int:
    """The terms on bytes that hold for `exchange`, as a set of bits.

    Those of `before`, an earlier state of it, are `found`; only what came since is searched.
    """
    for place, term in filter_.byte_terms:
        bit = 1 << place
        if not found & bit and _is_in_exchange(term, exchange, before):
            found |= bit
    return found


def _is_in_exchange(term: PathTerm | TextTerm, exchange: Exchange, before: Exchange | None) -> bool:
    if before is None and is_in_request(term, exchange.request):
        return True
    fresh = range(0 if before is None else len(before.frames), len(exchange.frames))
    if any(is_in_frame(term, exchange.frames[index]) for index in fresh):
        return True
    return isinstance(term, TextTerm) and is_in_outcome(term, exchange)


def is_match(filter_: Filter, exchange: Exchange, found: int) -> bool:
    """Say whether every term holds, those on bytes as `found` says."""
    fields = _Fields(
        state=exchange.progress.state,
        task_id=exchange.task_id,
        context_id=exchange.context_id,
        method=_method(exchange),
        lane=_lane(exchange),
        findings=exchange.findings,
        is_status=partial(_is_status, exchange),
    )

    def is_true(place: int, term: Term) -> bool:
        return fields.hold(term) if isinstance(term, FieldTerm) else bool(found & (1 << place))

    return filter_.holds(is_true)


@dataclass(frozen=True, slots=True)
class _Fields:
    """What an exchange or an update is asked for by a FieldTerm."""

    state: str | None
    task_id: str | None
    context_id: str | None
    method: str
    lane: str
    findings: Iterable[Finding]
    is_status: Callable[[str], bool]

    def hold(self, term: FieldTerm) -> bool:
        return any(self._is(term.field, value) for value in term.values)

    def _is(self, field: FilterField, value: str) -> bool:
        match field:
            case FilterField.STATE:
                return _is_state(self.state, value)
            case FilterField.TASK:
                return _begins(self.task_id, value)
            case FilterField.CONTEXT:
                return _begins(self.context_id, value)
            case FilterField.STATUS:
                return self.is_status(value)
            case FilterField.METHOD:
                return value in self.method
            case FilterField.LANE:
                return self.lane.startswith(value)
            case FilterField.FINDING:
                return any(
                    one.severity.startswith(value) or value in one.message.lower()
                    for one in self.findings
                )
            case _ as never:
                assert_never(never)


def _is_status(exchange: Exchange, value: str) -> bool:
    match value:
        case "err" | "error":
            return exchange.is_failed
        case "ok":
            return not exchange.is_failed and not exchange.is_running
        case "open":
            return exchange.is_running
        case _:
            push = exchange.push
            status = exchange.response.status if exchange.response is not None else None
            return str(status if push is None else push.status).startswith(value)


def _method(exchange: Exchange) -> str:
    return f"{exchange.rpc_method or ''} {exchange.purpose or 'push'}".lower()


def _lane(exchange: Exchange) -> str:
    if exchange.push is not None:
        return Channel.PUSH
    purpose = exchange.purpose
    return Channel.RESPONSE if purpose is None else _LANES.get(purpose, Channel.RESPONSE)


# Updates


def is_update(
    filter_: Filter, row: TaskRow, update: Update | None, exchange: Exchange | None
) -> bool:
    """Say whether every term holds for an update of `row`; None asks for the row by itself.

    `exchange` is the one that brought the update, or began the row.
    """

    fields = _Fields(
        state=update.state if update is not None else None,
        task_id=row.task_id,
        context_id=row.context_id,
        method=_method(exchange) if exchange is not None else "",
        lane=update.channel if update is not None else "",
        findings=update.findings if update is not None else (),
        is_status=partial(_is_outcome, row, update, exchange),
    )

    def is_true(_: int, term: Term) -> bool:
        match term:
            case FieldTerm():
                return fields.hold(term)
            case TextTerm(text):
                return text in _words(row, update) or _is_in_rest(term, exchange, update)
            case PathTerm():
                return exchange is not None and _is_in_entry(term, exchange, update)
            case _ as never:
                assert_never(never)

    return filter_.holds(is_true)


def _is_outcome(row: TaskRow, update: Update | None, exchange: Exchange | None, value: str) -> bool:
    match value:
        case "err" | "error":
            return update is not None and update.kind == "error"
        case "ok":
            return update is not None and update.kind != "error"
        case "open":
            return row.elapsed_ms is None
        case _:
            if exchange is None or update is None:
                return False
            return _is_status(exchange, value)


def _words(row: TaskRow, update: Update | None) -> str:
    if update is None:
        return row.title.lower()
    said = [row.title, update.kind, update.state or "", update.text]
    return "\n".join([*said, *(finding.message for finding in update.findings)]).lower()


def _is_in_rest(term: TextTerm, exchange: Exchange | None, update: Update | None) -> bool:
    """Whether the text stands in what the update keeps only in its bytes."""
    if exchange is None or update is None or update.is_whole:
        return False
    if exchange.push is not None:
        return _is_in_raw(term, exchange.push.body)
    frame = frame_at(exchange, update.seq)
    return frame is not None and _is_in_raw(term, frame.raw)


def _is_in_entry(term: PathTerm, exchange: Exchange, update: Update | None) -> bool:
    """Whether the path leads somewhere in the bytes that the update was read from."""
    if update is None:
        return is_in_json(term, exchange.request.body)
    if exchange.push is not None:
        return is_in_json(term, exchange.push.body)
    frame = frame_at(exchange, update.seq)
    return frame is not None and is_in_frame(term, frame)


def frame_at(exchange: Exchange, seq: int) -> FrameReceived | None:
    """The frame with this seq; frames stand in the order of theirs."""
    place = bisect_left(exchange.frames, seq, key=lambda frame: frame.seq)
    found = exchange.frames[place : place + 1]
    return found[0] if found and found[0].seq == seq else None


# What both are asked for


def _is_state(state: str | None, value: str) -> bool:
    known = parse_state(value)
    if state is None or known is None:
        return state is not None and state.lower().startswith(value)
    return parse_state(state) == known


def _begins(id_: str | None, value: str) -> bool:
    return id_ is not None and id_.lower().startswith(value)


def is_in_request(term: PathTerm | TextTerm, request: RequestSent | PushReceived) -> bool:
    if isinstance(term, PathTerm):
        return is_in_json(term, request.body)
    headers = "\n".join(f"{name}: {value}" for name, value in request.headers)
    head = f"{request.method} {request.url}\n{headers}".lower()
    return term.text in head or _is_in_raw(term, request.body)


def is_in_frame(term: PathTerm | TextTerm, frame: FrameReceived) -> bool:
    if isinstance(term, TextTerm):
        return _is_in_raw(term, frame.raw)
    if not may_hold(frame.raw, term.path):
        return False
    body = frame.raw
    if frame.channel is Channel.SSE:
        body = parse_event(frame.raw).data or b""
    return is_in_json(term, body)


def is_in_outcome(term: TextTerm, exchange: Exchange) -> bool:
    response, failure = exchange.response, exchange.failure
    headers = response.headers if response is not None else ()
    words = [f"{name}: {value}" for name, value in headers]
    words += [failure.message] if failure is not None else []
    return term.text in "\n".join(words).lower()


def _is_in_raw(term: TextTerm, raw: bytes) -> bool:
    lower = raw.lower()
    escaped = json.dumps(term.text)[1:-1]
    return term.text.encode(errors="replace") in lower or escaped.encode() in lower


def is_in_json(term: PathTerm, raw: bytes) -> bool:
    if not may_hold(raw, term.path):
        return False
    found = values_at(parse_json(raw).value, term.path)
    return any(_is_value(term, value) for value in found)


def _is_value(term: PathTerm, value: Json) -> bool:
    if not term.sign:
        return value is not None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text == term.value if term.sign == "=" else term.value.lower() in text.lower()
