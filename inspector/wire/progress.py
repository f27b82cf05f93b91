"""What is wrong with a reply given what came before it: the life of one task in one exchange."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from inspector.wire.dialect import Result, ResultKind, Sections
from inspector.wire.findings import Finding, Severity
from inspector.wire.states import is_legal, is_resting, is_terminal, parse_state

# An exchange that brings more artifacts than this is read on as one that began elsewhere.
MOST_ARTIFACTS = 500


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an exchange has come; `state` is None until a known one was reported.

    `is_continued`: the task began in an earlier exchange, so artifacts may go on from there.
    `artifacts` says of each whether its last chunk has come; `timestamp_ms` is the latest status'.
    """

    task_id: str | None = None
    context_id: str | None = None
    state: str | None = None
    is_final: bool = False
    is_continued: bool = False
    artifacts: Mapping[str, bool] = field(default_factory=dict[str, bool])
    timestamp_ms: float | None = None


def advance(
    progress: Progress, result: Result, sections: Sections
) -> tuple[Progress, tuple[Finding, ...]]:
    """Take `result` into account and say what it contradicts."""
    found: list[Finding] = []
    if progress.is_final:
        found.append(
            _error(sections.status_update, "$.result", f"a {result.kind} after the final update")
        )
    found += _check_identity(progress, result, sections)
    found += _check_state(progress.state, result, sections)
    found += _check_time(progress, result, sections)
    found += _check_artifacts(progress, result, sections)
    state = parse_state(result.state) if result.state is not None else None
    after = replace(
        progress,
        task_id=progress.task_id or result.task_id,
        context_id=progress.context_id or result.context_id,
        state=state or progress.state,
        is_final=progress.is_final or result.is_final,
        timestamp_ms=progress.timestamp_ms if result.timestamp_ms is None else result.timestamp_ms,
    )
    return _take_artifacts(after, result), tuple(found)


def check_end(progress: Progress, sections: Sections) -> tuple[Finding, ...]:
    """What is missing when a stream ends like this.

    One that ends where the task rests is whole: a2a-sdk's helpers ask for input without `final`.
    """
    if progress.is_final:
        return ()
    if is_resting(progress.state):
        text = f"the stream ended at {progress.state}, but no update had `final`"
        return (Finding(Severity.WARNING, sections.stream, "$", text),)
    last = f"; the last state was {progress.state}" if progress.state else ""
    return (_error(sections.stream, "$", f"the stream ended without a final update{last}"),)


def _check_identity(progress: Progress, result: Result, sections: Sections) -> list[Finding]:
    pairs = (
        ("taskId", progress.task_id, result.task_id),
        ("contextId", progress.context_id, result.context_id),
    )
    return [
        _error(sections.stream, "$.result", f"`{name}` changed from {before!r} to {after[:80]!r}")
        for name, before, after in pairs
        if before is not None and after is not None and before != after
    ]


def _check_state(before: str | None, result: Result, sections: Sections) -> list[Finding]:
    if result.state is None or (state := parse_state(result.state)) is None:
        return []
    found: list[Finding] = []
    if not is_legal(before, state):
        text = f"a task that is {before} cannot become {state}"
        found.append(_error(sections.task_state, "$.result.status.state", text))
    if result.kind == ResultKind.STATUS_UPDATE and is_terminal(state) and not result.is_final:
        text = f"the task is {state}, so this update is the last, but `final` is not true"
        found.append(Finding(Severity.WARNING, sections.status_update, "$.result.final", text))
    return found


def _check_time(progress: Progress, result: Result, sections: Sections) -> list[Finding]:
    before, after = progress.timestamp_ms, result.timestamp_ms
    if before is None or after is None or after >= before:
        return []
    text = f"the timestamp lies {before - after:.0f} ms before that of the update before"
    return [Finding(Severity.WARNING, sections.status, "$.result.status.timestamp", text)]


def _check_artifacts(progress: Progress, result: Result, sections: Sections) -> list[Finding]:
    """A chunk may be appended to an artifact that was begun and has not ended."""
    found: list[Finding] = []
    for chunk in result.artifacts:
        if not chunk.is_append:
            continue
        name = f"appends to artifact {chunk.artifact_id[:80]!r}"
        if progress.artifacts.get(chunk.artifact_id):
            found.append(_odd_chunk(f"{name} after its last chunk", sections))
        elif chunk.artifact_id not in progress.artifacts and not progress.is_continued:
            found.append(_odd_chunk(f"{name}, which no update has begun", sections))
    return found


def _odd_chunk(text: str, sections: Sections) -> Finding:
    return Finding(Severity.WARNING, sections.artifact_update, "$.result.append", text)


def _take_artifacts(progress: Progress, result: Result) -> Progress:
    # a task shows its artifacts as they are by now, and more chunks may follow
    chunks = {
        one.artifact_id: one.is_last and result.kind != ResultKind.TASK for one in result.artifacts
    }
    if chunks.items() <= progress.artifacts.items():
        return progress
    if len(progress.artifacts) >= MOST_ARTIFACTS:
        return replace(progress, artifacts={}, is_continued=True)
    return replace(progress, artifacts={**progress.artifacts, **chunks})


def _error(section: str, path: str, text: str) -> Finding:
    return Finding(Severity.ERROR, section, path, text)
