"""The tasks of a log: what all their lanes have told, and the notifications they still owe."""

from dataclasses import dataclass, field, replace
from hashlib import blake2b

from inspector.core.entries import Channel, FrameReceived, PushReceived
from inspector.views.index import Index
from inspector.views.lanes import Life, Telling, check_reuse, hear, take_push
from inspector.views.reads import STARTS_TASK, Call
from inspector.wire.findings import Finding, Severity
from inspector.wire.jsonrpc import PUSH_CONFIG_DELETE
from inspector.wire.notifications import PUSH
from inspector.wire.progress import Progress
from inspector.wire.results import PUSH_CONFIG, Result
from inspector.wire.states import parse_state
from inspector.wire.tree import encode_json


@dataclass(frozen=True, slots=True)
class Lives:
    """Every task by its id; `awaiting` are those of which a notification is due."""

    of_task: Index[str, Life] = field(default_factory=Index[str, Life])
    awaiting: Index[str, Life] = field(default_factory=Index[str, Life])


def begin_turn(lives: Lives, task_id: str, at_ms: float) -> Lives:
    """A turn was sent to a task, which may be told to be in any state after it."""
    life = lives.of_task.get(task_id)
    return lives if life is None else _with_life(lives, task_id, replace(life, turn_ms=at_ms))


def hear_reply(
    lives: Lives, call: Call, progress: Progress, result: Result, frame: FrameReceived
) -> tuple[Lives, tuple[Finding, ...], bool]:
    """Take what a result tells into the life of its task."""
    task_id = result.task_id or progress.task_id or _asked_about(call)
    if task_id is None:
        return lives, (), True
    life, found = _life_of(lives, call, task_id, progress.context_id)
    if result.kind == PUSH_CONFIG:
        life = replace(life, registered_ms=life.registered_ms or frame.at_ms)
    elif call.request.method == PUSH_CONFIG_DELETE:
        life = replace(life, registered_ms=None, awaited=())
    is_news = True
    if (telling := _telling(result, frame.channel, frame)) is not None:
        life, contradictions, is_news = hear(life, telling, call.asked_ms)
        found += contradictions
    return _with_life(lives, task_id, life), found, is_news


def _asked_about(call: Call) -> str | None:
    return None if call.purpose in STARTS_TASK else call.task_id


def _life_of(
    lives: Lives, call: Call, task_id: str, context_id: str | None
) -> tuple[Life, tuple[Finding, ...]]:
    """The life of a task, as it stands or as this exchange begins it."""
    is_first = call.purpose in STARTS_TASK and call.progress.task_id is None
    registered_ms = call.asked_ms if call.registers else None
    life = lives.of_task.get(task_id)
    if life is None:
        born = Life(call.exchange, call.message_id, context_id, call.asked_ms)
        return replace(born, registered_ms=registered_ms), ()
    if not is_first:
        return replace(life, context_id=life.context_id or context_id), ()
    found = () if call.task_id == task_id else check_reuse(life, context_id, call.message_id)
    return replace(life, registered_ms=life.registered_ms or registered_ms), found


def _with_life(lives: Lives, task_id: str, life: Life) -> Lives:
    if lives.of_task.get(task_id) == life:
        return lives
    awaiting = lives.awaiting.without(task_id)
    if life.awaited:
        awaiting = awaiting.set(task_id, life)
    return Lives(lives.of_task.set(task_id, life), awaiting)


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


def hear_push(
    lives: Lives, turn: Call | None, result: Result, entry: PushReceived
) -> tuple[Lives, tuple[Finding, ...], bool]:
    """Take what an accepted notification tells into the life of its task, which `turn` began."""
    task_id = result.task_id or ""
    found: tuple[Finding, ...] = ()
    life = lives.of_task.get(task_id)
    if life is None and turn is not None:
        life, _ = _life_of(lives, turn, task_id, turn.context_id or result.context_id)
    elif life is None:
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
    return _with_life(lives, task_id, life), found, is_news


@dataclass(frozen=True, slots=True)
class MissingPush:
    """`channel` told `state` of the task, and the notification of it that was due has not come."""

    task_id: str
    exchange: int
    state: str
    channel: Channel
    told_ms: float
    since_ms: float


def missing_pushes(lives: Lives, now_ms: float, patience_ms: float) -> tuple[MissingPush, ...]:
    """What was due at `now_ms` for at least `patience_ms`, oldest first.

    Costs what is awaited, not what was told: tasks that got theirs are not looked at.
    """
    missing = [
        MissingPush(task_id, life.exchange, one.state, one.channel, one.at_ms, now_ms - one.at_ms)
        for task_id, life in lives.awaiting.items()
        for one in life.awaited
        if now_ms - one.at_ms >= patience_ms
    ]
    return tuple(sorted(missing, key=lambda one: (one.told_ms, one.task_id)))
