"""The mock's operations: the only place where anything changes.

Everything here runs on one event loop. What must not be interleaved is written without `await`:
above all from the look-up of a repeated message to the entry of the new one (TURN-5).
"""

import asyncio
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import TracebackType
from typing import Self

from structlog.stdlib import get_logger

from mock_server.actions.runner import RunAction
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.state import event_bytes
from mock_server.errors import PushRefused
from mock_server.profiles import RASA, Profile
from mock_server.push.notifier import Checked, Notifier
from mock_server.service.conversation import AgentVersion, Conversation
from mock_server.service.events import EventBus
from mock_server.service.runtime import Runtime
from mock_server.service.store import (
    MAX_KEPT_BYTES,
    HappenedTurn,
    Key,
    LiveTask,
    Snapshot,
    Store,
    StoreLimits,
    Subscription,
    Trace,
    snapshot,
)
from mock_server.service.turn import (
    NO_ROOM,
    NOT_READY,
    TOKEN_EXPIRED,
    Deadlines,
    Refusal,
    Turn,
    refuse,
)
from mock_server.tasks.mapper import CancelReason
from mock_server.tasks.task import (
    Message,
    PushConfig,
    Reading,
    StatusUpdate,
    Task,
    continued,
    read,
    submitted,
)
from mock_server.wire import jsonrpc
from mock_server.wire.operations import (
    Answer,
    Answered,
    CallContext,
    CancelTask,
    DeletePushConfig,
    GetExtendedCard,
    GetPushConfig,
    GetTask,
    ListPushConfigs,
    PushOperation,
    Resubscribe,
    SendMessage,
    SetPushConfig,
    Streamed,
    StreamMessage,
    TaskAnswer,
    TaskPushConfig,
)

logger = get_logger("a2a_server")
EVENT_BYTES = 200
OUTPUT_MODES = ("text/plain", "application/json")


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """`replay_seconds` is how long an answered message is remembered, from its answer on.

    0 is no limit for `timeout_seconds` and `max_contexts`, and no replay for `replay_seconds`.
    `max_kept_bytes` is for each kind of thing that the store keeps.
    """

    replay_seconds: float = 600
    timeout_seconds: float = 600
    max_contexts: int = 1000
    profile: Profile = RASA
    max_kept_bytes: int = MAX_KEPT_BYTES


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
        self._runtime = runtime
        self._settings = settings
        limits = StoreLimits(
            settings.replay_seconds, settings.max_contexts, max_bytes=settings.max_kept_bytes
        )
        self.store = Store(limits, runtime.elapsed_seconds, notifier and notifier.forget)
        self.push = PushOperations(self.store, notifier, settings.profile)
        self._notify = notifier.notify if notifier else None
        self.events = events or EventBus()
        self._is_ready = True
        self._is_closing = False
        self._turns: dict[str, Turn] = {}
        self._in_flight: set[Key] = set()
        self._deadlines = Deadlines(runtime, settings.timeout_seconds, self._time_out)
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

    def load(self) -> None:
        """Let the agent have the turns that come from now on."""
        self._is_ready = True

    def renew(self, assistant: Assistant, run_action: RunAction, *, reports_changes: bool) -> None:
        """Let the turns that begin from now on have another version of the project.

        `reports_changes`: a conversation in the middle of a changed flow starts over; else it
        goes on where it is, if that is still there (RELOAD-1).
        """
        self._agent = self._agent.successor(assistant, run_action, reports_changes=reports_changes)

    def unload(self) -> None:
        """Fail the turns that come until a model is loaded; those that came go on (TURN-8)."""
        self._is_ready = False

    @property
    def is_loaded(self) -> bool:
        return self._is_ready

    @property
    def assistant(self) -> Assistant:
        return self._agent.assistant

    @property
    def profile(self) -> Profile:
        return self._settings.profile

    def reset(self) -> None:
        """Cancel what runs and forget every conversation, task, answer and trace."""
        self._cancel_all(CancelReason.ORCHESTRATOR)
        self.store.clear()
        self.push.clear()

    async def drain(self, seconds: float) -> None:
        """Take no more turns, give those that run `seconds` to end, and stop the others.

        Notifications that are not posted by then have `seconds` too.
        """
        self._is_closing = True
        self.events.close()
        runners = [turn.runner for turn in self._turns.values() if turn.runner]
        if runners:
            await asyncio.wait(runners, timeout=seconds)
        self._cancel_all(CancelReason.TIMEOUT)
        await self.push.drain(seconds)

    async def answer(self, operation: Answered, call: CallContext) -> Answer:
        """The answer to `operation`, a task as the caller's codec writes it.

        Raises:
            RpcError: see `jsonrpc`; `InFlight` if the message is being worked on.
        """
        codec = call.codec
        match operation:
            case SendMessage():
                sent = await self.send(operation, call)
                return TaskAnswer(sent.encoded_by(codec), operation.history_length)
            case GetTask():
                found = self.get(operation, call)
                return TaskAnswer(found.encoded_by(codec), operation.history_length)
            case CancelTask():
                return TaskAnswer(self.cancel(operation, call).encoded_by(codec))
            case SetPushConfig() | GetPushConfig() | ListPushConfigs() | DeletePushConfig():
                return await self.push.answer(operation, call)
            case GetExtendedCard():
                if self.profile.names_missing_extended_card:
                    raise jsonrpc.extended_card_not_configured()
                raise jsonrpc.no_extended_card()

    async def follow(self, operation: Streamed, call: CallContext) -> Subscription:
        """What happens to the task of `operation`, as it happens. Raises as `answer` does."""
        match operation:
            case StreamMessage(turn=turn):
                return await self.stream(turn, call)
            case Resubscribe():
                return self.resubscribe(operation)

    async def send(self, operation: SendMessage, call: CallContext) -> Snapshot:
        """Run a turn, or find the answer that it had, and return its task."""
        checked = await self.push.check(operation.push_config)
        begun = self._begin(operation, call, checked, is_blocking=operation.is_blocking)
        if isinstance(begun, Snapshot):
            return begun
        if operation.is_blocking:
            await begun.end()
        return begun.answer or snapshot(begun.task, call.codec)

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
        match self._find(operation.task_id):
            case LiveTask(task=task):
                return snapshot(task, call.codec)
            case Snapshot() as settled:
                return settled

    def resubscribe(self, operation: Resubscribe) -> Subscription:
        """What happens from now on; of a task that waits for nobody, the task and no more."""
        match self._find(operation.task_id):
            case LiveTask() as live:
                return Subscription(live.task, live, position=len(live.updates))
            case Snapshot(state=state) if state.is_terminal:
                raise jsonrpc.is_terminal(operation.task_id, state)
            case Snapshot(task=task):
                return Subscription(task, None, preface=(task,))

    def cancel(self, operation: CancelTask, call: CallContext) -> Snapshot:
        """Cancel the turn that runs or waits in the queue, or the task that awaits an answer."""
        task_id = operation.task_id
        match self._find(task_id):
            case LiveTask():
                turn = self._turns[task_id]
                turn.trace = self._keep_trace(call, turn.live.task, turn.trace)
                self._cancel(turn, CancelReason.ORCHESTRATOR)
            case Snapshot(context_id=context_id, state=state) as answered:
                conversation = self.store.conversation(context_id)
                if conversation is None or conversation.open_task_id != task_id:
                    raise jsonrpc.not_cancelable(state)
                self._cancel_open(conversation, answered, call)
        return self.get(GetTask(task_id), call)

    def _begin(
        self,
        operation: SendMessage,
        call: CallContext,
        checked: Checked | None,
        *,
        is_blocking: bool = False,
    ) -> LiveTask | Snapshot:
        """Put the message in its context's queue, or find what it was answered with."""
        if not _admits_output(operation.accepted_output_modes):
            raise jsonrpc.content_type_not_supported()
        message = operation.message
        key = (self._context_of(message), message.message_id)
        if key in self._in_flight:
            logger.warning(
                "a2a_server.sanic_app.message_in_flight_conflict",
                context_id=key[0],
                message_id=key[1],
            )
            raise jsonrpc.InFlight(*key)
        if answered := self.store.answer(key):
            return answered
        if self._is_closing:
            raise jsonrpc.shutting_down()
        reading = read(message, operation.request_metadata)
        task = self._task_of(reading.message, key[0])
        refusal = self._refusal(key[0])
        if refusal and task.id == message.task_id:
            # The task that waits for this message goes on waiting: a repeat continues it.
            task = submitted(self._runtime.make_id(), key[0], reading.message)
        self.push.open(task, call, checked)
        live = LiveTask(task, self._notify)
        if refusal:
            return self._refuse(live, call, refusal)
        self._enqueue(live, call, key, reading, is_blocking=is_blocking)
        return live

    def _refusal(self, context_id: str) -> Refusal | None:
        """Why no turn can begin in the context, if none can."""
        if not self._is_ready:
            return NOT_READY
        return None if self.store.has_room_for(context_id) else NO_ROOM

    def _context_of(self, message: Message) -> str:
        """The message's own context, that of the task it names, or a new one.

        Raises:
            RpcError: the task is unknown, or of another context.
        """
        if not message.task_id:
            return message.context_id or self._runtime.make_id()
        context_id = self.store.context_of(message.task_id)
        if context_id is None or message.context_id not in (context_id, None, ""):
            raise jsonrpc.unknown_task(message.task_id)
        return context_id

    def _task_of(self, message: Message, context_id: str) -> Task:
        """A new task, or the one that the message names, where the profile goes on with it.

        Raises:
            RpcError: the named task does not wait for a message.
        """
        if not (message.task_id and self._settings.profile.continues_tasks):
            return submitted(self._runtime.make_id(), context_id, message)
        match self._find(message.task_id):
            case LiveTask():
                raise jsonrpc.unsupported()
            case Snapshot(state=state) if state.is_terminal:
                raise jsonrpc.is_terminal(message.task_id, state)
            case Snapshot(task=task):
                return continued(task, message, self._runtime.now())

    def _find(self, task_id: str) -> LiveTask | Snapshot:
        """The task of that id.

        Raises:
            RpcError: there is none.
        """
        found = self.store.task(task_id)
        if found is None:
            raise jsonrpc.task_not_found()
        return found

    def _refuse(self, live: LiveTask, call: CallContext, refusal: Refusal) -> LiveTask:
        """Fail `live`; a repeat of its message is tried again (TURN-5a)."""
        refuse(live, refusal, self.assistant, self._runtime)
        answer = snapshot(live.task, call.codec)
        self.store.settle(answer)
        self._announce(answer, 0.0)
        return live

    def _enqueue(
        self,
        live: LiveTask,
        call: CallContext,
        key: Key,
        reading: Reading,
        *,
        is_blocking: bool,
    ) -> None:
        conversation = self.store.enter(key[0], self.assistant)
        trace = self._keep_trace(call, live.task)
        turn = Turn(
            self._agent,
            self._runtime,
            conversation,
            live,
            call,
            key=key,
            trace=trace,
            received_seconds=self._runtime.elapsed_seconds(),
        )
        self._turns[live.task.id] = turn
        self._in_flight.add(key)
        self.store.begin(live)
        if is_blocking and conversation.unfinished == 1:
            # Nobody is before it and nobody sees it begin: most turns are over right here.
            self._start(turn, reading)
        if not live.is_over:
            turn.runner = self._group.create_task(self._run(turn, reading))

    def _keep_trace(
        self, call: CallContext, task: Task, trace: Trace | None = None
    ) -> Trace | None:
        """The `trace` of a turn of `task`, or a new one, kept under the id that `call` wants."""
        if trace_id := call.handling.trace_id:
            trace = trace or Trace(task.id, task.context_id)
            self.store.keep_trace(trace_id, trace)
        return trace

    async def _run(self, turn: Turn, reading: Reading) -> None:
        async with turn.conversation.queue:
            if not turn.has_started:
                self._start(turn, reading)
            if not turn.live.is_over:
                await turn.finish()
                self._settle(turn)

    def _start(self, turn: Turn, reading: Reading) -> None:
        """Go on with the version of the project that there is now, as far as without waiting."""
        if turn.has_expired:
            refuse(turn.live, TOKEN_EXPIRED, self.assistant, self._runtime)
            self._settle(turn, is_replayable=False)
            return
        self.store.supersede_open(turn.conversation)
        turn.start(self._agent, reading)
        if turn.live.is_over:
            self._settle(turn)
        else:
            self._deadlines.begin(turn)

    def _time_out(self, turn: Turn) -> None:
        logger.warning(
            "a2a_server.rasa_a2a_agent_executor.task_timeout",
            task_id=turn.live.task.id,
            context_id=turn.conversation.id,
            seconds=self._settings.timeout_seconds,
        )
        self._cancel(turn, CancelReason.TIMEOUT)

    def _cancel_all(self, reason: CancelReason) -> None:
        for turn in [*self._turns.values()]:
            self._cancel(turn, reason)

    def _cancel(self, turn: Turn, reason: CancelReason) -> None:
        """Cancel a turn that is queued or runs."""
        if turn.conversation.open_task_id == turn.live.task.id:
            # It was to go on with the task that waits, and ends with it.
            turn.has_started = True
        turn.cancel(reason)
        self._settle(turn)
        if turn.runner:
            turn.runner.cancel()

    def _cancel_open(self, conversation: Conversation, asked: Snapshot, call: CallContext) -> None:
        """Cancel the task in which `conversation` waits for the user."""
        live = LiveTask(asked.task, self._notify)
        turn = Turn(self._agent, self._runtime, conversation, live, CallContext(asked.codec))
        turn.trace = self._keep_trace(call, live.task)
        turn.has_started = True
        turn.cancel(CancelReason.ORCHESTRATOR)
        canceled = snapshot(live.task, asked.codec)
        self.store.settle(canceled)
        self._keep_events(turn, canceled)

    def _settle(self, turn: Turn, *, is_replayable: bool = True) -> None:
        """Keep the answer; runs in the same step as the last update, before any reader wakes."""
        answer = turn.live.answer = snapshot(turn.live.task, turn.call.codec)
        is_awaited = turn.has_started or turn.conversation.open_task_id == answer.task_id
        if is_awaited and not answer.state.is_terminal:
            self.store.leave_open(answer, turn.conversation)
        else:
            self.store.settle(answer)
        self._keep_events(turn, answer)
        if is_replayable:
            self.store.remember(turn.key, answer)
        self._in_flight.discard(turn.key)
        del self._turns[answer.task_id]
        self._deadlines.end(turn)
        self.store.leave(turn.conversation)
        self._announce(answer, self._runtime.elapsed_seconds() - turn.received_seconds)

    def _keep_events(self, turn: Turn, answer: Snapshot) -> None:
        """Keep what happened, for those who debug; a fresh event takes about EVENT_BYTES."""
        stack, events = turn.happened
        if events:
            size_bytes = sum([EVENT_BYTES + event_bytes(event) for event in events])
            happened = HappenedTurn(answer.context_id, stack, events, size_bytes)
            self.store.turns.keep(happened)

    def _announce(self, answer: Snapshot, seconds: float) -> None:
        """Log a turn that has ended, `seconds` after its message came, and publish it."""
        logger.info(
            "a2a_mock.turn.ended",
            context_id=answer.context_id,
            task_id=answer.task_id,
            state=answer.state.value,
            milliseconds=round(seconds * 1000, 1),
        )
        self.events.publish(
            "turn",
            lambda: {
                "task": answer.task_id,
                "context": answer.context_id,
                "state": answer.state.value,
            },
        )


def _admits_output(modes: tuple[str, ...]) -> bool:
    """Whether one of the accepted `modes` admits what we send; none at all admits everything."""
    patterns = [mode.partition(";")[0].strip().lower() for mode in modes]
    return not patterns or any(
        fnmatchcase(offered, pattern) for offered in OUTPUT_MODES for pattern in patterns
    )


@dataclass(frozen=True, slots=True)
class PushOperations:
    """Without a `notifier` push is off, which every operation answers with an error."""

    store: Store
    notifier: Notifier | None
    profile: Profile

    async def answer(self, operation: PushOperation, call: CallContext) -> Answer:
        """The answer to `operation`. Raises RpcError."""
        task_id = operation.task_id
        match operation:
            case SetPushConfig():
                return TaskPushConfig(task_id, await self.set(operation, call))
            case GetPushConfig():
                return TaskPushConfig(task_id, self.get(operation))
            case ListPushConfigs():
                return tuple(TaskPushConfig(task_id, config) for config in self.list(operation))
            case DeletePushConfig():
                return self.delete(operation)

    @property
    def is_open(self) -> bool:
        return self.notifier is not None

    async def check(self, config: PushConfig | None) -> Checked | None:
        """Judge the configuration that came with a message; without push it is ignored.

        Raises:
            RpcError: it is refused, or push is off and the profile has an error for that.
        """
        if config is None:
            return None
        if self.notifier:
            return await _checked(self.notifier, config)
        if self.profile.keeps_to_push_specification:
            raise jsonrpc.push_not_supported()
        logger.warning("a2a_server.push.disabled", text="a message's configuration is ignored")
        return None

    def open(self, task: Task, call: CallContext, checked: Checked | None) -> None:
        """Register what came with the message of `task`, and announce the task."""
        if self.notifier and checked:
            self.notifier.register(task.id, checked, call.codec.encode_push)
            self.notifier.notify(task)

    async def set(self, operation: SetPushConfig, call: CallContext) -> PushConfig:
        """Register a configuration and return it with its id.

        Raises:
            RpcError: push is off, the task is unknown or the configuration is refused.
        """
        if self.notifier is None and not self.profile.keeps_to_push_specification:
            raise jsonrpc.push_not_offered()
        checked = await _checked(self._serving(operation.task_id), operation.config)
        # The task may have been forgotten meanwhile.
        notifier = self._serving(operation.task_id)
        try:
            return notifier.register(operation.task_id, checked, call.codec.encode_push)
        except PushRefused as refused:
            raise jsonrpc.push_refused(refused.reason) from None

    def get(self, operation: GetPushConfig) -> PushConfig:
        """The configuration of that id; a2a-sdk 0.3.26 returns the first, whatever its id."""
        configs = self._serving(operation.task_id).configs(operation.task_id)
        if self.profile.keeps_to_push_specification and operation.config_id:
            configs = tuple(config for config in configs if config.id == operation.config_id)
        if not configs:
            raise jsonrpc.push_config_not_found()
        return configs[0]

    def list(self, operation: ListPushConfigs) -> tuple[PushConfig, ...]:
        return self._serving(operation.task_id).configs(operation.task_id)

    def delete(self, operation: DeletePushConfig) -> None:
        """Remove that configuration; it need not be registered."""
        self._serving(operation.task_id).remove(operation.task_id, operation.config_id)

    def clear(self) -> None:
        """Drop every configuration."""
        if self.notifier:
            self.notifier.clear()

    async def drain(self, seconds: float) -> None:
        """Give what is to be posted `seconds`."""
        if self.notifier:
            await self.notifier.drain(seconds)

    def _serving(self, task_id: str) -> Notifier:
        if self.notifier is None:
            is_strict = self.profile.keeps_to_push_specification
            raise jsonrpc.push_not_supported() if is_strict else jsonrpc.unsupported()
        if self.store.task(task_id) is None:
            raise jsonrpc.task_not_found()
        return self.notifier


async def _checked(notifier: Notifier, config: PushConfig) -> Checked:
    try:
        return await notifier.check(config)
    except PushRefused as refused:
        logger.warning("a2a_server.push.refused", reason=refused.detail)
        raise jsonrpc.push_refused(refused.reason) from None
