"""What every channel reported of each task, where they disagree, and which notifications are due.

Answer, stream and polls each report a task's states in their order. One channel may lag behind
another: what it then reports is old, which is neither news nor a fault. Notifications come one by
one, each on a connection of its own, so they may also be lost, doubled or overtake each other.
"""

from dataclasses import dataclass, field, replace

from inspector.core.entries import Channel, FrameReceived, PushReceived
from inspector.views.persistent import Index
from inspector.views.reads import STARTS_TASK, Call
from inspector.views.text import short_digest
from inspector.wire.dialect import Operation, Result, ResultKind, Sections
from inspector.wire.endpoints import dialect_of
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import encode_json
from inspector.wire.progress import Progress
from inspector.wire.states import STATES, is_legal, is_resting, is_terminal

STATE_PATH = "$.result.status.state"
# A notification a little behind the stream is usual; from here on it is late.
LATE_MS = 1000.0
# In one turn a task goes up these steps; resting states are the last.
_RANKS = {"submitted": 0, "working": 1, "unknown": 1}
_RESTING_RANK = 2
# How many changes of state and notifications of one task are remembered to compare with.
MOST_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class StateReport:
    """A state as a channel reports it.

    `message` stands for the words and data that came with it, `whole` for everything; "" for none.
    """

    state: str
    channel: Channel
    exchange: int
    at_ms: float
    timestamp_ms: float | None
    message: str = ""
    whole: str = ""


@dataclass(frozen=True, slots=True)
class TaskReports:
    """What all channels have reported of one task, oldest first.

    `now` is the state that counts; a turn sent to the task (`turn_ms`) makes it open to any other.
    `registered_ms` is None while nobody asked for notifications.
    """

    exchange: int
    message_id: str | None
    context_id: str | None
    turn_ms: float
    now: StateReport | None = None
    reported: tuple[StateReport, ...] = ()
    pushed: tuple[StateReport, ...] = ()
    registered_ms: float | None = None
    awaited: tuple[StateReport, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportsByTask:
    """Every task by its id; `awaiting` are those of which a notification is due."""

    of_task: Index[str, TaskReports] = field(default_factory=Index[str, TaskReports])
    awaiting: Index[str, TaskReports] = field(default_factory=Index[str, TaskReports])


def begin_turn(tasks: ReportsByTask, task_id: str, at_ms: float) -> ReportsByTask:
    """A turn was sent to a task, which may be reported to be in any state after it."""
    task = tasks.of_task.get(task_id)
    return tasks if task is None else _with_task(tasks, task_id, replace(task, turn_ms=at_ms))


def take_reply(
    tasks: ReportsByTask, call: Call, progress: Progress, result: Result, frame: FrameReceived
) -> tuple[ReportsByTask, tuple[Finding, ...], bool]:
    """Add what a result reports to its task; say whether it is news."""
    asked_about = None if call.purpose in STARTS_TASK else call.task_id
    task_id = result.task_id or progress.task_id or asked_about
    if task_id is None:
        return tasks, (), True
    task, found = _task_of(tasks, call, task_id, progress.context_id)
    if result.kind == ResultKind.PUSH_CONFIG:
        task = replace(task, registered_ms=task.registered_ms or frame.at_ms)
    elif call.request.operation is Operation.PUSH_DELETE:
        task = replace(task, registered_ms=None, awaited=())
    is_news = True
    if (report := _report_of(result, frame.channel, frame)) is not None:
        task, contradictions, is_news = add_report(
            task, report, call.asked_ms, call.dialect.sections
        )
        found += contradictions
    return _with_task(tasks, task_id, task), found, is_news


def _task_of(
    tasks: ReportsByTask, call: Call, task_id: str, context_id: str | None
) -> tuple[TaskReports, tuple[Finding, ...]]:
    """The reports of a task, as they stand or as this exchange begins them."""
    is_first = call.purpose in STARTS_TASK and call.progress.task_id is None
    registered_ms = call.asked_ms if call.registers else None
    task = tasks.of_task.get(task_id)
    if task is None:
        born = TaskReports(call.exchange, call.message_id, context_id, call.asked_ms)
        return replace(born, registered_ms=registered_ms), ()
    if not is_first:
        return replace(task, context_id=task.context_id or context_id), ()
    found = (
        ()
        if call.task_id == task_id
        else check_reuse(task, context_id, call.message_id, call.dialect.sections)
    )
    return replace(task, registered_ms=task.registered_ms or registered_ms), found


def _with_task(tasks: ReportsByTask, task_id: str, task: TaskReports) -> ReportsByTask:
    if tasks.of_task.get(task_id) == task:
        return tasks
    awaiting = tasks.awaiting.without(task_id)
    if task.awaited:
        awaiting = awaiting.set(task_id, task)
    return ReportsByTask(tasks.of_task.set(task_id, task), awaiting)


def _report_of(
    result: Result, channel: Channel, entry: FrameReceived | PushReceived
) -> StateReport | None:
    """The state that `result` reports; None if it reports none that is known."""
    state = result.state
    if state is None or state not in STATES:
        return None
    return StateReport(
        state=state,
        channel=channel,
        exchange=entry.exchange,
        at_ms=entry.at_ms,
        timestamp_ms=result.timestamp_ms,
        message=short_digest(encode_json([part.raw for part in result.parts]))
        if result.parts
        else "",
        whole=short_digest(entry.body) if isinstance(entry, PushReceived) else "",
    )


def take_notification(
    tasks: ReportsByTask, turn: Call | None, result: Result, entry: PushReceived
) -> tuple[ReportsByTask, tuple[Finding, ...], bool]:
    """Add what an accepted notification reports to its task, which `turn` began."""
    sections = dialect_of(entry.endpoint).sections
    task_id = result.task_id or ""
    found: tuple[Finding, ...] = ()
    task = tasks.of_task.get(task_id)
    if task is None and turn is not None:
        task, _ = _task_of(tasks, turn, task_id, turn.context_id or result.context_id)
    elif task is None:
        task = TaskReports(entry.exchange, None, result.context_id, entry.at_ms)
        text = "no turn in this log began this task"
        found += (Finding(Severity.HINT, sections.push, "$.id", text),)
    if None not in (task.context_id, result.context_id) and task.context_id != result.context_id:
        text = f"the task is of context {task.context_id!r}, this says {result.context_id!r:.80}"
        found += (Finding(Severity.ERROR, sections.push, "$.contextId", text),)
    is_news = True
    if (report := _report_of(result, Channel.PUSH, entry)) is not None:
        task, contradictions, is_news = add_push(task, report, sections)
        found += contradictions
    return _with_task(tasks, task_id, task), found, is_news


@dataclass(frozen=True, slots=True)
class MissingPush:
    """`channel` reported `state` of the task, and the notification due for it did not come."""

    task_id: str
    exchange: int
    state: str
    channel: Channel
    reported_ms: float
    since_ms: float


def missing_pushes(
    tasks: ReportsByTask, now_ms: float, patience_ms: float
) -> tuple[MissingPush, ...]:
    """What was due at `now_ms` for at least `patience_ms`, oldest first.

    Costs what is awaited, not what was reported: tasks that got theirs are not looked at.
    """
    missing = [
        MissingPush(task_id, task.exchange, one.state, one.channel, one.at_ms, now_ms - one.at_ms)
        for task_id, task in tasks.awaiting.items()
        for one in task.awaited
        if now_ms - one.at_ms >= patience_ms
    ]
    return tuple(sorted(missing, key=lambda one: (one.reported_ms, one.task_id)))


def add_report(
    task: TaskReports, report: StateReport, asked_ms: float, sections: Sections
) -> tuple[TaskReports, tuple[Finding, ...], bool]:
    """Add what a reply reports whose request was sent at `asked_ms`; say whether it is news.

    Within one exchange, and after what was known when it began, order is checked elsewhere.
    """
    now = task.now
    is_beside = now is not None and now.exchange != report.exchange and now.at_ms >= asked_ms
    if now is None or not is_beside:
        return _await(_advance(task, report)), (), True
    if is_terminal(now.state) and is_terminal(report.state) and now.state != report.state:
        return (
            _advance(task, report),
            (_contradicts(now, report, STATE_PATH, sections.task_state),),
            True,
        )
    if is_old(task, report):
        return _remember(task, report), (), False
    return _await(_advance(task, report)), (), True


def add_push(
    task: TaskReports, report: StateReport, sections: Sections
) -> tuple[TaskReports, tuple[Finding, ...], bool]:
    """Add what an accepted notification reports; say whether it is news."""
    twin = next((one for one in task.pushed if one.whole == report.whole), None)
    if twin is not None:
        since_ms = report.at_ms - twin.at_ms
        text = f"duplicate: the same notification of {report.state} came {since_ms:.0f} ms before"
        return task, (Finding(Severity.WARNING, sections.push, "$", text),), False
    is_news = task.now is None or not is_old(task, report)
    found = [*_check_order(task, report, sections), *_check_agreement(task, report, sections)]
    if is_news and not found:
        found = _check_transition(task, report, sections)
    after = replace(task, now=report) if is_news else task
    after = replace(after, pushed=(*task.pushed, report)[-MOST_REMEMBERED:])
    return _settle(after, report), tuple(found), is_news


def is_old(task: TaskReports, report: StateReport) -> bool:
    """Say whether the task has gone on since it was as `report` says."""
    return task.now is not None and _is_later(task, task.now, report)


def _is_later(task: TaskReports, one: StateReport, report: StateReport) -> bool:
    """Say whether `one`, which came before `report`, is of a later moment."""
    if one.timestamp_ms is not None and report.timestamp_ms is not None:
        return one.timestamp_ms > report.timestamp_ms
    is_of_this_turn = one.at_ms >= task.turn_ms or is_terminal(one.state)
    return is_of_this_turn and _rank(one.state) > _rank(report.state)


def _rank(state: str) -> int:
    return _RANKS.get(state, _RESTING_RANK)


def _check_order(task: TaskReports, report: StateReport, sections: Sections) -> list[Finding]:
    """What overtook the notification: another notification, or another channel."""
    found: list[Finding] = []
    overtaking = next((one for one in task.pushed if _is_later(task, one, report)), None)
    if overtaking is not None:
        text = (
            f"reordered: {report.state} is older than {overtaking.state}, which was pushed before"
        )
        found.append(Finding(Severity.WARNING, sections.push, "$.status", text))
    later = (one for one in task.reported if _is_later(task, one, report))
    same = (one for one in task.reported if _is_long_before(task, one, report))
    ahead = next(later, None) or next(same, None)
    since_ms = 0.0 if ahead is None else report.at_ms - ahead.at_ms
    if ahead is not None and since_ms >= LATE_MS:
        text = f"late by {since_ms:.0f} ms: {ahead.channel} reported {ahead.state} first"
        found.append(Finding(Severity.WARNING, sections.push, "$.status", text))
    return found


def _is_long_before(task: TaskReports, one: StateReport, report: StateReport) -> bool:
    """Say whether `one` had reported the same so long before that the notification is late."""
    is_same = one.state == report.state and one.timestamp_ms == report.timestamp_ms
    return is_same and one.at_ms >= task.turn_ms and report.at_ms - one.at_ms >= LATE_MS


def _check_agreement(task: TaskReports, report: StateReport, sections: Sections) -> list[Finding]:
    """Check that the notification agrees with the answer or stream about the same moment."""
    for one in task.reported:
        is_end = is_terminal(one.state) and is_terminal(report.state)
        is_moment = one.timestamp_ms is not None and one.timestamp_ms == report.timestamp_ms
        is_rest = is_moment and is_resting(one.state) and is_resting(report.state)
        if one.state != report.state and (is_end or is_rest):
            return [_contradicts(one, report, "$.status.state", sections.push)]
        is_same = one.state == report.state and (is_end or is_moment)
        if is_same and one.message and report.message and one.message != report.message:
            text = f"the notification of {one.state} brings another message than the {one.channel}"
            return [Finding(Severity.WARNING, sections.push, "$.status.message", text)]
    return []


def _contradicts(before: StateReport, after: StateReport, path: str, section: str) -> Finding:
    text = f"{after.channel} says {after.state}, {before.channel} said {before.state}"
    return Finding(Severity.ERROR, section, path, text)


def _advance(task: TaskReports, report: StateReport) -> TaskReports:
    return replace(_remember(task, report), now=report)


def _remember(task: TaskReports, report: StateReport) -> TaskReports:
    """Keep what each channel reported, but not what it repeats."""
    known = (one for one in reversed(task.reported) if one.channel is report.channel)
    last = next(known, None)
    if last is not None and replace(last, at_ms=report.at_ms, exchange=report.exchange) == report:
        return task
    return replace(task, reported=(*task.reported, report)[-MOST_REMEMBERED:])


def _await(task: TaskReports) -> TaskReports:
    """From now on a notification of this state is due, where they were asked for."""
    now = task.now
    if now is None or task.registered_ms is None or not is_resting(now.state):
        return task
    is_due = any(one.state == now.state for one in task.awaited)
    is_pushed = any(one.state == now.state and one.at_ms >= task.turn_ms for one in task.pushed)
    return task if is_due or is_pushed else replace(task, awaited=(*task.awaited, now))


def _settle(task: TaskReports, report: StateReport) -> TaskReports:
    return replace(task, awaited=tuple(one for one in task.awaited if one.state != report.state))


def check_reuse(
    task: TaskReports, context_id: str | None, message_id: str | None, sections: Sections
) -> tuple[Finding, ...]:
    """Whether a new turn may be answered with the task that an earlier turn began."""
    if context_id is not None and task.context_id is not None and context_id != task.context_id:
        text = f"duplicate task id: a turn of context {task.context_id[:80]!r} has it, too"
        return (Finding(Severity.ERROR, sections.task, "$.result.id", text),)
    if task.now is None or not is_terminal(task.now.state):
        return ()
    if message_id is not None and message_id == task.message_id:
        return ()
    text = f"duplicate task id: it is that of a turn before, which is {task.now.state}"
    return (Finding(Severity.ERROR, sections.task, "$.result.id", text),)


def _check_transition(task: TaskReports, report: StateReport, sections: Sections) -> list[Finding]:
    """Check that the state of a notification that is news may come next."""
    if task.now is None or is_legal(task.now.state, report.state):
        return []
    text = f"a task that is {task.now.state} cannot become {report.state}"
    return [Finding(Severity.ERROR, sections.task_state, "$.status.state", text)]
