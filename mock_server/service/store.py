"""Tasks by id: live while their turn goes on, then as the bytes that are sent.

A task is kept while its turn goes on and while it waits for the user's answer. After that it may
be forgotten: the oldest first, when it has reached its age or there are too many younger ones.
A forgotten task is unknown (-32001); the dialogue that it was a turn of goes on regardless.
"""

from collections.abc import Callable

from mock_server.service.live_task import LiveTask
from mock_server.service.shelf import Limits, Shelf
from mock_server.service.snapshot import Snapshot


class TaskStore:
    """Every task of this process that is not forgotten."""

    def __init__(
        self,
        limits: Limits,
        elapsed_seconds: Callable[[], float],
        on_forgotten: Callable[[str], None] | None = None,
    ) -> None:
        self._live: dict[str, LiveTask] = {}
        self._resting: dict[str, Snapshot] = {}
        self._settled: Shelf[str] = Shelf(limits, elapsed_seconds, on_forgotten)

    def find(self, task_id: str) -> LiveTask | Snapshot | None:
        return self._live.get(task_id) or self._resting.get(task_id) or self._settled.find(task_id)

    def begin(self, live: LiveTask) -> None:
        self._live[live.task.id] = live

    def rest(self, snapshot: Snapshot) -> None:
        """The turn is over, and the task waits for the user's answer."""
        self._live.pop(snapshot.task_id, None)
        self._resting[snapshot.task_id] = snapshot

    def settle(self, snapshot: Snapshot) -> None:
        """Nothing more is expected to happen to the task."""
        self._live.pop(snapshot.task_id, None)
        self._resting.pop(snapshot.task_id, None)
        self._settled.put(snapshot.task_id, snapshot)

    def clear(self) -> None:
        self._live.clear()
        self._resting.clear()
        self._settled.clear()

    def context_of(self, task_id: str) -> str | None:
        """The context of a known task."""
        match self.find(task_id):
            case None:
                return None
            case Snapshot(context_id=context_id):
                return context_id
            case LiveTask(task=task):
                return task.context_id
