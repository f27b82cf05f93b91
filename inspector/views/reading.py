"""Each entry of the log read once: parsed, checked, and set against what its task has told so far.

The views step on what comes out of here. A `Read` holds the parsed payload only until the views
have taken from it what they keep; the bytes stay in the log's entries.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from http import HTTPStatus
from typing import TypeAlias, assert_never

from inspector.core.entries import (
    ASIDE,
    Channel,
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
from inspector.views.index import Index
from inspector.views.lanes import TASK, Life, Telling, check_reuse, hear, take_push
from inspector.wire.findings import Finding, Severity
from inspector.wire.jsonrpc import PUSH_CONFIG_DELETE, Reply, Request, read_reply, read_request
from inspector.wire.progress import Progress, advance, check_end
from inspector.wire.push import PUSH, read_push, registers_push
from inspector.wire.results import PUSH_CONFIG, Result, read_result
from inspector.wire.sse import parse_event
from inspector.wire.states import parse_state
from inspector.wire.tree import Json, encode_json, text_at
from inspector.wire.validate import STREAMING, check_reply, check_termination

STREAMS = frozenset({Purpose.STREAM, Purpose.RESUBSCRIBE})
STARTS_TASK = frozenset({Purpose.SEND, Purpose.STREAM})
EVENT_STREAM = "text/event-stream"

# What each verdict of the receiver means for whoever reads the log.
_VERDICTS: Mapping[PushVerdict, str] = {
    PushVerdict.UNKNOWN_TASK: "unknown task: nobody here asked for notifications of it",
    PushVerdict.FORGED: "forged: its token is missing or wrong",
    PushVerdict.BAD_BODY: "bad body: no notification can be read from it",
    PushVerdict.REFUSED: "refused by the receiver's own rules",
}


@dataclass(frozen=True, slots=True)
class Call:
    """An exchange under way. `request` has no params left; `task_id` is the task they named."""

    exchange: int
    purpose: Purpose
    asked_ms: float
    request: Request
    task_id: str | None
    context_id: str | None
    message_id: str | None
    registers: bool
    progress: Progress
    status: int | None = None
    has_frame: bool = False
    has_reply: bool = False

    @property
    def is_aside(self) -> bool:
        return self.purpose in ASIDE

    @property
    def is_stream(self) -> bool:
        return self.purpose in STREAMS


@dataclass(frozen=True, slots=True)
class Asked:
    """A request; `params` are empty beside the conversation."""

    entry: RequestSent
    call: Call
    params: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Began:
    """The head of a response."""

    entry: ResponseStarted
    call: Call
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Heard:
    """A body or an event; `reply` is None for a keep-alive, `result` for what brought none.

    `is_news`: no other lane has already told of a later moment.
    """

    entry: FrameReceived
    call: Call
    reply: Reply | None
    result: Result | None
    findings: tuple[Finding, ...]
    is_news: bool


@dataclass(frozen=True, slots=True)
class Over:
    """The end of an exchange, whichever it was."""

    entry: ResponseEnded | Failed
    call: Call
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Pushed:
    """A notification. `result` is None where `problem` says why; news only if it was accepted."""

    entry: PushReceived
    result: Result | None
    problem: str
    findings: tuple[Finding, ...]
    is_news: bool


# What may tell of a task: a reply or event, or a notification.
Source: TypeAlias = FrameReceived | PushReceived
Read: TypeAlias = Asked | Began | Heard | Over | Pushed


@dataclass(frozen=True, slots=True)
class Readings:
    """`calls` are the exchanges under way, `lives` the tasks, `awaiting` those owed a push."""

    calls: Mapping[int, Call] = field(default_factory=dict[int, Call])
    lives: Index[str, Life] = field(default_factory=Index[str, Life])
    awaiting: Index[str, Life] = field(default_factory=Index[str, Life])


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
            call = replace(call, status=entry.status)
            return _with_call(readings, call), Began(entry, call, _check_response(call, entry))
        case FrameReceived():
            return _hear(readings, call, entry)
        case ResponseEnded() | Failed():
            others = {key: one for key, one in readings.calls.items() if key != entry.exchange}
            findings = () if isinstance(entry, Failed) else _check_end(call)
            return replace(readings, calls=others), Over(entry, call, findings)
        case _ as never:
            assert_never(never)


def read_log(entries: Iterable[Entry]) -> Iterator[Read]:
    """Each of `entries` that means something, read."""
    readings = EMPTY
    for entry in entries:
        readings, read = step(readings, entry)
        if read is not None:
            yield read


def reply_of(frame: FrameReceived) -> Reply | None:
    """The JSON-RPC reply in `frame`; None for an event without data, such as a keep-alive."""
    if frame.channel is not Channel.SSE:
        return read_reply(frame.raw)
    event = parse_event(frame.raw)
    return None if event.data is None else read_reply(event.data)


def result_of(source: Source) -> Result | None:
    """The result in `source`, read from its bytes again; None where there is none."""
    if isinstance(source, PushReceived):
        return read_push(source.body).result
    reply = reply_of(source)
    if reply is None or reply.problem or reply.error is not None:
        return None
    return read_result(reply.result)


def header(response: ResponseStarted, name: str) -> str:
    return next((value for key, value in response.headers if key.lower() == name), "")


# Requests


def _ask(readings: Readings, entry: RequestSent) -> tuple[Readings, Read]:
    request = Request(None, None, {}) if entry.purpose in ASIDE else read_request(entry.body)
    params = request.params
    call = _call(readings, entry, request)
    life = readings.lives.get(call.task_id) if call.task_id is not None else None
    if life is not None and call.task_id is not None and entry.purpose in STARTS_TASK:
        life = replace(life, turn_ms=entry.at_ms)
        readings = replace(readings, lives=readings.lives.set(call.task_id, life))
    return _with_call(readings, call), Asked(entry, call, params)


def _call(readings: Readings, entry: RequestSent, request: Request) -> Call:
    params = request.params
    starts = entry.purpose in STARTS_TASK
    task_id = text_at(params, "message", "taskId") if starts else _named_task(params)
    progress = Progress(is_continued=entry.purpose is Purpose.RESUBSCRIBE)
    if not starts and task_id is not None:
        progress = _continued(progress, readings.lives.get(task_id))
    return Call(
        exchange=entry.exchange,
        purpose=entry.purpose,
        asked_ms=entry.at_ms,
        request=replace(request, params={}),
        task_id=task_id,
        context_id=text_at(params, "message", "contextId"),
        message_id=text_at(params, "message", "messageId"),
        registers=registers_push(params),
        progress=progress,
    )


def _named_task(params: dict[str, Json]) -> str | None:
    return text_at(params, "id") or text_at(params, "taskId")


def _continued(progress: Progress, life: Life | None) -> Progress:
    """Where an exchange about a task goes on from."""
    if life is None:
        return progress
    progress = replace(progress, context_id=life.context_id)
    if life.now is None:
        return progress
    return replace(progress, state=life.now.state, timestamp_ms=life.now.timestamp_ms)


def _with_call(readings: Readings, call: Call) -> Readings:
    return replace(readings, calls={**readings.calls, call.exchange: call})


# Replies


def _hear(readings: Readings, call: Call, frame: FrameReceived) -> tuple[Readings, Read]:
    call = replace(call, has_frame=True)
    if call.is_aside:
        return _with_call(readings, call), Heard(frame, call, None, None, (), True)
    found, data = _unwrap(frame)
    if data is None:
        return _with_call(readings, call), Heard(frame, call, None, None, found, False)
    reply = read_reply(data)
    found += check_reply(reply, call.request)
    call = replace(call, has_reply=True)
    if reply.error is not None:
        # an error ends a stream as well as a final update does
        call = replace(call, progress=replace(call.progress, is_final=True))
    if reply.problem or reply.error is not None:
        return _with_call(readings, call), Heard(frame, call, reply, None, found, False)
    result = read_result(reply.result)
    progress, contradictions = advance(call.progress, result)
    readings, others, is_news = _live(readings, call, progress, result, frame)
    call = replace(call, progress=progress)
    found += _check_named(call, result) + contradictions + others
    heard = Heard(frame, call, reply, result, found, is_news)
    return _with_call(readings, call), heard


def _check_named(call: Call, result: Result) -> tuple[Finding, ...]:
    """Whether the reply is of the task that was asked for."""
    is_other = None not in (call.task_id, result.task_id) and call.task_id != result.task_id
    if call.purpose in STARTS_TASK or not is_other:
        return ()
    text = f"asked for task {call.task_id!r:.80}, this is of {result.task_id!r:.80}"
    return (Finding(Severity.ERROR, TASK, "$.result", text),)


def _unwrap(frame: FrameReceived) -> tuple[tuple[Finding, ...], bytes | None]:
    """What the frame carries, which is all of it except for an event of a stream."""
    if frame.channel is not Channel.SSE:
        return (), frame.raw
    event = parse_event(frame.raw)
    return check_termination(event.is_terminated), event.data


def _live(
    readings: Readings, call: Call, progress: Progress, result: Result, frame: FrameReceived
) -> tuple[Readings, tuple[Finding, ...], bool]:
    """Take what a result tells into the life of its task."""
    task_id = result.task_id or progress.task_id
    if task_id is None:
        return readings, (), True
    life, found = _life_of(readings, call, task_id, progress.context_id)
    if result.kind == PUSH_CONFIG:
        life = replace(life, registered_ms=life.registered_ms or frame.at_ms)
    elif call.request.method == PUSH_CONFIG_DELETE:
        life = replace(life, registered_ms=None, awaited=())
    is_news = True
    if (telling := _telling(result, frame.channel, frame)) is not None:
        life, contradictions, is_news = hear(life, telling, call.asked_ms)
        found += contradictions
    return _with_life(readings, task_id, life), found, is_news


def _life_of(
    readings: Readings, call: Call, task_id: str, context_id: str | None
) -> tuple[Life, tuple[Finding, ...]]:
    """The life of a task, as it stands or as this exchange begins it."""
    is_first = call.purpose in STARTS_TASK and call.progress.task_id is None
    registered_ms = call.asked_ms if call.registers else None
    life = readings.lives.get(task_id)
    if life is None:
        born = Life(call.exchange, call.message_id, context_id, call.asked_ms)
        return replace(born, registered_ms=registered_ms), ()
    if not is_first:
        return replace(life, context_id=life.context_id or context_id), ()
    found = () if call.task_id == task_id else check_reuse(life, context_id, call.message_id)
    return replace(life, registered_ms=life.registered_ms or registered_ms), found


def _with_life(readings: Readings, task_id: str, life: Life) -> Readings:
    if readings.lives.get(task_id) == life:
        return readings
    awaiting = readings.awaiting.without(task_id)
    if life.awaited:
        awaiting = awaiting.set(task_id, life)
    return replace(readings, lives=readings.lives.set(task_id, life), awaiting=awaiting)


def _telling(
    result: Result, channel: Channel, entry: FrameReceived | PushReceived
) -> Telling | None:
    """The state that `result` tells; None where it tells none that is known."""
    state = parse_state(result.state) if result.state is not None else None
    if state is None:
        return None
    return Telling(
        state=state,
        channel=channel,
        exchange=entry.exchange,
        at_ms=entry.at_ms,
        timestamp_ms=result.timestamp_ms,
        message=_digest(encode_json(list(result.parts))) if result.parts else "",
        whole=_digest(entry.body) if isinstance(entry, PushReceived) else "",
    )


def _digest(raw: bytes) -> str:
    return blake2b(raw, digest_size=8).hexdigest()


# Notifications


def _take_push(readings: Readings, entry: PushReceived) -> tuple[Readings, Read]:
    body = read_push(entry.body)
    found = body.findings
    if entry.verdict is not PushVerdict.ACCEPTED:
        answer = "the connection was dropped" if entry.status is None else f"{entry.status}"
        text = f"{_VERDICTS[entry.verdict]}; answered with {answer}"
        found = (Finding(Severity.ERROR, PUSH, "$", text), *found)
    is_heard = body.result is not None and entry.verdict is PushVerdict.ACCEPTED
    is_news = False
    if is_heard and body.result is not None:
        readings, contradictions, is_news = _live_on(readings, body.result, entry)
        found += contradictions
    return readings, Pushed(entry, body.result, body.problem, found, is_news)


def _live_on(
    readings: Readings, result: Result, entry: PushReceived
) -> tuple[Readings, tuple[Finding, ...], bool]:
    """Take what an accepted notification tells into the life of its task."""
    if result.task_id is None:
        return readings, (), True
    found: tuple[Finding, ...] = ()
    life = readings.lives.get(result.task_id)
    if life is None:
        life = Life(entry.exchange, None, result.context_id, entry.at_ms)
        text = "no turn in this log began this task"
        found += (Finding(Severity.HINT, PUSH, "$.id", text),)
    if None not in (life.context_id, result.context_id) and life.context_id != result.context_id:
        text = f"the task is of context {life.context_id!r}, this says {result.context_id!r:.80}"
        found += (Finding(Severity.ERROR, PUSH, "$.contextId", text),)
    is_news = True
    if (telling := _telling(result, Channel.PUSH, entry)) is not None:
        life, contradictions, is_news = take_push(life, telling)
        found += contradictions
    return _with_life(readings, result.task_id, life), found, is_news


# Missing notifications


@dataclass(frozen=True, slots=True)
class MissingPush:
    """`channel` told `state` of the task, and the notification of it that was due has not come."""

    task_id: str
    exchange: int
    state: str
    channel: Channel
    told_ms: float
    since_ms: float


def missing_pushes(
    readings: Readings, now_ms: float, patience_ms: float
) -> tuple[MissingPush, ...]:
    """What was due at `now_ms` for at least `patience_ms`, oldest first.

    Costs what is awaited, not what was told: tasks that got theirs are not looked at.
    """
    missing = [
        MissingPush(task_id, life.exchange, one.state, one.channel, one.at_ms, now_ms - one.at_ms)
        for task_id, life in readings.awaiting.items()
        for one in life.awaited
        if now_ms - one.at_ms >= patience_ms
    ]
    return tuple(sorted(missing, key=lambda one: (one.told_ms, one.task_id)))


# What an answer's form must be


def _check_response(call: Call, response: ResponseStarted) -> tuple[Finding, ...]:
    """The media type of a successful reply (A2A 0.3 §3.2.1, §3.3)."""
    if call.is_aside or response.status >= HTTPStatus.MULTIPLE_CHOICES:
        return ()
    media_type = header(response, "content-type").partition(";")[0].strip().lower()
    allowed = (EVENT_STREAM, "application/json") if call.is_stream else ("application/json",)
    if media_type in allowed:
        return ()
    expected = " or ".join(allowed)
    text = f"content type {media_type[:80]!r}, expected {expected}"
    return (Finding(Severity.WARNING, "A2A 0.3 §3.2.1", "$", text),)


def _check_end(call: Call) -> tuple[Finding, ...]:
    """A stream ends with its final update, unless an HTTP error stood in its place."""
    if not call.is_stream or call.status is None or call.status >= HTTPStatus.MULTIPLE_CHOICES:
        return ()
    if not call.has_frame:
        return (Finding(Severity.ERROR, STREAMING, "$", "the stream held no event"),)
    return check_end(call.progress)
