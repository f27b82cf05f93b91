"""A task whose turn is not over, and the streams that follow it."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from mock_server.tasks.task import ArtifactUpdate, StatusUpdate, Task, Update, apply

Occurrence: TypeAlias = Task | Update


class LiveTask:
    """`task` is the fold of `updates`; readers wait for the log to grow or to end.

    `on_transition` gets the task at each change of its status, before anything follows.
    """

    __slots__ = ("_growth", "_on_transition", "is_over", "task", "updates")

    def __init__(self, task: Task, on_transition: Callable[[Task], None] | None = None) -> None:
        self.task = task
        self._on_transition = on_transition
        self.updates: list[Update] = []
        self.is_over = False
        self._growth: asyncio.Event | None = None

    def publish(self, update: Update) -> None:
        self.task = apply(self.task, update)
        self.updates.append(update)
        if isinstance(update, StatusUpdate):
            if self._on_transition:
                self._on_transition(self.task)
            self.is_over = update.is_final
        if self._growth:
            self._growth.set()
            self._growth = None

    async def end(self) -> None:
        """Wait for the last update."""
        while not self.is_over:
            await self._grown()

    async def growth_beyond(self, position: int) -> None:
        """Wait until there are more than `position` updates, or there will be no more."""
        while len(self.updates) <= position and not self.is_over:
            await self._grown()

    async def _grown(self) -> None:
        self._growth = self._growth or asyncio.Event()
        await self._growth.wait()


class Subscription:
    """What is left to say is `preface`, then the updates of `live` from `position` on.

    One that withholds work shows that it goes on only once there is an artifact (TURN-11).
    """

    def __init__(
        self,
        task: Task,
        live: LiveTask | None,
        *,
        position: int = 0,
        preface: tuple[Occurrence, ...] = (),
        withholds_work: bool = True,
    ) -> None:
        self.task_id = task.id
        self.context_id = task.context_id
        self._live = live
        self._position = position
        self._preface = preface
        self._withheld: list[Occurrence] | None = [] if withholds_work else None

    @property
    def is_over(self) -> bool:
        live = self._live
        has_said_all = live is None or (live.is_over and self._position >= len(live.updates))
        return has_said_all and not self._preface

    async def next(self, timeout_seconds: float) -> list[Occurrence]:
        """What is new; nothing if that takes longer than `timeout_seconds` or all is said."""
        try:
            async with asyncio.timeout(timeout_seconds):
                while not self.is_over:
                    if occurrences := self._take():
                        return occurrences
                    if self._live:
                        await self._live.growth_beyond(self._position)
        except TimeoutError:
            pass
        return []

    def _take(self) -> list[Occurrence]:
        taken = [*self._preface]
        self._preface = ()
        for update in self._live.updates[self._position :] if self._live else ():
            self._position += 1
            taken += self._shown(update)
        return taken

    def _shown(self, update: Update) -> list[Occurrence]:
        if self._withheld is None:
            return [update]
        match update:
            case StatusUpdate(is_final=False):
                self._withheld.append(update)
                return []
            case StatusUpdate():
                return [update]
            case ArtifactUpdate():
                shown, self._withheld = [*self._withheld, update], None
                return shown
