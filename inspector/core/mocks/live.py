"""Live replay: at each change the turns of the conversation are sent again in a new context."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from inspector.core.commands import CancelTask, SendTurn
from inspector.core.entries import Entry, FrameReceived, Purpose
from inspector.core.mocks.replays import (
    CONTEXT_PREFIX,
    Names,
    Said,
    again,
    conversation,
    result_in,
)
from inspector.core.session import Session
from inspector.wire.states import is_terminal, parse_state


class LiveReplay:
    """`run` replays after each `trigger`; one that comes during a replay begins it anew.

    An agent keeps a context whose task waits for the user: what a replay left waiting is cancelled
    when the next one begins, or by `tidy`.
    """

    def __init__(self, session: Session, *, new_id: Callable[[], str]) -> None:
        self._session = session
        self._new_id = new_id
        self._has_changed = asyncio.Event()
        self._waiting: dict[str, str] = {}

    def trigger(self) -> None:
        """What the agent runs has changed."""
        self._has_changed.set()

    async def run(self) -> None:
        """Replay whenever something has changed, until cancelled."""
        while True:
            await self._has_changed.wait()
            self._has_changed.clear()
            async with asyncio.TaskGroup() as group:
                tidying = group.create_task(self.tidy())
                replaying = group.create_task(self._replay())
                stopping = group.create_task(self._stop_at_change(replaying))
                await asyncio.wait((replaying, tidying))
                stopping.cancel()

    async def tidy(self) -> None:
        """Cancel the tasks that earlier replays left waiting."""
        waiting, self._waiting = self._waiting, {}
        for context_id, task_id in waiting.items():
            await self._session.run(CancelTask(task_id, context_id))

    async def _stop_at_change(self, replaying: asyncio.Task[None]) -> None:
        await self._has_changed.wait()
        replaying.cancel()

    async def _replay(self) -> None:
        said = conversation(self._session.log.entries)
        names = Names(CONTEXT_PREFIX + self._new_id())
        for one in said:
            if one.request.purpose is not Purpose.CANCEL:
                names = await self._send(one, names)
            elif one.task_id is not None and one.task_id in names.tasks:
                await self._session.run(CancelTask(names.tasks[one.task_id], names.context_id))
                self._waiting.pop(names.context_id, None)

    async def _send(self, said: Said, names: Names) -> Names:
        """Send one turn and learn what its task is called this time."""
        turn, names = again(said, names, self._new_id(), self._new_id())
        listener = _Listener(names.context_id)
        unsubscribe = self._session.subscribe(listener.take)
        try:
            await self._session.run(SendTurn(turn))
        finally:
            unsubscribe()
            self._keep_waiting(listener)
        if listener.task_id is None or said.task_id is None:
            return names
        return replace(names, tasks={**names.tasks, said.task_id: listener.task_id})

    def _keep_waiting(self, listener: "_Listener") -> None:
        """Note the task that holds the context; a turn that was broken off may hold it, too."""
        if listener.task_id is not None and not is_terminal(listener.state):
            self._waiting[listener.context_id] = listener.task_id
        elif listener.task_id is not None:
            self._waiting.pop(listener.context_id, None)


class _Listener:
    """Hears which task a context has, and its state."""

    def __init__(self, context_id: str) -> None:
        self.context_id = context_id
        self.task_id: str | None = None
        self.state: str | None = None

    def take(self, entry: Entry) -> None:
        result = result_in(entry) if isinstance(entry, FrameReceived) else None
        if result is None or result.context_id != self.context_id:
            return
        self.task_id = result.task_id or self.task_id
        self.state = parse_state(result.state) if result.state is not None else self.state
