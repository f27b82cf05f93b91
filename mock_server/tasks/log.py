"""A task as the fold of its updates, with the history that a2a-sdk's task manager keeps."""

from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from mock_server.errors import IllegalTransition
from mock_server.records import record
from mock_server.tasks.task import Artifact, Message, Status, Task, TaskState


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
