"""Messages, tasks and updates on the 0.3 wire: keys as a2a-sdk 0.3.26 orders them, no nulls."""

from datetime import datetime

from a2a.compat.v0_3 import types

from mock_server.dialogue.model import Json
from mock_server.tasks.json_text import encode_json, parse_json
from mock_server.tasks.log import StatusUpdate, Update
from mock_server.tasks.task import (
    Artifact,
    DataPart,
    FilePart,
    Message,
    Part,
    Role,
    Status,
    Task,
    TaskState,
    TextPart,
)


def encode_task(task: Task) -> bytes:
    return encode_json(
        _without_nulls(
            {
                "artifacts": [_artifact(artifact) for artifact in task.artifacts] or None,
                "contextId": task.context_id,
                "history": [_message(message) for message in task.history],
                "id": task.id,
                "kind": "task",
                "metadata": dict(task.metadata) or None,
                "status": _status(task.status),
            }
        )
    )


def encode_update(task_id: str, context_id: str, update: Update) -> bytes:
    if isinstance(update, StatusUpdate):
        fields: dict[str, Json] = {
            "contextId": context_id,
            "final": update.is_final,
            "kind": "status-update",
            "status": _status(update.status),
            "taskId": task_id,
        }
    else:
        fields = {
            "append": update.appends or None,
            "artifact": _artifact(update.artifact),
            "contextId": context_id,
            "kind": "artifact-update",
            "lastChunk": update.is_last_chunk or None,
            "taskId": task_id,
        }
    return encode_json(_without_nulls(fields))


def with_history(encoded_task: bytes, length: int | None) -> bytes:
    """Keep the last `length` messages of the history; 0 leaves it out, None and less keep all."""
    if length is None or length < 0:
        return encoded_task
    match parse_json(encoded_task):
        case {"history": list() as history, **rest} if len(history) > length:
            kept: dict[str, Json] = {"history": history[-length:]} if length else {}
            return encode_json(dict(sorted({**rest, **kept}.items())))
        case _:
            return encoded_task


def decode_task(encoded: bytes) -> Task:
    """The task that `encode_task` wrote."""
    task = types.Task.model_validate(parse_json(encoded))
    return Task(
        id=task.id,
        context_id=task.context_id,
        status=_read_status(task.status),
        history=tuple(decode_message(message) for message in task.history or ()),
        artifacts=tuple(
            Artifact(artifact.artifact_id, _parts(artifact.parts), artifact.name)
            for artifact in task.artifacts or ()
        ),
        metadata=task.metadata or {},
    )


def decode_message(message: types.Message) -> Message:
    return Message(
        message_id=message.message_id,
        role=Role(message.role.value),
        parts=_parts(message.parts),
        context_id=message.context_id,
        task_id=message.task_id,
        metadata=message.metadata,
        extensions=_tuple(message.extensions),
        reference_task_ids=_tuple(message.reference_task_ids),
    )


def _status(status: Status) -> Json:
    at = status.timestamp
    return _without_nulls(
        {
            "message": status.message and _message(status.message),
            "state": status.state.value.replace("_", "-"),
            "timestamp": at and at.isoformat(timespec="microseconds"),
        }
    )


def _message(message: Message) -> Json:
    references = message.reference_task_ids
    return _without_nulls(
        {
            "contextId": message.context_id,
            "extensions": None if message.extensions is None else [*message.extensions],
            "kind": "message",
            "messageId": message.message_id,
            "metadata": None if message.metadata is None else dict(message.metadata),
            "parts": [_part(part) for part in message.parts],
            "referenceTaskIds": None if references is None else [*references],
            "role": message.role.value,
            "taskId": message.task_id,
        }
    )


def _artifact(artifact: Artifact) -> Json:
    return _without_nulls(
        {
            "artifactId": artifact.artifact_id,
            "name": artifact.name,
            "parts": [_part(part) for part in artifact.parts],
        }
    )


def _part(part: Part) -> Json:
    metadata = None if part.metadata is None else dict(part.metadata)
    if isinstance(part, TextPart):
        return _without_nulls({"kind": "text", "metadata": metadata, "text": part.text})
    if isinstance(part, DataPart):
        return _without_nulls({"data": dict(part.data), "kind": "data", "metadata": metadata})
    return _without_nulls({"file": dict(part.file), "kind": "file", "metadata": metadata})


def _without_nulls(fields: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in fields.items() if value is not None}


def _read_status(status: types.TaskStatus) -> Status:
    return Status(
        state=TaskState(status.state.value.replace("-", "_")),
        timestamp=datetime.fromisoformat(status.timestamp) if status.timestamp else None,
        message=decode_message(status.message) if status.message else None,
    )


def _parts(parts: list[types.Part]) -> tuple[Part, ...]:
    return tuple(_read_part(part.root) for part in parts)


def _read_part(part: types.TextPart | types.FilePart | types.DataPart) -> Part:
    if isinstance(part, types.TextPart):
        return TextPart(part.text, part.metadata)
    if isinstance(part, types.DataPart):
        return DataPart(part.data, part.metadata)
    return FilePart(part.file.model_dump(mode="json", exclude_none=True), part.metadata)


def _tuple(items: list[str] | None) -> tuple[str, ...] | None:
    return None if items is None else tuple(items)
