"""A2A tasks and messages as the mock holds them, free of any protocol version's spelling."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from mock_server.dialogue.model import Json
from mock_server.errors import IllegalTransition
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


@record
class StatusUpdate:
    """`is_final`: nothing follows it in this turn (A2A 0.3 `final`)."""

    status: Status
    is_final: bool = False


@record
class ArtifactUpdate:
    """`appends` adds the parts to the artifact of that id, else they begin it anew."""

    artifact: Artifact
    appends: bool = False
    is_last_chunk: bool = False


Update: TypeAlias = StatusUpdate | ArtifactUpdate


def submitted(task_id: str, context_id: str, message: Message) -> Task:
    """The task that `message` opens; one that it names is a task before it."""
    stamped = replace(message, task_id=task_id, context_id=context_id)
    return Task(
        id=task_id,
        context_id=context_id,
        status=Status(TaskState.SUBMITTED),
        history=(stamped,),
        metadata={"previousTaskId": message.task_id} if message.task_id else {},
    )


def continued(task: Task, message: Message, at: datetime) -> Task:
    """Return `task` as it goes on with `message`; what it asked moves to the history."""
    asked = (task.status.message,) if task.status.message else ()
    stamped = replace(message, task_id=task.id, context_id=task.context_id)
    return replace(
        task, status=Status(TaskState.WORKING, at), history=(*task.history, *asked, stamped)
    )


def apply(task: Task, update: Update) -> Task:
    """Return `task` after `update`; a status message that is replaced moves to the history.

    Raises:
        IllegalTransition: `task` is already terminal.
    """
    if task.status.state.is_terminal:
        raise IllegalTransition(task.id, task.status.state)
    match update:
        case StatusUpdate(status=status):
            replaced = (task.status.message,) if task.status.message else ()
            history = (*task.history, *replaced)
            # Two of these a turn: `replace` would take five times as long.
            return Task(task.id, task.context_id, status, history, task.artifacts, task.metadata)
        case ArtifactUpdate():
            return replace(task, artifacts=_with_artifact(task.artifacts, update))


def _with_artifact(artifacts: tuple[Artifact, ...], update: ArtifactUpdate) -> tuple[Artifact, ...]:
    new = update.artifact
    if all(artifact.artifact_id != new.artifact_id for artifact in artifacts):
        return (*artifacts, new)
    return tuple(
        _extended(artifact, update) if artifact.artifact_id == new.artifact_id else artifact
        for artifact in artifacts
    )


def _extended(artifact: Artifact, update: ArtifactUpdate) -> Artifact:
    if not update.appends:
        return update.artifact
    return replace(artifact, parts=(*artifact.parts, *update.artifact.parts))


@dataclass(frozen=True, slots=True)
class PushAuthentication:
    """How the callback knows us; the first of `schemes` is used."""

    schemes: tuple[str, ...]
    credentials: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class PushConfig:
    """`id` is None until it is registered; a URL may hold a secret, so none of it is shown."""

    url: str = field(repr=False)
    id: str | None = None
    token: str | None = field(default=None, repr=False)
    authentication: PushAuthentication | None = None
