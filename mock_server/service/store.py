"""Tasks by id: live while their turn goes on, then as the bytes that are sent."""

from dataclasses import dataclass

from mock_server.service.live_task import LiveTask
from mock_server.tasks.task import Task, TaskState
from mock_server.wire.v03_tasks import decode_task, encode_task


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A task at one moment; `encoded` is how the 0.3 wire shows it.

    Bytes take half the memory of objects and cost the garbage collector nothing.
    """

    task_id: str
    context_id: str
    state: TaskState
    encoded: bytes

    @property
    def task(self) -> Task:
        return decode_task(self.encoded)


def snapshot(task: Task) -> Snapshot:
    # orjson's bytes keep the 4 KiB that they were written into; a copy is as long as it says.
    encoded = bytes(memoryview(encode_task(task)))
    return Snapshot(task.id, task.context_id, task.status.state, encoded)


class TaskStore:
    """Every task of this process."""

    def __init__(self) -> None:
        self._tasks: dict[str, LiveTask | Snapshot] = {}

    def find(self, task_id: str) -> LiveTask | Snapshot | None:
        return self._tasks.get(task_id)

    def put(self, task: LiveTask | Snapshot) -> None:
        task_id = task.task_id if isinstance(task, Snapshot) else task.task.id
        self._tasks[task_id] = task

    def context_of(self, task_id: str) -> str | None:
        """The context of a known task."""
        match self.find(task_id):
            case None:
                return None
            case Snapshot(context_id=context_id):
                return context_id
            case LiveTask(task=task):
                return task.context_id
