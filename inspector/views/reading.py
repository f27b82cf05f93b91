"""Each entry of the log, parsed, checked and compared with what was reported of its task so far.

The views step on what comes out of here.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import assert_never

from inspector.core.decoding import read_push, read_sent
from inspector.core.entries import (
    ASIDE,
    Entry,
    Failed,
    FrameReceived,
    Purpose,
    PushReceived,
    PushVerdict,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.views.channels import (
    ReportsByTask,
    TaskReports,
    begin_turn,
    take_notification,
    take_reply,
)
from inspector.views.reads import (
    STARTS_TASK,
    Asked,
    Began,
    Call,
    Ended,
    Pushed,
    Read,
    Received,
    header,
)
from inspector.wire.dialect import Ask, Message, Request, Result
from inspector.wire.endpoints import dialect_of
from inspector.wire.findings import Finding, Severity
from inspector.wire.progress import Progress, advance, check_end
from inspector.wire.urls import last_segment

EVENT_STREAM = "text/event-stream"

# What each verdict of the receiver means for whoever reads the log.
_VERDICTS: Mapping[PushVerdict, str] = {
    PushVerdict.UNKNOWN_TASK: "unknown task: nobody here asked for notifications of it",
    PushVerdict.FORGED: "forged: its token is missing or wrong",
    PushVerdict.BAD_BODY: "bad body: no notification can be read from it",
    PushVerdict.REFUSED: "refused by the receiver's own rules",
}


@dataclass(frozen=True, slots=True)
class Readings:
    """`calls` are the exchanges under way, `reports` the tasks."""

    calls: Mapping[int, Call] = field(default_factory=dict[int, Call])
    reports: ReportsByTask = field(default_factory=ReportsByTask)


EMPTY = Readings()


def step(readings: Readings, entry: Entry) -> tuple[Readings, Read | None]:
    """Read `entry`; None for one of an exchange that never began or is over."""
    match entry:
        case RequestSent():
            return _ask(readings, entry)
        case PushReceived():
            return _take_push(readings, entry)
        case _:
            call = readings.calls.get(entry.exchange)
    if call is None:
        return readings, None
    match entry:
        case ResponseStarted():
            call = replace(call, status=entry.status, is_redirect=entry.is_redirect)
            return _with_call(readings, call), Began(entry, call, _check_response(call, entry))
        case FrameReceived():
            return _receive(readings, call, entry)
        case ResponseEnded() | Failed():
            others = {key: one for key, one in readings.calls.items() if key != entry.exchange}
            findings = () if isinstance(entry, Failed) else _check_end(call)
            return replace(readings, calls=others), Ended(entry, call, findings)
        case _ as never:
            assert_never(never)


def read_log(entries: Iterable[Entry]) -> Iterator[Read]:
    """Each of `entries` that means something, read."""
    readings = EMPTY
    for entry in entries:
        readings, read = step(readings, entry)
        if read is not None:
            yield read


# Requests


def _ask(readings: Readings, entry: RequestSent) -> tuple[Readings, Read]:
    request = Request() if entry.purpose in ASIDE else read_sent(entry)
    call = _call(readings, entry, request)
    if call.task_id is not None and entry.purpose in STARTS_TASK:
        reports = begin_turn(readings.reports, call.task_id, entry.at_ms)
        readings = replace(readings, reports=reports)
    return _with_call(readings, call), Asked(entry, call, request.ask)


def _call(readings: Readings, entry: RequestSent, request: Request) -> Call:
    ask = request.ask
    message = ask.message or Message()
    starts = entry.purpose in STARTS_TASK
    task_id = message.task_id if starts else ask.task_id
    progress = Progress(is_continued=entry.purpose is Purpose.RESUBSCRIBE)
    if not starts and task_id is not None:
        progress = _continued(progress, readings.reports.of_task.get(task_id))
    return Call(
        exchange=entry.exchange,
        purpose=entry.purpose,
        asked_ms=entry.at_ms,
        request=replace(request, ask=Ask()),
        task_id=task_id,
        context_id=message.context_id,
        message_id=message.message_id,
        registers=ask.callback is not None,
        callback=last_segment(ask.callback.url) if ask.callback is not None else "",
        is_replay=entry.is_replay,
        redirected_from=entry.redirected_from,
        progress=progress,
        dialect=dialect_of(entry.endpoint),
    )


def _continued(progress: Progress, task: TaskReports | None) -> Progress:
    """Where an exchange about a task goes on from."""
    if task is None:
        return progress
    progress = replace(progress, context_id=task.context_id)
    if task.now is None:
        return progress
    return replace(progress, state=task.now.state, timestamp_ms=task.now.timestamp_ms)


def _with_call(readings: Readings, call: Call) -> Readings:
    return replace(readings, calls={**readings.calls, call.exchange: call})


# Replies


def _receive(readings: Readings, call: Call, frame: FrameReceived) -> tuple[Readings, Read]:
    call = replace(call, has_frame=True)
    if call.purpose in ASIDE or call.is_redirect:
        return _with_call(readings, call), Received(frame, call, None, None, (), True)
    reply = call.reader.decode(frame)
    found = call.dialect.check(reply, call.request)
    if reply.is_silent:
        return _with_call(readings, call), Received(frame, call, None, None, found, False)
    call = replace(call, has_reply=True)
    if reply.error is not None:
        # an error ends a stream as well as a final update does
        call = replace(call, progress=replace(call.progress, is_final=True))
    result = reply.result
    if result is None:
        return _with_call(readings, call), Received(frame, call, reply, None, found, False)
    progress, contradictions = advance(call.progress, result, call.dialect.sections)
    reports, others, is_news = take_reply(readings.reports, call, progress, result, frame)
    readings = replace(readings, reports=reports)
    call = replace(call, progress=progress)
    found += _check_named(call, result) + contradictions + others
    received = Received(frame, call, reply, result, found, is_news)
    return _with_call(readings, call), received


def _check_named(call: Call, result: Result) -> tuple[Finding, ...]:
    """Whether the reply is of the task that was asked for."""
    is_other = None not in (call.task_id, result.task_id) and call.task_id != result.task_id
    if call.purpose in STARTS_TASK or not is_other:
        return ()
    text = f"asked for task {call.task_id!r:.80}, this is of {result.task_id!r:.80}"
    return (Finding(Severity.ERROR, call.dialect.sections.task, "$.result", text),)


# Notifications


def _take_push(readings: Readings, entry: PushReceived) -> tuple[Readings, Read]:
    dialect, notification = dialect_of(entry.endpoint), read_push(entry)
    found, result = dialect.check_notification(notification), notification.result
    if entry.verdict is not PushVerdict.ACCEPTED:
        answer = "the connection was dropped" if entry.status is None else f"{entry.status}"
        text = f"{_VERDICTS[entry.verdict]}; answered with {answer}"
        found = (Finding(Severity.ERROR, dialect.sections.push, "$", text), *found)
    is_news, turn = False, _turn_of(readings, entry)
    if result is not None and entry.verdict is PushVerdict.ACCEPTED:
        reports, contradictions, is_news = take_notification(readings.reports, turn, result, entry)
        found += contradictions
        readings = replace(readings, reports=reports)
    number = None if turn is None else turn.exchange
    return readings, Pushed(entry, result, notification.problem, found, is_news, number)


def _turn_of(readings: Readings, entry: PushReceived) -> Call | None:
    """The turn under way that asked for the notification; its answer may not name a task yet."""
    callback = last_segment(entry.url)
    calls = readings.calls.values()
    return next((call for call in calls if callback and call.callback == callback), None)


# What an answer's form must be


def _check_response(call: Call, response: ResponseStarted) -> tuple[Finding, ...]:
    """The media type of a successful reply; a method of another version may stream as well."""
    if call.purpose in ASIDE or response.status >= HTTPStatus.MULTIPLE_CHOICES:
        return ()
    media_type = header(response, "content-type").partition(";")[0].strip().lower()
    may_stream = call.is_stream or call.reader.operation is None
    allowed = (EVENT_STREAM, "application/json") if may_stream else ("application/json",)
    if media_type in allowed:
        return ()
    expected = " or ".join(allowed)
    text = f"content type {media_type[:80]!r}, expected {expected}"
    return (Finding(Severity.WARNING, call.dialect.sections.transport, "$", text),)


def _check_end(call: Call) -> tuple[Finding, ...]:
    """A stream ends with its final update, unless an HTTP error stood in its place."""
    if not call.is_stream or call.status is None or call.status >= HTTPStatus.MULTIPLE_CHOICES:
        return ()
    sections = call.dialect.sections
    if not call.has_frame:
        return (Finding(Severity.ERROR, sections.streaming, "$", "the stream held no event"),)
    return check_end(call.progress, sections)
