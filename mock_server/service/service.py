"""The mock's memory and its operations: the only place where anything changes.

Everything here runs on one event loop. What must not be interleaved is written without `await`:
above all from the look-up of a repeated message to the entry of the new one (TURN-5).
"""

import asyncio
import logging
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from types import TracebackType
from typing import Self

from mock_server.dialogue.commands import Noop
from mock_server.dialogue.engine import UserMessage
from mock_server.dialogue.state import initial_state
from mock_server.profiles import RASA, Profile
from mock_server.push.notifier import Checked, Notifier
from mock_server.service.conversation import Conversation
from mock_server.service.live_task import LiveTask
from mock_server.service.push_desk import PushDesk
from mock_server.service.refusal import NOT_READY, Refusal, refuse
from mock_server.service.replays import Key, Replays
from mock_server.service.store import Snapshot, TaskStore, snapshot
from mock_server.service.subscription import Subscription
from mock_server.service.turn import Brain, Turn
from mock_server.service.world import World
from mock_server.tasks.log import StatusUpdate, submitted
from mock_server.tasks.parts import Reading, read, seeds
from mock_server.tasks.report import CancelReason
from mock_server.tasks.task import Message, Task
from mock_server.wire import rpc_errors
from mock_server.wire.operations import CancelTask, GetTask, Resubscribe, SendMessage

logger = logging.getLogger("a2a_server")

OUTPUT_MODES = ("text/plain", "application/json")


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """`replay_seconds` is how long an answered message is remembered, from its answer on."""

    replay_seconds: float = 600
    profile: Profile = RASA


@dataclass(slots=True)
class _Running:
    turn: Turn
    key: Key
    runner: asyncio.Task[None] | None = None


class Service:
    """Use as `async with`: on leaving, it waits for the turns that still run.

    `notifier` must outlive it; without one there is no push.
    """

    def __init__(
        self,
        brain: Brain,
        world: World,
        settings: ServiceSettings,
        notifier: Notifier | None = None,
    ) -> None:
        self._brain = brain
        self._is_ready = True
        self._world = world
        self._settings = settings
        self._conversations: dict[str, Conversation] = {}
        self._store = TaskStore()
        self.push = PushDesk(self._store, notifier, settings.profile)
        self._replays = Replays(settings.replay_seconds, world.elapsed_seconds)
        self._running: dict[str, _Running] = {}
        self._in_flight: set[Key] = set()
        self._is_closing = False
        self._turns = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        await self._turns.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._turns.__aexit__(kind, error, traceback)

    def load(self, brain: Brain) -> None:
        """Let `brain` have the turns that come from now on."""
        self._brain = brain
        self._is_ready = True

    def unload(self) -> None:
        """Fail the turns that come until a brain is loaded; those that came go on (TURN-8)."""
        self._is_ready = False

    async def drain(self, seconds: float) -> None:
        """Take no more turns, give those that run `seconds` to end, and stop the others.

        What is to be posted then has `seconds` too.
        """
        self._is_closing = True
        runners = [running.runner for running in self._running.values() if running.runner]
        if runners:
            await asyncio.wait(runners, timeout=seconds)
        for late in [*self._running.values()]:
            self._cancel_running(late, CancelReason.TIMEOUT)
        await self.push.drain(seconds)

    async def send(self, operation: SendMessage) -> Snapshot:
        """Run a turn, or find the answer that it had, and return its task.

        Raises:
            RpcError: see `rpc_errors`; `InFlight` if the first such message is being worked on.
        """
        begun = self._begin(operation, await self.push.check(operation.push_config))
        if isinstance(begun, Snapshot):
            return begun
        if operation.is_blocking:
            await begun.end()
        return self.get(GetTask(begun.task.id))

    async def stream(self, operation: SendMessage) -> Subscription:
        """As `send`, but return what happens as it happens; a repeat has its last event only."""
        begun = self._begin(operation, await self.push.check(operation.push_config))
        if isinstance(begun, Snapshot):
            last = StatusUpdate(begun.task.status, is_final=True)
            return Subscription(begun.task, None, preface=(last,))
        if self.push.is_open or self._settings.profile.streams_begin_with_task:
            preface = (begun.task,)
            return Subscription(begun.task, begun, preface=preface, withholds_work=False)
        return Subscription(begun.task, begun)

    def get(self, operation: GetTask) -> Snapshot:
        """The task as it is now, its whole history included."""
        match self._found(operation.task_id):
            case LiveTask(task=task):
                return snapshot(task)
            case Snapshot() as settled:
                return settled

    def resubscribe(self, operation: Resubscribe) -> Subscription:
        """What happens from now on; of a task that waits for nobody, the task and no more."""
        match self._found(operation.task_id):
            case LiveTask() as live:
                return Subscription(live.task, live, position=len(live.updates))
            case Snapshot(state=state) if state.is_terminal:
                raise rpc_errors.is_terminal(operation.task_id, state)
            case Snapshot(task=task):
                return Subscription(task, None, preface=(task,))

    def cancel(self, operation: CancelTask) -> Snapshot:
        """Cancel the turn that runs or waits in the queue, or the task that awaits an answer."""
        match self._found(operation.task_id):
            case LiveTask() as live:
                self._cancel_running(self._running[live.task.id], CancelReason.ORCHESTRATOR)
            case Snapshot(context_id=context_id, state=state):
                conversation = self._conversations[context_id]
                resting = conversation.resting
                if resting is None or resting.id != operation.task_id:
                    raise rpc_errors.not_cancelable(state)
                self._cancel_resting(conversation, resting)
        return self.get(GetTask(operation.task_id))

    def _found(self, task_id: str) -> LiveTask | Snapshot:
        found = self._store.find(task_id)
        if found is None:
            raise rpc_errors.task_not_found()
        return found

    def _begin(self, operation: SendMessage, checked: Checked | None) -> LiveTask | Snapshot:
        """Put the message in its context's queue, or find what it was answered with."""
        if not _admits_output(operation.accepted_output_modes):
            raise rpc_errors.content_type_not_supported()
        message = replace(operation.message, context_id=self._context_of(operation.message))
        key = (message.context_id or "", message.message_id)
        if key in self._in_flight:
            logger.warning(
                "a2a_server.sanic_app.message_in_flight_conflict contextId=%s messageId=%s", *key
            )
            raise rpc_errors.InFlight(*key)
        return self._replays.find(key) or self._enqueue(
            key, read(message, operation.request_metadata), checked
        )

    def _context_of(self, message: Message) -> str:
        if not message.task_id:
            return message.context_id or self._world.make_id()
        context_id = self._store.context_of(message.task_id)
        if context_id is None or message.context_id not in (context_id, None, ""):
            raise rpc_errors.unknown_task(message.task_id)
        return context_id

    def _enqueue(self, key: Key, reading: Reading, checked: Checked | None) -> LiveTask:
        if self._is_closing:
            raise rpc_errors.shutting_down()
        live = self._open(reading.message, checked)
        if not self._is_ready:
            return self._refused(live, NOT_READY)
        task_id = live.task.id
        conversation = self._conversation(key[0])
        running = _Running(Turn(self._brain, self._world, conversation, live), key)
        self._running[task_id] = running
        self._in_flight.add(key)
        self._store.put(live)
        running.runner = self._turns.create_task(self._run(running, self._understood(reading)))
        return live

    def _open(self, message: Message, checked: Checked | None) -> LiveTask:
        task = submitted(self._world.make_id(), message, message.task_id)
        self.push.open(task, checked)
        return LiveTask(task, self.push.tell)

    def _refused(self, live: LiveTask, refusal: Refusal) -> LiveTask:
        """`live`, failed; a repeat of its message is tried anew (TURN-5a)."""
        logger.warning(refusal.log_event)
        refuse(live, refusal, self._brain.assistant, self._world)
        self._store.put(snapshot(live.task))
        return live

    def _conversation(self, context_id: str) -> Conversation:
        conversation = self._conversations.get(context_id)
        if conversation is None:
            conversation = Conversation(context_id, initial_state(self._brain.assistant))
            self._conversations[context_id] = conversation
        return conversation

    def _understood(self, reading: Reading) -> UserMessage:
        """Slots that come without a word are the whole turn (SLOT-6)."""
        seeded = seeds(self._brain.assistant, reading.slots)
        for skipped in seeded.skipped:
            logger.warning(
                "a2a_server.message_adapter.skip_slot.invalid_value slot=%s expected=%s",
                skipped.name,
                skipped.expected,
            )
        is_silent = reading.carries_slots and not reading.text.strip()
        return UserMessage(
            text="" if is_silent else reading.text,
            seeded_slots=seeded.slots,
            metadata=reading.metadata,
            commands=(Noop(),) if is_silent else None,
        )

    async def _run(self, running: _Running, message: UserMessage) -> None:
        async with running.turn.conversation.turns:
            await running.turn.run(message)
            self._settle(running)

    def _settle(self, running: _Running) -> None:
        """Keep the answer; runs in the same step as the last update, before any reader wakes."""
        turn, task = running.turn, running.turn.live.task
        if turn.has_started:
            turn.conversation.resting = None if task.status.state.is_terminal else task
        answer = snapshot(task)
        self._store.put(answer)
        self._replays.keep(running.key, answer)
        self._in_flight.discard(running.key)
        del self._running[task.id]

    def _cancel_running(self, running: _Running, reason: CancelReason) -> None:
        running.turn.cancel(reason)
        self._settle(running)
        if running.runner:
            running.runner.cancel()

    def _cancel_resting(self, conversation: Conversation, resting: Task) -> None:
        turn = Turn(self._brain, self._world, conversation, LiveTask(resting, self.push.tell))
        turn.has_started = True
        turn.cancel(CancelReason.ORCHESTRATOR)
        conversation.resting = None
        self._store.put(snapshot(turn.live.task))


def _admits_output(modes: tuple[str, ...]) -> bool:
    patterns = [mode.partition(";")[0].strip().lower() for mode in modes]
    return not patterns or any(
        fnmatchcase(offered, pattern) for offered in OUTPUT_MODES for pattern in patterns
    )
