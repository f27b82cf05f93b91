"""What a result tells of a task, read leniently: the four kinds of A2A 0.3 §7.2.1."""

from dataclasses import dataclass

from inspector.wire.states import is_resting, parse_state
from inspector.wire.timestamps import parse_timestamp
from inspector.wire.tree import Json, at, list_at, text_at

KINDS = ("task", "message", "status-update", "artifact-update")
PUSH_CONFIG = "push-config"


@dataclass(frozen=True, slots=True)
class ArtifactChunk:
    """One artifact, or a piece to append to it."""

    artifact_id: str
    name: str
    parts: tuple[Json, ...]
    is_append: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class Result:
    """`state` is the wire's spelling; `is_final` means nothing more will come of this exchange.

    `timestamp_ms` is the agent's own time of the status, since 1970 UTC.
    """

    kind: str
    task_id: str | None
    context_id: str | None
    state: str | None
    is_final: bool
    message_id: str | None
    parts: tuple[Json, ...]
    artifacts: tuple[ArtifactChunk, ...]
    timestamp_ms: float | None = None


def read_result(result: Json) -> Result:
    """Read `result` as what its `kind` says; an unknown kind as what its fields suggest."""
    match kind := _kind(result):
        case "task":
            return _from_status(result, kind, "id", _artifacts(result))
        case "status-update":
            return _from_status(result, kind, "taskId", ())
        case "artifact-update":
            return Result(
                kind=kind,
                task_id=text_at(result, "taskId"),
                context_id=text_at(result, "contextId"),
                state=None,
                is_final=False,
                message_id=None,
                parts=(),
                artifacts=(_chunk(result),),
            )
        case _:
            return Result(
                kind=kind,
                task_id=text_at(result, "taskId"),
                context_id=text_at(result, "contextId"),
                state=None,
                is_final=kind == "message",
                message_id=text_at(result, "messageId"),
                parts=tuple(list_at(result, "parts")),
                artifacts=(),
            )


def texts(parts: tuple[Json, ...]) -> tuple[str, ...]:
    """The text parts' texts."""
    return tuple(text for part in parts if (text := text_at(part, "text")) is not None)


def data_parts(parts: tuple[Json, ...]) -> tuple[Json, ...]:
    """The contents of the DataParts."""
    return tuple(part["data"] for part in parts if isinstance(part, dict) and "data" in part)


def _kind(result: Json) -> str:
    if (kind := text_at(result, "kind")) is not None:
        return kind
    if at(result, "artifact") is not None:
        return "artifact-update"
    if at(result, "status") is not None:
        return "task" if at(result, "id") is not None else "status-update"
    if at(result, "pushNotificationConfig") is not None:
        return PUSH_CONFIG
    return "message" if at(result, "parts") is not None else "unknown"


def _from_status(
    result: Json, kind: str, id_field: str, artifacts: tuple[ArtifactChunk, ...]
) -> Result:
    state = text_at(result, "status", "state")
    timestamp = text_at(result, "status", "timestamp")
    is_final = at(result, "final") is True
    if kind == "task":
        is_final = state is not None and is_resting(parse_state(state))
    return Result(
        kind=kind,
        task_id=text_at(result, id_field),
        context_id=text_at(result, "contextId"),
        state=state,
        is_final=is_final,
        message_id=text_at(result, "status", "message", "messageId"),
        parts=tuple(list_at(result, "status", "message", "parts")),
        artifacts=artifacts,
        timestamp_ms=None if timestamp is None else parse_timestamp(timestamp),
    )


def _artifacts(task: Json) -> tuple[ArtifactChunk, ...]:
    return tuple(
        ArtifactChunk(
            artifact_id=text_at(artifact, "artifactId") or "",
            name=text_at(artifact, "name") or "",
            parts=tuple(list_at(artifact, "parts")),
            is_append=False,
            is_last=True,
        )
        for artifact in list_at(task, "artifacts")
    )


def _chunk(update: Json) -> ArtifactChunk:
    artifact = at(update, "artifact")
    return ArtifactChunk(
        artifact_id=text_at(artifact, "artifactId") or "",
        name=text_at(artifact, "name") or "",
        parts=tuple(list_at(artifact, "parts")),
        is_append=at(update, "append") is True,
        is_last=at(update, "lastChunk") is True,
    )
