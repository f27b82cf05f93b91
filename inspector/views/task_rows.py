"""The row of a turn and its task: what was learnt of it, one update after the other."""

from dataclasses import dataclass, replace
from hashlib import blake2b

from inspector.core.entries import Channel
from inspector.views.series import Series
from inspector.wire.findings import Finding, Severity
from inspector.wire.jsonrpc import Reply
from inspector.wire.results import KINDS
from inspector.wire.states import is_resting, parse_state
from inspector.wire.tree import encode_json

# An agent at work that says nothing for this long leaves a gap that is worth a word.
GAP_MS = 10_000.0
_TOLD = frozenset(KINDS)


@dataclass(frozen=True, slots=True)
class Update:
    """One thing that was learnt of a task. `exchange` and `seq` name the entry it came from.

    `kind` is the wire's: task, status-update, artifact-update, message; or error, push-config.
    `state` is the wire's spelling, None where the update carries none. `attempts` counts the
    polls that told just this, the last of them at `last_ms`.
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


@dataclass(frozen=True, slots=True)
class LastPoll:
    """The newest update by polls: its place among the row's, and what stands for its content."""

    place: int
    digest: str


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A turn and its task; `task_id` is None until the agent has named one.

    `elapsed_ms` is None while the exchange that started it is under way. `lanes` are the
    channels by which its updates came.
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
    lanes: frozenset[Channel] = frozenset()
    last_poll: LastPoll | None = None


def with_poll(row: TaskRow, update: Update, reply: Reply) -> TaskRow:
    """A poll that tells what the one before told counts as another attempt at it."""
    content = reply.envelope
    if isinstance(content, dict):
        content = {key: value for key, value in content.items() if key != "id"}
    digest = blake2b(encode_json(content), digest_size=8).hexdigest()
    last = row.last_poll
    if last is not None and last.digest == digest and not update.findings:
        before = row.updates[last.place]
        again = replace(before, attempts=before.attempts + 1, last_ms=update.at_ms)
        return replace(row, updates=row.updates.set(last.place, again))
    return with_update(replace(row, last_poll=LastPoll(len(row.updates), digest)), update)


def with_update(row: TaskRow, update: Update) -> TaskRow:
    """The update at the end of the row, with the time since the one before."""
    before = row.updates[-1] if row.updates else None
    since_ms = row.started_ms if before is None else before.last_ms or before.at_ms
    update = replace(update, delta_ms=update.at_ms - since_ms)
    if _is_gap(before, update):
        text = f"a gap: nothing was heard of the task for {update.delta_ms / 1000:.1f} s"
        finding = Finding(Severity.HINT, "A2A 0.3 §7.2", "$", text)
        update = replace(update, findings=(*update.findings, finding))
    return replace(
        row,
        updates=row.updates.append(update),
        lanes=row.lanes if update.channel in row.lanes else row.lanes | {update.channel},
    )


def _is_gap(before: Update | None, update: Update) -> bool:
    """Say whether the agent was silent for long though it was its turn."""
    if before is None or update.delta_ms < GAP_MS or not {before.kind, update.kind} <= _TOLD:
        return False
    return before.state is None or not is_resting(parse_state(before.state))
