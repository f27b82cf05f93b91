"""The timeline: per task its states in order, with times, channels and what was odd."""

from dataclasses import dataclass

from inspector.core.entries import Channel
from inspector.wire.findings import Finding


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
    updates: tuple[Update, ...]
    state: str | None
    elapsed_ms: float | None
