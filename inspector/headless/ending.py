"""What a turn came to that several ways have told of: the last word, and what is wrong in all."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from inspector.core.commands import Json
from inspector.core.entries import FrameReceived, PushReceived, PushVerdict
from inspector.views.channels import Lives, missing_pushes
from inspector.views.reads import Source, reply_of, result_of
from inspector.views.timeline import TaskRow
from inspector.wire.findings import Finding, Severity
from inspector.wire.states import is_resting, parse_state
from inspector.wire.v0_3 import PUSH, read_notification, texts

MISSING_AFTER_MS = 500.0


@dataclass(frozen=True, slots=True)
class Ending:
    """`task` is the last result as received; `state` its spelling on the wire."""

    state: str | None
    text: tuple[str, ...]
    task: Json
    task_id: str | None
    context_id: str | None
    elapsed_ms: float

    @property
    def is_resting(self) -> bool:
        return self.state is not None and is_resting(parse_state(self.state))


def ending_of(row: TaskRow, told: Sequence[Source]) -> Ending | None:
    """The last of `told` that says that the task rests, or the last at all."""
    results = [(source, result) for source in told if (result := result_of(source)) is not None]
    resting = [one for one in results if is_resting(parse_state(one[1].state or ""))]
    if not results:
        return None
    source, result = (resting or results)[-1]
    return Ending(
        state=result.state or row.state,
        text=next((said for _, one in reversed(results) if (said := texts(one.parts))), ()),
        task=_as_received(source),
        task_id=result.task_id or row.task_id,
        context_id=result.context_id or row.context_id,
        elapsed_ms=source.at_ms - row.started_ms,
    )


def is_told(entry: object) -> bool:
    """An update by any of the ways; a notification that was turned away tells nothing."""
    if isinstance(entry, PushReceived):
        return entry.verdict is PushVerdict.ACCEPTED
    return isinstance(entry, FrameReceived)


def findings_of(rows: Iterable[TaskRow], lives: Lives, now_ms: float) -> Iterator[Finding]:
    """What is wrong in what was told, each once, and the notifications that did not come."""
    seen: set[Finding] = set()
    for row in rows:
        for update in row.updates:
            for finding in update.findings:
                if finding not in seen:
                    seen.add(finding)
                    yield finding
    for missing in missing_pushes(lives, now_ms, MISSING_AFTER_MS):
        text = (
            f"missing: {missing.channel} told {missing.state} {missing.since_ms / 1000:.1f} s ago, "
            "and no notification of it came"
        )
        yield Finding(Severity.ERROR, PUSH, "$", text)


def _as_received(source: Source) -> Json:
    if isinstance(source, PushReceived):
        return read_notification(source.body).value
    reply = reply_of(source)
    return None if reply is None else reply.result
