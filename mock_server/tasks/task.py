"""A2A tasks and messages as the mock holds them, free of any protocol version's spelling."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from mock_server.dialogue.model import Json
from mock_server.records import record


class TaskState(StrEnum):
    """Spelt as in the DataPart; the wire has its own spelling (server.md OUT-3)."""

    SUBMITTED = "submitted"
    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    REJECTED = "rejected"
    AUTH_REQUIRED = "auth_required"

    @property
    def is_terminal(self) -> bool:
        return self in TERMINAL_STATES


TERMINAL_STATES = frozenset(
    {TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED}
)


class Role(StrEnum):
    USER = "user"
    AGENT = "agent"


@record
class TextPart:
    text: str
    metadata: Mapping[str, Json] | None = None


@record
class DataPart:
    data: Mapping[str, Json]
    metadata: Mapping[str, Json] | None = None


@record
class FilePart:
    """`file` as it came: `uri` or base64 `bytes`, `name`, `mimeType`; the mock never opens it."""

    file: Mapping[str, Json]
    metadata: Mapping[str, Json] | None = None


Part: TypeAlias = TextPart | DataPart | FilePart


@record
class Message:
    """`context_id` and `task_id` are None where a client left them out."""

    message_id: str
    role: Role
    parts: tuple[Part, ...]
    context_id: str | None = None
    task_id: str | None = None
    metadata: Mapping[str, Json] | None = None
    extensions: tuple[str, ...] | None = None
    reference_task_ids: tuple[str, ...] | None = None


@record
class Status:
    """`timestamp` is UTC; a task that only was submitted has none, as a2a-sdk 0.3.26 sends it."""

    state: TaskState
    timestamp: datetime | None = None
    message: Message | None = None


@record
class Artifact:
    artifact_id: str
    parts: tuple[Part, ...]
    name: str | None = None


@record
class Task:
    id: str
    context_id: str
    status: Status
    history: tuple[Message, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
