"""Whether an exchange or an update is what a filter asks for.

Fields are told by what the views know. Bytes are searched one entry at a time, parsed only where
they could hold what is sought, and nothing of that is kept.
"""

import json
from collections.abc import Iterable
from typing import assert_never

from inspector.core.entries import Channel, FrameReceived, Purpose, PushReceived, RequestSent
from inspector.views.exchanges import Exchange
from inspector.views.filters import Field, FieldTerm, Filter, PathTerm, Term, TextTerm
from inspector.views.json_paths import may_hold, values_at
from inspector.views.timeline import TaskRow, Update
from inspector.wire.findings import Finding
from inspector.wire.sse import parse_event
from inspector.wire.states import parse_state
from inspector.wire.tree import Json, parse_json

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
    if before is None and _is_in_request(term, exchange.request):
        return True
    fresh = range(0 if before is None else len(before.frames), len(exchange.frames))
    if any(_is_in_frame(term, exchange.frames[index]) for index in fresh):
        return True
    return isinstance(term, TextTerm) and _is_in_outcome(term, exchange)


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
        return _is_in_json(term, exchange.request.body)
    if exchange.push is not None:
        return _is_in_json(term, exchange.push.body)
    frame = frame_at(exchange, update.seq)
    return frame is not None and _is_in_frame(term, frame)


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


# Bytes


def _is_in_request(term: PathTerm | TextTerm, request: RequestSent | PushReceived) -> bool:
    if isinstance(term, PathTerm):
        return _is_in_json(term, request.body)
    headers = "\n".join(f"{name}: {value}" for name, value in request.headers)
    head = f"{request.method} {request.url}\n{headers}".lower()
    return term.text in head or _is_in_raw(term, request.body)


def _is_in_frame(term: PathTerm | TextTerm, frame: FrameReceived) -> bool:
    if isinstance(term, TextTerm):
        return _is_in_raw(term, frame.raw)
    if not may_hold(frame.raw, term.path):
        return False
    body = frame.raw
    if frame.channel is Channel.SSE:
        body = parse_event(frame.raw).data or b""
    return _is_in_json(term, body)


def _is_in_outcome(term: TextTerm, exchange: Exchange) -> bool:
    response, failure = exchange.response, exchange.failure
    headers = response.headers if response is not None else ()
    words = [f"{name}: {value}" for name, value in headers]
    words += [failure.message] if failure is not None else []
    return term.text in "\n".join(words).lower()


def _is_in_raw(term: TextTerm, raw: bytes) -> bool:
    lower = raw.lower()
    escaped = json.dumps(term.text)[1:-1]
    return term.text.encode(errors="replace") in lower or escaped.encode() in lower


def _is_in_json(term: PathTerm, raw: bytes) -> bool:
    if not may_hold(raw, term.path):
        return False
    found = values_at(parse_json(raw).value, term.path)
    return any(_is_value(term, value) for value in found)


def _is_value(term: PathTerm, value: Json) -> bool:
    if not term.sign:
        return value is not None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text == term.value if term.sign == "=" else term.value.lower() in text.lower()
