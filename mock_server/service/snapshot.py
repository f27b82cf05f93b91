"""A task as the bytes that are sent of it."""

from mock_server.records import record
from mock_server.tasks.task import Task, TaskState
from mock_server.wire.v0_3 import decode_task, encode_task


@record
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
