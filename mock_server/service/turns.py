"""The turns that wait in a queue or run: how they begin, and every way in which they end."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeAlias

from structlog.stdlib import get_logger

from mock_server.service.brain import Brain
from mock_server.service.conversation import Conversation
from mock_server.service.conversations import Conversations
from mock_server.service.feed import Feed
from mock_server.service.live_task import LiveTask
from mock_server.service.push_desk import PushDesk
from mock_server.service.refusal import TOKEN_EXPIRED, Refusal, refuse
from mock_server.service.shelf import Shelf
from mock_server.service.snapshot import Snapshot, snapshot
from mock_server.service.store import TaskStore
from mock_server.service.turn import Turn
from mock_server.service.world import World
from mock_server.tasks.parts import Reading
from mock_server.tasks.report import CancelReason

logger = get_logger("a2a_server")

Key: TypeAlias = tuple[str, str]
"""What tells a repeated message: its contextId and messageId (TURN-5)."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Where the outcome of a turn goes."""

    conversations: Conversations
    store: TaskStore
    replays: Shelf[Key]
    push: PushDesk
    feed: Feed


@dataclass(slots=True)
class _Running:
    turn: Turn
    key: Key
    authorized_until: float | None
    runner: asyncio.Task[None] | None = None
    stop_timer: Callable[[], None] | None = None


class Turns:
    """Use as `async with`: on leaving, it waits for the turns that still run.

    `current_brain` is asked when a turn begins to run, not when it is queued.
    """

    def __init__(
        self,
        world: World,
        memory: Memory,
        current_brain: Callable[[], Brain],
        timeout_seconds: float,
    ) -> None:
        self._world = world
        self._memory = memory
        self._current_brain = current_brain
        self._timeout_seconds = timeout_seconds
        self._running: dict[str, _Running] = {}
        self._in_flight: set[Key] = set()
        self._group = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._group.__aexit__(kind, error, traceback)

    def is_in_flight(self, key: Key) -> bool:
        return key in self._in_flight

    def begin(
        self, turn: Turn, key: Key, reading: Reading, authorized_until: float | None
    ) -> LiveTask:
        """Put `turn` in its conversation's queue."""
        running = _Running(turn, key, authorized_until)
        self._running[turn.live.task.id] = running
        self._in_flight.add(key)
        self._memory.store.begin(turn.live)
        running.runner = self._group.create_task(self._run(running, reading))
        return turn.live

    def refuse(self, live: LiveTask, refusal: Refusal) -> LiveTask:
        """`live`, failed; a repeat of its message is tried anew (TURN-5a)."""
        refuse(live, refusal, self._current_brain().assistant, self._world)
        answer = snapshot(live.task)
        self._memory.store.settle(answer)
        self._announce(answer)
        return live

    def cancel(self, task_id: str, reason: CancelReason) -> None:
        """Cancel the turn of `task_id`, which is queued or runs."""
        self._cancel(self._running[task_id], reason)

    def cancel_all(self, reason: CancelReason) -> None:
        for running in [*self._running.values()]:
            self._cancel(running, reason)

    def cancel_resting(self, conversation: Conversation, resting: Snapshot) -> None:
        """Cancel the task in which `conversation` waits for the user."""
        memory = self._memory
        live = LiveTask(resting.task, memory.push.tell)
        turn = Turn(self._current_brain(), self._world, conversation, live)
        turn.has_started = True
        turn.cancel(CancelReason.ORCHESTRATOR)
        conversation.resting = None
        memory.store.settle(snapshot(live.task))
        memory.conversations.release(conversation)

    async def drain(self, seconds: float) -> None:
        """Give those that run `seconds` to end, and stop the others."""
        runners = [running.runner for running in self._running.values() if running.runner]
        if runners:
            await asyncio.wait(runners, timeout=seconds)
        self.cancel_all(CancelReason.TIMEOUT)

    async def _run(self, running: _Running, reading: Reading) -> None:
        conversation = running.turn.conversation
        async with conversation.turns:
            brain = self._current_brain()
            until = running.authorized_until
            if until is not None and until <= self._world.now().timestamp():
                refuse(running.turn.live, TOKEN_EXPIRED, brain.assistant, self._world)
                self._settle(running, is_replayable=False)
                return
            self._supersede(conversation, running.turn.live.task.id)
            self._start_timer(running)
            await running.turn.run(brain, reading)
            self._settle(running)

    def _supersede(self, conversation: Conversation, task_id: str) -> None:
        """The task that waited has its answer, and stays as it is unless it goes on (TURN-2a)."""
        resting, conversation.resting = conversation.resting, None
        if resting and resting.task_id != task_id:
            self._memory.store.settle(resting)

    def _start_timer(self, running: _Running) -> None:
        if self._timeout_seconds > 0:
            running.stop_timer = self._world.start_timer(
                self._timeout_seconds, lambda: self._time_out(running)
            )

    def _time_out(self, running: _Running) -> None:
        task = running.turn.live.task
        logger.warning(
            "a2a_server.rasa_a2a_agent_executor.task_timeout",
            task_id=task.id,
            context_id=task.context_id,
            seconds=self._timeout_seconds,
        )
        self._cancel(running, CancelReason.TIMEOUT)

    def _cancel(self, running: _Running, reason: CancelReason) -> None:
        turn, resting = running.turn, running.turn.conversation.resting
        if resting and resting.task_id == turn.live.task.id:
            # It was to go on with the task that waits, and ends with it.
            turn.has_started = True
            turn.conversation.resting = None
        turn.cancel(reason)
        self._settle(running)
        if running.runner:
            running.runner.cancel()

    def _settle(self, running: _Running, *, is_replayable: bool = True) -> None:
        """Keep the answer; runs in the same step as the last update, before any reader wakes."""
        if running.stop_timer:
            running.stop_timer()
        memory, conversation = self._memory, running.turn.conversation
        answer = snapshot(running.turn.live.task)
        if answer.state.is_terminal or not running.turn.has_started:
            memory.store.settle(answer)
        else:
            memory.store.rest(answer)
            conversation.resting = answer
        if is_replayable:
            memory.replays.put(running.key, answer)
        self._in_flight.discard(running.key)
        del self._running[answer.task_id]
        memory.conversations.leave(conversation)
        self._announce(answer)

    def _announce(self, answer: Snapshot) -> None:
        self._memory.feed.publish(
            "turn",
            lambda: {
                "task": answer.task_id,
                "context": answer.context_id,
                "state": answer.state.value,
            },
        )
