"""The timeline: per task its states in order, with times, channels and findings."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from inspector.core.entries import (
    Channel,
    Failed,
    FrameReceived,
    Purpose,
    PushReceived,
    PushVerdict,
    ResponseEnded,
)
from inspector.views.excerpts import start_of
from inspector.views.persistent import Index, Series
from inspector.views.reads import STARTS_TASK, Asked, Began, Call, Ended, Pushed, Read, Received
from inspector.views.text import short_digest
from inspector.wire.dialect import TASK_KINDS, Dialect, Reply, Result, Sections, texts
from inspector.wire.endpoints import dialect_of
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import encode_json
from inspector.wire.states import is_resting, parse_state

# A gap is reported where an agent at work is silent for this long.
GAP_MS = 10_000.0


@dataclass(frozen=True, slots=True)
class Update:
    """One thing that was learnt of a task. `exchange` and `seq` name the entry it came from.

    `kind` is a ResultKind, the wire's own word where it is none, or error. `state` is None where
    the update carries none. `attempts` counts the
    polls with just this answer, the last of them at `last_ms`. Of a long `text` only the start is
    here: then `is_whole` is false.
    """

    exchange: int
    seq: int
    at_ms: float
    delta_ms: float
    channel: Channel
    kind: str
    state: str | None
    is_final: bool
    text: str
    findings: tuple[Finding, ...] = ()
    attempts: int = 1
    last_ms: float | None = None
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class LastPoll:
    """The newest update by polls: its place among the row's, and what stands for its content."""

    place: int
    digest: str


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A turn and its task; `task_id` is None until the agent has named one.

    `elapsed_ms` is None while the exchange that started it is under way. `channels` are those
    by which its updates came.
    """

    exchange: int
    task_id: str | None
    context_id: str | None
    message_id: str | None
    title: str
    started_ms: float
    updates: Series[Update]
    state: str | None
    elapsed_ms: float | None
    channels: frozenset[Channel] = frozenset()
    last_poll: LastPoll | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """`rows` in the order in which the tasks began; `row_of_call` those of exchanges under way.

    `strays` is the row of the notifications that name no task.
    """

    rows: Series[TaskRow] = field(default_factory=Series[TaskRow])
    row_of_task: Index[str, int] = field(default_factory=Index[str, int])
    row_of_call: Mapping[int, int] = field(default_factory=dict[int, int])
    strays: int | None = None


EMPTY = Timeline()


def step(view: Timeline, read: Read) -> Timeline:
    """Add what `read` reports to the row of its task."""
    if isinstance(read, Pushed):
        return _take_push(view, read)
    if read.call.is_aside:
        return view
    if isinstance(read, Asked):
        return _begin(view, read) if read.call.redirected_from is None else _go_on(view, read)
    place = view.row_of_call[read.entry.exchange]
    match read:
        case Began():
            return view
        case Received():
            return _receive(view, place, read)
        case Ended():
            return view if read.is_redirect else _close(view, place, read)
        case _ as never:
            assert_never(never)


# Turns, and what else is asked about their tasks


def _begin(view: Timeline, asked: Asked) -> Timeline:
    """A turn opens a row; a get, cancel or resubscribe goes on with that of its task."""
    call = asked.call
    starts = call.purpose in STARTS_TASK
    place = None if starts or call.task_id is None else view.row_of_task.get(call.task_id)
    if place is None:
        place = len(view.rows)
        view = replace(view, rows=view.rows.append(_new_row(asked)))
        if call.task_id is not None and not starts:
            view = replace(view, row_of_task=view.row_of_task.set(call.task_id, place))
    return replace(view, row_of_call={**view.row_of_call, call.exchange: place})


def _go_on(view: Timeline, asked: Asked) -> Timeline:
    """A redirect goes on with the row of the exchange that was redirected."""
    call = asked.call
    place = view.row_of_call.get(call.redirected_from or 0)
    if place is None:
        return _begin(view, asked)
    row = view.rows[place]
    if row.exchange == call.redirected_from:
        view = replace(view, rows=view.rows.set(place, replace(row, exchange=call.exchange)))
    others = {key: one for key, one in view.row_of_call.items() if key != call.redirected_from}
    return replace(view, row_of_call={**others, call.exchange: place})


def _new_row(asked: Asked) -> TaskRow:
    call = asked.call
    said = " ".join(texts(asked.ask.message.parts if asked.ask.message else ()))
    if call.purpose in STARTS_TASK:
        said = asked.raw_body or said
    return TaskRow(
        exchange=call.exchange,
        task_id=None if call.purpose in STARTS_TASK else call.task_id,
        context_id=call.context_id,
        message_id=call.message_id,
        title=said or f"{call.purpose} {call.task_id or ''}".rstrip(),
        started_ms=call.asked_ms,
        updates=Series(),
        state=None,
        elapsed_ms=None,
    )


def _receive(view: Timeline, place: int, received: Received) -> Timeline:
    if received.reply is None:
        return view
    update = _update_of(received.reply, received)
    if received.reply.problem and received.call.status is not None:
        update = replace(update, text=f"HTTP {received.call.status}: {received.reply.problem}")
    if received.result is not None:
        view = _learn(view, place, received.result, is_news=received.is_news)
    if update.channel is Channel.POLL:
        row = with_poll(view.rows[place], update, received.reply, received.call.dialect.sections)
        return replace(view, rows=view.rows.set(place, row))
    return _add_update(view, place, update, received.call.dialect)


def _update_of(reply: Reply, received: Received) -> Update:
    frame = received.entry
    if received.result is not None:
        return _told(frame, frame.channel, received.result, received.findings)
    error = reply.error.text if reply.error else reply.problem
    return _error(frame, frame.channel, error, received.findings)


def _told(
    entry: FrameReceived | PushReceived,
    channel: Channel,
    result: Result,
    findings: tuple[Finding, ...],
) -> Update:
    parts = result.parts or tuple(part for one in result.artifacts for part in one.parts)
    text, is_whole = start_of(texts(parts), "\n")
    return Update(
        exchange=entry.exchange,
        seq=entry.seq,
        at_ms=entry.at_ms,
        delta_ms=0,
        channel=channel,
        kind=result.kind,
        state=result.state,
        is_final=result.is_final,
        text=text,
        findings=findings,
        is_whole=is_whole,
    )


def _learn(view: Timeline, place: int, result: Result, *, is_news: bool) -> Timeline:
    """Take the ids that a result names into its row, and the state where it is news."""
    row = view.rows[place]
    row = replace(
        row,
        task_id=row.task_id or result.task_id,
        context_id=row.context_id or result.context_id,
        state=(result.state if is_news else None) or row.state,
    )
    view = replace(view, rows=view.rows.set(place, row))
    if row.task_id is not None and view.row_of_task.get(row.task_id) != place:
        view = replace(view, row_of_task=view.row_of_task.set(row.task_id, place))
    return view


def _close(view: Timeline, place: int, ended: Ended) -> Timeline:
    """The exchange is over: what is missing becomes an update, and its row gets its time.

    Where nothing is, what is odd about the end stands with the last update.
    """
    entry, call = ended.entry, ended.call
    if text := _missing(ended):
        error = _error(entry, _channel(call), text, ended.findings)
        view = _add_update(view, place, error, call.dialect)
    row = view.rows[place]
    if not text and ended.findings:
        row = _remark(row, ended)
        view = replace(view, rows=view.rows.set(place, row))
    if row.exchange == entry.exchange:
        row = replace(row, elapsed_ms=entry.at_ms - row.started_ms)
        view = replace(view, rows=view.rows.set(place, row))
    others = {key: one for key, one in view.row_of_call.items() if key != entry.exchange}
    return replace(view, row_of_call=others)


def _missing(ended: Ended) -> str:
    """What the exchange lacks at its end; "" where it is complete."""
    if isinstance(ended.entry, Failed):
        return f"{ended.entry.kind}: {ended.entry.message}"
    if not ended.call.has_reply:
        return f"HTTP {ended.call.status} without a reply"
    errors = (one for one in ended.findings if one.severity is Severity.ERROR)
    return next((one.message for one in errors), "")


def _remark(row: TaskRow, ended: Ended) -> TaskRow:
    """`row` with the findings of the end at the last update of its exchange."""
    for index in reversed(range(len(row.updates))):
        if (update := row.updates[index]).exchange == ended.entry.exchange:
            update = replace(update, findings=(*update.findings, *ended.findings))
            return replace(row, updates=row.updates.set(index, update))
    return row


def _channel(call: Call) -> Channel:
    if call.is_stream:
        return Channel.SSE
    return Channel.POLL if call.purpose is Purpose.POLL else Channel.RESPONSE


def _error(
    entry: FrameReceived | ResponseEnded | Failed | PushReceived,
    channel: Channel,
    text: str,
    findings: tuple[Finding, ...] = (),
) -> Update:
    text, is_whole = start_of((text,))
    return Update(
        exchange=entry.exchange,
        seq=entry.seq,
        at_ms=entry.at_ms,
        delta_ms=0,
        channel=channel,
        kind="error",
        state=None,
        is_final=False,
        text=text,
        findings=findings,
        is_whole=is_whole,
    )


# Notifications


def _take_push(view: Timeline, pushed: Pushed) -> Timeline:
    """A notification goes to the row of its task; one of no task here gets a row of its own."""
    entry, result, dialect = pushed.entry, pushed.result, dialect_of(pushed.entry.endpoint)
    task_id = result.task_id if result is not None else None
    place = view.strays if task_id is None else view.row_of_task.get(task_id)
    if place is None and pushed.turn is not None:
        place = view.row_of_call.get(pushed.turn)
    if place is None:
        place = len(view.rows)
        view = _with_row(view, place, task_id, entry)
    if entry.verdict is not PushVerdict.ACCEPTED or result is None:
        state = f" ({result.state})" if result is not None and result.state else ""
        text = f"{entry.verdict} notification{state}"
        return _add_update(view, place, _error(entry, Channel.PUSH, text, pushed.findings), dialect)
    view = _learn(view, place, result, is_news=pushed.is_news)
    return _add_update(view, place, _told(entry, Channel.PUSH, result, pushed.findings), dialect)


def _with_row(view: Timeline, place: int, task_id: str | None, entry: PushReceived) -> Timeline:
    row = TaskRow(
        exchange=entry.exchange,
        task_id=task_id,
        context_id=None,
        message_id=None,
        title="notifications of no task" if task_id is None else f"push {task_id}",
        started_ms=entry.at_ms,
        updates=Series(),
        state=None,
        elapsed_ms=0.0,
    )
    view = replace(view, rows=view.rows.append(row))
    if task_id is None:
        return replace(view, strays=place)
    return replace(view, row_of_task=view.row_of_task.set(task_id, place))


def _add_update(view: Timeline, place: int, update: Update, dialect: Dialect) -> Timeline:
    row = with_update(view.rows[place], update, dialect.sections)
    return replace(view, rows=view.rows.set(place, row))


def with_poll(row: TaskRow, update: Update, reply: Reply, sections: Sections) -> TaskRow:
    """A poll with the answer of the one before counts as another attempt."""
    content = reply.envelope
    if isinstance(content, dict):
        content = {key: value for key, value in content.items() if key != "id"}
    digest = short_digest(encode_json(content))
    last = row.last_poll
    if last is not None and last.digest == digest and not update.findings:
        before = row.updates[last.place]
        again = replace(before, attempts=before.attempts + 1, last_ms=update.at_ms)
        return replace(row, updates=row.updates.set(last.place, again))
    row = replace(row, last_poll=LastPoll(len(row.updates), digest))
    return with_update(row, update, sections)


def with_update(row: TaskRow, update: Update, sections: Sections) -> TaskRow:
    """The update at the end of the row, with the time since the one before."""
    before = row.updates[-1] if row.updates else None
    since_ms = row.started_ms if before is None else before.last_ms or before.at_ms
    update = replace(update, delta_ms=update.at_ms - since_ms)
    if _is_gap(before, update):
        text = f"a gap: nothing was heard of the task for {update.delta_ms / 1000:.1f} s"
        finding = Finding(Severity.HINT, sections.stream, "$", text)
        update = replace(update, findings=(*update.findings, finding))
    return replace(
        row,
        updates=row.updates.append(update),
        channels=row.channels
        if update.channel in row.channels
        else row.channels | {update.channel},
    )


def _is_gap(before: Update | None, update: Update) -> bool:
    """Say whether the agent was silent for long though it was its turn."""
    if before is None or update.delta_ms < GAP_MS or not {before.kind, update.kind} <= TASK_KINDS:
        return False
    return before.state is None or not is_resting(parse_state(before.state))
