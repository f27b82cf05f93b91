"""Whether an exchange or an update is what a filter asks for.

Fields are told by what the views know. Bytes are searched one entry at a time, and nothing of that
is kept.
"""

from collections.abc import Iterable
from typing import assert_never

from inspector.core.entries import Channel, FrameReceived, Purpose
from inspector.views.byte_terms import is_in_frame, is_in_json, is_in_outcome, is_in_request
from inspector.views.exchanges import Exchange
from inspector.views.filters import Field, FieldTerm, Filter, PathTerm, Term, TextTerm
from inspector.views.task_rows import TaskRow, Update
from inspector.wire.findings import Finding
from inspector.wire.states import parse_state

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

    def is_true(place: int, term: Term) -> bool:
        if isinstance(term, FieldTerm):
            return any(_has(exchange, term.field, value) for value in term.values)
        return bool(found & (1 << place))

    return filter_.holds(is_true)


def _has(exchange: Exchange, field: Field, value: str) -> bool:
    match field:
        case Field.STATE:
            return _is_state(exchange.progress.state, value)
        case Field.TASK:
            return _begins(exchange.task_id, value)
        case Field.CONTEXT:
            return _begins(exchange.context_id, value)
        case Field.STATUS:
            return _is_status(exchange, value)
        case Field.METHOD:
            return value in _method(exchange)
        case Field.LANE:
            return _lane(exchange).startswith(value)
        case Field.FINDING:
            return _is_found(exchange.findings, value)
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

    def is_true(_: int, term: Term) -> bool:
        match term:
            case FieldTerm(field, values):
                return any(_tells(row, update, exchange, field, value) for value in values)
            case TextTerm(text):
                return text in _words(row, update)
            case PathTerm():
                return exchange is not None and _is_in_entry(term, exchange, update)
            case _ as never:
                assert_never(never)

    return filter_.holds(is_true)


def _tells(
    row: TaskRow, update: Update | None, exchange: Exchange | None, field: Field, value: str
) -> bool:
    match field:
        case Field.STATE:
            return update is not None and _is_state(update.state, value)
        case Field.TASK:
            return _begins(row.task_id, value)
        case Field.CONTEXT:
            return _begins(row.context_id, value)
        case Field.STATUS:
            return _is_outcome(row, update, exchange, value)
        case Field.METHOD:
            return exchange is not None and value in _method(exchange)
        case Field.LANE:
            return update is not None and update.channel.startswith(value)
        case Field.FINDING:
            return update is not None and _is_found(update.findings, value)
        case _ as never:
            assert_never(never)


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
    low, high = 0, len(exchange.frames)
    while low < high:
        middle = (low + high) // 2
        if exchange.frames[middle].seq < seq:
            low = middle + 1
        else:
            high = middle
    if low < len(exchange.frames) and exchange.frames[low].seq == seq:
        return exchange.frames[low]
    return None


# What both are asked for


def _is_state(state: str | None, value: str) -> bool:
    known = parse_state(value)
    if state is None or known is None:
        return state is not None and state.lower().startswith(value)
    return parse_state(state) == known


def _begins(id_: str | None, value: str) -> bool:
    return id_ is not None and id_.lower().startswith(value)


def _is_found(findings: Iterable[Finding], value: str) -> bool:
    return any(one.severity.startswith(value) or value in one.message.lower() for one in findings)
