"""The mock's memory and its operations: the only place where anything changes.

Everything here runs on one event loop. What must not be interleaved is written without `await`:
above all from the look-up of a repeated message to the entry of the new one (TURN-5).
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import TracebackType
from typing import Self

from structlog.stdlib import get_logger

from mock_server.actions.runner import RunAction
from mock_server.dialogue.assistant import Assistant
from mock_server.profiles import RASA, Profile
from mock_server.push.notifier import Checked, Notifier
from mock_server.service.agent_version import AgentVersion
from mock_server.service.events import EventBus
from mock_server.service.push import PushOperations
from mock_server.service.runtime import Runtime
from mock_server.service.store import (
    Conversations,
    Limits,
    LiveTask,
    Snapshot,
    Subscription,
    TaskStore,
    TtlCache,
    snapshot,
)
from mock_server.service.turn import NO_ROOM, NOT_READY, Key, Memory, Traces, Turn, Turns
from mock_server.tasks.mapper import CancelReason
from mock_server.tasks.parts import Reading, read
from mock_server.tasks.task import Message, StatusUpdate, Task, continued, submitted
from mock_server.wire import jsonrpc
from mock_server.wire.operations import CallContext, CancelTask, GetTask, Resubscribe, SendMessage

logger = get_logger("a2a_server")
OUTPUT_MODES = ("text/plain", "application/json")
TASK_LIFETIME_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """`replay_seconds` is how long an answered message is remembered, from its answer on.

    0 is no limit for `timeout_seconds` and `max_contexts`, and no replay for `replay_seconds`.
    """

    replay_seconds: float = 600
    timeout_seconds: float = 600
    max_contexts: int = 1000
    profile: Profile = RASA


class Register:
    """Looks into the store; makes ids for what is new."""

    def __init__(self, store: TaskStore, runtime: Runtime, profile: Profile) -> None:
        self._store = store
        self._runtime = runtime
        self._profile = profile

    def find(self, task_id: str) -> LiveTask | Snapshot:
        """The task of that id.

        Raises:
            RpcError: there is none.
        """
        found = self._store.find(task_id)
        if found is None:
            raise jsonrpc.task_not_found()
        return found

    def context_of(self, message: Message) -> str:
        """The message's own context, that of the task it names, or a new one.

        Raises:
            RpcError: the task is unknown, or of another context.
        """
        if not message.task_id:
            return message.context_id or self._runtime.make_id()
        context_id = self._store.context_of(message.task_id)
        if context_id is None or message.context_id not in (context_id, None, ""):
            raise jsonrpc.unknown_task(message.task_id)
        return context_id

    def task_of(self, message: Message, context_id: str) -> Task:
        """A new task, or the one that the message names, where the profile goes on with it.

        Raises:
            RpcError: the named task does not wait for a message.
        """
        if not (message.task_id and self._profile.continues_tasks):
            return submitted(self._runtime.make_id(), context_id, message)
        match self.find(message.task_id):
            case LiveTask():
                raise jsonrpc.unsupported()
            case Snapshot(state=state) if state.is_terminal:
                raise jsonrpc.is_terminal(message.task_id, state)
            case Snapshot(task=task):
                return continued(task, message, self._runtime.now())


class Service:
    """Use as `async with`: on leaving, it waits for the turns that still run.

    `notifier` must outlive it; without one there is no push.
    """

    def __init__(
        self,
        agent: AgentVersion,
        runtime: Runtime,
        settings: ServiceSettings,
        notifier: Notifier | None = None,
        events: EventBus | None = None,
    ) -> None:
        self._agent = agent
        self._is_ready = True
        self._runtime = runtime
        self._settings = settings
        self.conversations = Conversations(settings.max_contexts)
        lifetime_seconds = max(TASK_LIFETIME_SECONDS, settings.replay_seconds)
        self._store = TaskStore(
            Limits(lifetime_seconds), runtime.elapsed_seconds, notifier and notifier.forget
        )
        self._register = Register(self._store, runtime, settings.profile)
        self.push = PushOperations(self._store, notifier, settings.profile)
        self._replays: TtlCache[Key] = TtlCache(
            Limits(settings.replay_seconds), runtime.elapsed_seconds
        )
        self._is_closing = False
        self.events = events or EventBus()
        self.traces = Traces()
        memory = Memory(self.conversations, self._store, self._replays, self.push, self.events)
        self._turns = Turns(runtime, memory, lambda: self._agent, settings.timeout_seconds)

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

    def load(self, agent: AgentVersion | None = None) -> None:
        """Let `agent`, or the one that there was, have the turns that come from now on."""
        self._agent = agent or self._agent
        self._is_ready = True

    def renew(self, assistant: Assistant, run_action: RunAction, *, tells_of_changes: bool) -> None:
        """Let the turns that begin from now on have another version of the project.

        `tells_of_changes`: a conversation in the midst of a changed flow hears of it, and begins
        anew; else it goes on where it is, if that is still there (RELOAD-1).
        """
        self._agent = self._agent.successor(
            assistant, run_action, tells_of_changes=tells_of_changes
        )

    def unload(self) -> None:
        """Fail the turns that come until a model is loaded; those that came go on (TURN-8)."""
        self._is_ready = False

    @property
    def is_loaded(self) -> bool:
        return self._is_ready

    @property
    def assistant(self) -> Assistant:
        return self._agent.assistant

    def reset(self) -> None:
        """Cancel what runs and forget every conversation, task, answer and trace."""
        self._turns.cancel_all(CancelReason.ORCHESTRATOR)
        for kept in (self.conversations, self._store, self.push, self._replays, self.traces):
            kept.clear()

    @property
    def profile(self) -> Profile:
        return self._settings.profile

    async def drain(self, seconds: float) -> None:
        """Take no more turns, give those that run `seconds` to end, and stop the others.

        What is to be posted then has `seconds` too.
        """
        self._is_closing = True
        self.events.close()
        await self._turns.drain(seconds)
        await self.push.drain(seconds)

    async def send(self, operation: SendMessage, call: CallContext) -> Snapshot:
        """Run a turn, or find the answer that it had, and return its task.

        Raises:
            RpcError: see `wire.jsonrpc`; `InFlight` if the first such message is being worked on.
        """
        begun = self._begin(operation, call, await self.push.check(operation.push_config))
        if isinstance(begun, Snapshot):
            return begun
        if operation.is_blocking:
            await begun.end()
        return self.get(GetTask(begun.task.id), call)

    async def stream(self, operation: SendMessage, call: CallContext) -> Subscription:
        """As `send`, but return what happens as it happens; a repeat has its last event only."""
        begun = self._begin(operation, call, await self.push.check(operation.push_config))
        if isinstance(begun, Snapshot):
            last = StatusUpdate(begun.task.status, is_final=True)
            return Subscription(begun.task, None, preface=(last,))
        if self.push.is_open or self._settings.profile.streams_begin_with_task:
            preface = (begun.task,)
            return Subscription(begun.task, begun, preface=preface, withholds_work=False)
        return Subscription(begun.task, begun)

    def get(self, operation: GetTask, call: CallContext) -> Snapshot:
        """The task as it is now, its whole history included."""
        match self._register.find(operation.task_id):
            case LiveTask(task=task):
                return snapshot(task, call.codec)
            case Snapshot() as settled:
                return settled

    def resubscribe(self, operation: Resubscribe) -> Subscription:
        """What happens from now on; of a task that waits for nobody, the task and no more."""
        match self._register.find(operation.task_id):
            case LiveTask() as live:
                return Subscription(live.task, live, position=len(live.updates))
            case Snapshot(state=state) if state.is_terminal:
                raise jsonrpc.is_terminal(operation.task_id, state)
            case Snapshot(task=task):
                return Subscription(task, None, preface=(task,))

    def cancel(self, operation: CancelTask, call: CallContext) -> Snapshot:
        """Cancel the turn that runs or waits in the queue, or the task that awaits an answer."""
        match self._register.find(operation.task_id):
            case LiveTask() as live:
                self._turns.cancel(live.task.id, CancelReason.ORCHESTRATOR)
            case Snapshot(context_id=context_id, state=state):
                conversation = self.conversations.find(context_id)
                resting = conversation and conversation.resting
                if not (conversation and resting and resting.task_id == operation.task_id):
                    raise jsonrpc.not_cancelable(state)
                self._turns.cancel_resting(conversation, resting)
        return self.get(GetTask(operation.task_id), call)

    def _begin(
        self, operation: SendMessage, call: CallContext, checked: Checked | None
    ) -> LiveTask | Snapshot:
        """Put the message in its context's queue, or find what it was answered with."""
        if not admits_output(operation.accepted_output_modes):
            raise jsonrpc.content_type_not_supported()
        message = operation.message
        key = (self._register.context_of(message), message.message_id)
        if self._turns.is_in_flight(key):
            logger.warning(
                "a2a_server.sanic_app.message_in_flight_conflict",
                context_id=key[0],
                message_id=key[1],
            )
            raise jsonrpc.InFlight(*key)
        return self._replays.find(key) or self._enqueue(
            key,
            read(message, operation.request_metadata),
            call,
            checked,
        )

    def _enqueue(
        self,
        key: Key,
        reading: Reading,
        call: CallContext,
        checked: Checked | None,
    ) -> LiveTask:
        if self._is_closing:
            raise jsonrpc.shutting_down()
        live = self._open(reading.message, key[0], call, checked)
        if not self._is_ready:
            return self._turns.refuse(live, NOT_READY, call)
        if not self.conversations.has_room_for(key[0]):
            return self._turns.refuse(live, NO_ROOM, call)
        conversation = self.conversations.enter(key[0], self._agent.assistant)
        turn = Turn(self._agent, self._runtime, conversation, live, call.handling)
        if trace_id := call.handling.trace_id:
            self.traces.keep(trace_id, turn)
        return self._turns.begin(turn, key, reading, call)

    def _open(
        self, message: Message, context_id: str, call: CallContext, checked: Checked | None
    ) -> LiveTask:
        task = self._register.task_of(message, context_id)
        self.push.open(task, call, checked)
        return LiveTask(task, self.push.tell)


def admits_output(modes: tuple[str, ...]) -> bool:
    """Whether one of the accepted `modes` admits what we send; none at all admits everything."""
    patterns = [mode.partition(";")[0].strip().lower() for mode in modes]
    return not patterns or any(
        fnmatchcase(offered, pattern) for offered in OUTPUT_MODES for pattern in patterns
    )
