"""A task whose turn is not over: one log, and everybody who reads it."""

import asyncio
from collections.abc import Callable

from mock_server.tasks.log import StatusUpdate, Update, apply
from mock_server.tasks.task import Task


class LiveTask:
    """`task` is the fold of `updates`; readers wait for the log to grow or to end.

    `on_transition` is told of the task at each change of its status, before anything follows.
    """

    def __init__(self, task: Task, on_transition: Callable[[Task], None] | None = None) -> None:
        self.task = task
        self._on_transition = on_transition
        self.updates: list[Update] = []
        self._has_ended = asyncio.Event()
        self._has_grown: asyncio.Event | None = None

    @property
    def is_over(self) -> bool:
        return self._has_ended.is_set()

    def publish(self, update: Update) -> None:
        self.task = apply(self.task, update)
        self.updates.append(update)
        if isinstance(update, StatusUpdate):
            if self._on_transition:
                self._on_transition(self.task)
            if update.is_final:
                self._has_ended.set()
        if self._has_grown:
            self._has_grown.set()
            self._has_grown = None

    async def end(self) -> None:
        """Wait for the last update."""
        await self._has_ended.wait()

    async def growth_beyond(self, position: int) -> None:
        """Wait until there are more than `position` updates, or there will be no more."""
        while len(self.updates) <= position and not self.is_over:
            self._has_grown = self._has_grown or asyncio.Event()
            await self._has_grown.wait()
