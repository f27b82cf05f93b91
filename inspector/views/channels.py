"""The tasks of a log: what all their lanes have told, and the notifications they still owe."""

from dataclasses import dataclass, field, replace
from hashlib import blake2b

from inspector.core.entries import Channel, FrameReceived, PushReceived
from inspector.views.persistent import Index
from inspector.views.reads import STARTS_TASK, Call
from inspector.wire.dialect import Operation, Result, ResultKind, Sections
from inspector.wire.endpoints import dialect_of
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import encode_json
from inspector.wire.progress import Progress
from inspector.wire.states import STATES, is_legal, is_resting, is_terminal

STATE_PATH = "$.result.status.state"


# A notification a little behind the stream is usual; from here on it is worth a warning.
LATE_MS = 1000.0


# In one turn a task goes up these steps; resting states are the last.
_RANKS = {"submitted": 0, "working": 1, "unknown": 1}


_RESTING_RANK = 2


# How many changes of state and notifications of one task are remembered to compare with.
MOST_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class Telling:
    """A state as a lane tells it.

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
class Life:
    """What all lanes have told of one task, oldest first.

    `now` is the state that counts; a turn sent to the task (`turn_ms`) makes it open to any other.
    `registered_ms` is None while nobody asked for notifications.
    """

    exchange: int
    message_id: str | None
    context_id: str | None
    turn_ms: float
    now: Telling | None = None
    told: tuple[Telling, ...] = ()
    pushed: tuple[Telling, ...] = ()
    registered_ms: float | None = None
    awaited: tuple[Telling, ...] = ()


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
    if result.kind == ResultKind.PUSH_CONFIG:
        life = replace(life, registered_ms=life.registered_ms or frame.at_ms)
    elif call.request.operation is Operation.PUSH_DELETE:
        life = replace(life, registered_ms=None, awaited=())
    is_news = True
    if (telling := _telling(result, frame.channel, frame)) is not None:
        life, contradictions, is_news = hear(life, telling, call.asked_ms, call.dialect.sections)
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
    found = (
        ()
        if call.task_id == task_id
        else check_reuse(life, context_id, call.message_id, call.dialect.sections)
    )
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
    state = result.state
    if state is None or state not in STATES:
        return None
    return Telling(
        state=state,
        channel=channel,
        exchange=entry.exchange,
        at_ms=entry.at_ms,
        timestamp_ms=result.timestamp_ms,
        message=_digest(encode_json([part.raw for part in result.parts])) if result.parts else "",
        whole=_digest(entry.body) if isinstance(entry, PushReceived) else "",
    )


def _digest(raw: bytes) -> str:
    return blake2b(raw, digest_size=8).hexdigest()


def hear_push(
    lives: Lives, turn: Call | None, result: Result, entry: PushReceived
) -> tuple[Lives, tuple[Finding, ...], bool]:
    """Take what an accepted notification tells into the life of its task, which `turn` began."""
    sections = dialect_of(entry.endpoint).sections
    task_id = result.task_id or ""
    found: tuple[Finding, ...] = ()
    life = lives.of_task.get(task_id)
    if life is None and turn is not None:
        life, _ = _life_of(lives, turn, task_id, turn.context_id or result.context_id)
    elif life is None:
        life = Life(entry.exchange, None, result.context_id, entry.at_ms)
        text = "no turn in this log began this task"
        found += (Finding(Severity.HINT, sections.push, "$.id", text),)
    if None not in (life.context_id, result.context_id) and life.context_id != result.context_id:
        text = f"the task is of context {life.context_id!r}, this says {result.context_id!r:.80}"
        found += (Finding(Severity.ERROR, sections.push, "$.contextId", text),)
    is_news = True
    if (telling := _telling(result, Channel.PUSH, entry)) is not None:
        life, contradictions, is_news = take_push(life, telling, sections)
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


def hear(
    life: Life, telling: Telling, asked_ms: float, sections: Sections
) -> tuple[Life, tuple[Finding, ...], bool]:
    """Take what a reply tells whose request was sent at `asked_ms`; say whether it is news.

    Within one exchange, and after what was known when it began, order is checked elsewhere.
    """
    now = life.now
    is_beside = now is not None and now.exchange != telling.exchange and now.at_ms >= asked_ms
    if now is None or not is_beside:
        return _await(_advance(life, telling)), (), True
    if is_terminal(now.state) and is_terminal(telling.state) and now.state != telling.state:
        return (
            _advance(life, telling),
            (_contradicts(now, telling, STATE_PATH, sections.task_state),),
            True,
        )
    if is_old(life, telling):
        return _remember(life, telling), (), False
    return _await(_advance(life, telling)), (), True


def take_push(
    life: Life, telling: Telling, sections: Sections
) -> tuple[Life, tuple[Finding, ...], bool]:
    """Take what an accepted notification tells; say whether it is news."""
    twin = next((one for one in life.pushed if one.whole == telling.whole), None)
    if twin is not None:
        since_ms = telling.at_ms - twin.at_ms
        text = f"duplicate: the same notification of {telling.state} came {since_ms:.0f} ms before"
        return life, (Finding(Severity.WARNING, sections.push, "$", text),), False
    is_news = life.now is None or not is_old(life, telling)
    found = [*_check_order(life, telling, sections), *_check_agreement(life, telling, sections)]
    if is_news and not found:
        found = _check_transition(life, telling, sections)
    after = replace(life, now=telling) if is_news else life
    after = replace(after, pushed=(*life.pushed, telling)[-MOST_REMEMBERED:])
    return _settle(after, telling), tuple(found), is_news


def is_old(life: Life, telling: Telling) -> bool:
    """Say whether the task has gone on since it was as `telling` says."""
    return life.now is not None and _is_later(life, life.now, telling)


def _is_later(life: Life, one: Telling, telling: Telling) -> bool:
    """Say whether `one`, which came before `telling`, tells of a later moment."""
    if one.timestamp_ms is not None and telling.timestamp_ms is not None:
        return one.timestamp_ms > telling.timestamp_ms
    is_of_this_turn = one.at_ms >= life.turn_ms or is_terminal(one.state)
    return is_of_this_turn and _rank(one.state) > _rank(telling.state)


def _rank(state: str) -> int:
    return _RANKS.get(state, _RESTING_RANK)


def _check_order(life: Life, telling: Telling, sections: Sections) -> list[Finding]:
    """What overtook the notification: another notification, or another lane."""
    found: list[Finding] = []
    overtaking = next((one for one in life.pushed if _is_later(life, one, telling)), None)
    if overtaking is not None:
        text = (
            f"reordered: {telling.state} is older than {overtaking.state}, which was pushed before"
        )
        found.append(Finding(Severity.WARNING, sections.push, "$.status", text))
    later = (one for one in life.told if _is_later(life, one, telling))
    same = (one for one in life.told if _is_long_before(life, one, telling))
    ahead = next(later, None) or next(same, None)
    if ahead is not None:
        since_ms = telling.at_ms - ahead.at_ms
        severity = Severity.WARNING if since_ms >= LATE_MS else Severity.HINT
        text = f"late by {since_ms:.0f} ms: {ahead.channel} had told {ahead.state}"
        found.append(Finding(severity, sections.push, "$.status", text))
    return found


def _is_long_before(life: Life, one: Telling, telling: Telling) -> bool:
    """Say whether `one` had told the same so long before that the notification is late."""
    is_same = one.state == telling.state and one.timestamp_ms == telling.timestamp_ms
    return is_same and one.at_ms >= life.turn_ms and telling.at_ms - one.at_ms >= LATE_MS


def _check_agreement(life: Life, telling: Telling, sections: Sections) -> list[Finding]:
    """Where the notification says other than a response or stream about the same moment."""
    for one in life.told:
        is_end = is_terminal(one.state) and is_terminal(telling.state)
        is_moment = one.timestamp_ms is not None and one.timestamp_ms == telling.timestamp_ms
        is_rest = is_moment and is_resting(one.state) and is_resting(telling.state)
        if one.state != telling.state and (is_end or is_rest):
            return [_contradicts(one, telling, "$.status.state", sections.push)]
        is_told = one.state == telling.state and (is_end or is_moment)
        if is_told and one.message and telling.message and one.message != telling.message:
            text = f"the notification of {one.state} brings another message than the {one.channel}"
            return [Finding(Severity.WARNING, sections.push, "$.status.message", text)]
    return []


def _contradicts(before: Telling, after: Telling, path: str, section: str) -> Finding:
    text = f"{after.channel} says {after.state}, {before.channel} said {before.state}"
    return Finding(Severity.ERROR, section, path, text)


def _advance(life: Life, telling: Telling) -> Life:
    return replace(_remember(life, telling), now=telling)


def _remember(life: Life, telling: Telling) -> Life:
    """Keep what each lane told, but not what it tells again."""
    known = (one for one in reversed(life.told) if one.channel is telling.channel)
    last = next(known, None)
    if (
        last is not None
        and replace(last, at_ms=telling.at_ms, exchange=telling.exchange) == telling
    ):
        return life
    return replace(life, told=(*life.told, telling)[-MOST_REMEMBERED:])


def _await(life: Life) -> Life:
    """From now on a notification of this state is due, where they were asked for."""
    now = life.now
    if now is None or life.registered_ms is None or not is_resting(now.state):
        return life
    is_due = any(one.state == now.state for one in life.awaited)
    is_pushed = any(one.state == now.state and one.at_ms >= life.turn_ms for one in life.pushed)
    return life if is_due or is_pushed else replace(life, awaited=(*life.awaited, now))


def _settle(life: Life, telling: Telling) -> Life:
    return replace(life, awaited=tuple(one for one in life.awaited if one.state != telling.state))


def check_reuse(
    life: Life, context_id: str | None, message_id: str | None, sections: Sections
) -> tuple[Finding, ...]:
    """Whether a new turn may be answered with the task that an earlier turn began."""
    if context_id is not None and life.context_id is not None and context_id != life.context_id:
        text = f"duplicate task id: a turn of context {life.context_id[:80]!r} has it, too"
        return (Finding(Severity.ERROR, sections.task, "$.result.id", text),)
    if life.now is None or not is_terminal(life.now.state):
        return ()
    if message_id is not None and message_id == life.message_id:
        return ()
    text = f"duplicate task id: it is that of a turn before, which is {life.now.state}"
    return (Finding(Severity.ERROR, sections.task, "$.result.id", text),)


def _check_transition(life: Life, telling: Telling, sections: Sections) -> list[Finding]:
    """Whether a notification that is news tells a state that may come next."""
    if life.now is None or is_legal(life.now.state, telling.state):
        return []
    text = f"a task that is {life.now.state} cannot become {telling.state}"
    return [Finding(Severity.ERROR, sections.task_state, "$.status.state", text)]
