"""The timeline: per task its states in order, with times, channels and what was odd."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from inspector.core.entries import (
    ASIDE,
    Channel,
    Entry,
    Failed,
    FrameReceived,
    Purpose,
    PushReceived,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.views.exchanges import STREAMS, begin_progress, check_frame, reply_of
from inspector.views.series import Series
from inspector.wire.findings import Finding
from inspector.wire.jsonrpc import Reply, read_request
from inspector.wire.progress import Progress, check_end
from inspector.wire.results import Result, read_result, texts
from inspector.wire.states import parse_state
from inspector.wire.tree import Json, list_at, text_at

STARTS_TASK = frozenset({Purpose.SEND, Purpose.STREAM})


@dataclass(frozen=True, slots=True)
class Update:
    """One thing that was learnt of a task. `seq` names the entry it came from.

    `kind` is the wire's: task, status-update, artifact-update, message; or error.
    `state` is the wire's spelling, None where the update carries none.
    """

    seq: int
    at_ms: float
    delta_ms: float
    channel: Channel
    kind: str
    state: str | None
    is_final: bool
    text: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A turn and its task; `task_id` is None until the agent has named one.

    `elapsed_ms` is None while the exchange that started it is under way.
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


@dataclass(frozen=True, slots=True)
class Following:
    """An exchange under way: the row it writes to, and how far it has come."""

    request: RequestSent
    row: int
    progress: Progress
    status: int | None = None
    has_reply: bool = False


@dataclass(frozen=True, slots=True)
class Timeline:
    """`rows` in the order in which the tasks began; `following` holds the exchanges under way."""

    rows: Series[TaskRow] = field(default_factory=Series[TaskRow])
    row_of_task: Mapping[str, int] = field(default_factory=dict[str, int])
    following: Mapping[int, Following] = field(default_factory=dict[int, Following])


EMPTY = Timeline()


def step(view: Timeline, entry: Entry) -> Timeline:
    """Add what `entry` tells to the row of its task."""
    if isinstance(entry, RequestSent):
        return view if entry.purpose in ASIDE else _begin(view, entry)
    following = view.following.get(entry.exchange)
    if following is None or isinstance(entry, PushReceived):
        return view
    match entry:
        case ResponseStarted():
            return _follow(view, replace(following, status=entry.status))
        case FrameReceived():
            return _add_frame(view, following, entry)
        case ResponseEnded():
            return _close(_check_end(view, following, entry), following, entry)
        case Failed():
            text = f"{entry.kind}: {entry.message}"
            return _close(_add_error(view, following, entry, text), following, entry)
        case _ as never:
            assert_never(never)


def _begin(view: Timeline, request: RequestSent) -> Timeline:
    """A turn opens a row; a get, cancel or resubscribe goes on with that of its task."""
    params = read_request(request.body).params
    task_id = text_at(params, "id")
    known = view.row_of_task.get(task_id or "")
    if request.purpose not in STARTS_TASK and known is not None:
        row = view.rows[known]
        state = parse_state(row.state) if row.state else None
        progress = replace(begin_progress(request), task_id=row.task_id, state=state)
        return _follow(view, Following(request, known, progress))
    place = len(view.rows)
    view = replace(view, rows=view.rows.append(_new_row(request, params, task_id)))
    if task_id is not None:
        view = replace(view, row_of_task={**view.row_of_task, task_id: place})
    return _follow(view, Following(request, place, begin_progress(request)))


def _new_row(request: RequestSent, params: dict[str, Json], task_id: str | None) -> TaskRow:
    asked = " ".join(texts(tuple(list_at(params, "message", "parts"))))
    return TaskRow(
        exchange=request.exchange,
        task_id=task_id,
        context_id=text_at(params, "message", "contextId"),
        message_id=text_at(params, "message", "messageId"),
        title=asked or f"{request.purpose} {task_id or ''}".rstrip(),
        started_ms=request.at_ms,
        updates=Series(),
        state=None,
        elapsed_ms=None,
    )


def _follow(view: Timeline, following: Following) -> Timeline:
    exchange = following.request.exchange
    return replace(view, following={**view.following, exchange: following})


def _add_frame(view: Timeline, following: Following, frame: FrameReceived) -> Timeline:
    reply = reply_of(frame)
    if reply is None:
        return view
    progress, findings = check_frame(following.request, following.progress, frame)
    update = _update_of(reply, frame, findings)
    if reply.problem and following.status is not None:
        update = replace(update, text=f"HTTP {following.status}: {reply.problem}")
    view = _add_update(view, following.row, update)
    if not reply.problem and reply.error is None:
        view = _learn(view, following.row, read_result(reply.result))
    return _follow(view, replace(following, progress=progress, has_reply=True))


def _update_of(reply: Reply, frame: FrameReceived, findings: tuple[Finding, ...]) -> Update:
    error = reply.problem
    if reply.error is not None:
        error = f"{reply.error.code} {reply.error.message}"
    if error:
        return _error(frame, frame.channel, error, findings)
    result = read_result(reply.result)
    parts = result.parts or tuple(part for one in result.artifacts for part in one.parts)
    return Update(
        seq=frame.seq,
        at_ms=frame.at_ms,
        delta_ms=0,
        channel=frame.channel,
        kind=result.kind,
        state=result.state,
        is_final=result.is_final,
        text="\n".join(texts(parts)),
        findings=findings,
    )


def _learn(view: Timeline, place: int, result: Result) -> Timeline:
    """Take the ids and the state that a result names into its row."""
    row = view.rows[place]
    row = replace(
        row,
        task_id=row.task_id or result.task_id,
        context_id=row.context_id or result.context_id,
        state=result.state or row.state,
    )
    view = replace(view, rows=view.rows.set(place, row))
    if row.task_id is not None and view.row_of_task.get(row.task_id) != place:
        view = replace(view, row_of_task={**view.row_of_task, row.task_id: place})
    return view


def _add_update(view: Timeline, place: int, update: Update) -> Timeline:
    row = view.rows[place]
    before_ms = row.updates[-1].at_ms if row.updates else row.started_ms
    update = replace(update, delta_ms=update.at_ms - before_ms)
    row = replace(row, updates=row.updates.append(update))
    return replace(view, rows=view.rows.set(place, row))


def _check_end(view: Timeline, following: Following, ended: ResponseEnded) -> Timeline:
    """What is missing at the end of a reply becomes an update of its own."""
    if following.request.purpose in STREAMS and following.has_reply:
        findings = check_end(following.progress)
        if findings:
            error = _error(ended, Channel.SSE, findings[0].message, findings)
            return _add_update(view, following.row, error)
    elif not following.has_reply:
        return _add_error(view, following, ended, f"HTTP {following.status} without a reply")
    return view


def _add_error(
    view: Timeline, following: Following, entry: ResponseEnded | Failed, text: str
) -> Timeline:
    is_stream = following.request.purpose in STREAMS
    channel = Channel.SSE if is_stream else Channel.RESPONSE
    return _add_update(view, following.row, _error(entry, channel, text))


def _error(
    entry: FrameReceived | ResponseEnded | Failed,
    channel: Channel,
    text: str,
    findings: tuple[Finding, ...] = (),
) -> Update:
    return Update(entry.seq, entry.at_ms, 0, channel, "error", None, False, text, findings)


def _close(view: Timeline, following: Following, entry: ResponseEnded | Failed) -> Timeline:
    """The exchange is over; the row it began gets its time."""
    row = view.rows[following.row]
    if row.exchange == entry.exchange:
        row = replace(row, elapsed_ms=entry.at_ms - row.started_ms)
        view = replace(view, rows=view.rows.set(following.row, row))
    others = {key: one for key, one in view.following.items() if key != entry.exchange}
    return replace(view, following=others)
