"""Which callbacks are told of which task."""

from collections import OrderedDict
from dataclasses import dataclass, replace

from mock_server.errors import PushRefused
from mock_server.tasks.push_config import PushConfig

MAX_CONFIGS_PER_TASK = 16
MAX_TASKS = 10_000


@dataclass(frozen=True, slots=True)
class Registration:
    """`config` as it was checked; `host` is what may be said of its URL."""

    task_id: str
    config: PushConfig
    host: str

    @property
    def config_id(self) -> str:
        return self.config.id or self.task_id


class Registrations:
    """By task, in order of registration; past `max_tasks` the task longest unheard of gives way."""

    def __init__(self, max_tasks: int = MAX_TASKS) -> None:
        self._max_tasks = max_tasks
        self._by_task: OrderedDict[str, dict[str, Registration]] = OrderedDict()

    def of(self, task_id: str) -> tuple[Registration, ...]:
        return tuple(self._by_task.get(task_id, {}).values())

    def touch(self, task_id: str) -> tuple[Registration, ...]:
        """As `of`, for a task that something happens to."""
        if task_id in self._by_task:
            self._by_task.move_to_end(task_id)
        return self.of(task_id)

    def add(self, task_id: str, config: PushConfig, host: str) -> Registration:
        """Register `config`; without an id it has the task's, and one of the same id is replaced.

        Raises:
            PushRefused: the task has as many as it may have.
        """
        registration = Registration(task_id, replace(config, id=config.id or task_id), host)
        registered = self._by_task.get(task_id, {})
        registered.pop(registration.config_id, None)
        if len(registered) >= MAX_CONFIGS_PER_TASK:
            raise PushRefused(f"the task has {MAX_CONFIGS_PER_TASK} configurations already")
        registered[registration.config_id] = registration
        self._by_task[task_id] = registered
        self._by_task.move_to_end(task_id)
        if len(self._by_task) > self._max_tasks:
            self._by_task.popitem(last=False)
        return registration

    def remove(self, task_id: str, config_id: str) -> None:
        registered = self._by_task.get(task_id, {})
        registered.pop(config_id, None)
        if not registered:
            self.forget(task_id)

    def forget(self, task_id: str) -> None:
        self._by_task.pop(task_id, None)

    def clear(self) -> None:
        self._by_task.clear()
