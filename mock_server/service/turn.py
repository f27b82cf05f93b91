"""Turns: those that end before they begin, the way through the dialogue, and every end."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeAlias

from structlog.stdlib import get_logger

from mock_server.actions.runner import Awaited, ChunkStreamed, Paused
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import Command, HandleCodeChange, Noop
from mock_server.dialogue.engine import UserMessage, advance, cancel
from mock_server.dialogue.events import ActionRequested, Event, GenerationRequested, Warned
from mock_server.dialogue.outside import ActionResult, Generation, Outcome
from mock_server.dialogue.state import DialogueState, initial_state
from mock_server.faults.tampering import AS_USUAL, Handling
from mock_server.service.agent_version import AgentVersion
from mock_server.service.events import EventBus
from mock_server.service.push import PushOperations
from mock_server.service.runtime import Runtime
from mock_server.service.store import (
    Conversation,
    Conversations,
    LiveTask,
    Snapshot,
    TaskStore,
    TtlCache,
    snapshot,
)
from mock_server.tasks.mapper import CancelReason, Failure, TurnOutcome, status_parts, task_state
from mock_server.tasks.parts import Reading, seeds
from mock_server.tasks.task import (
    Artifact,
    ArtifactUpdate,
    Message,
    Role,
    Status,
    StatusUpdate,
    TaskState,
    TextPart,
)
from mock_server.tasks.trace import TracedTurn
from mock_server.wire.operations import CallContext

logger = get_logger("a2a_server")
EXECUTOR = "a2a_server.rasa_a2a_agent_executor"
KEPT = 256
INTERNAL_ERROR = Failure("rasa_internal_error_default", {})
Key: TypeAlias = tuple[str, str]
"""What tells a repeated message: its contextId and messageId (TURN-5)."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """`event` and `reason` are for the log; `text` and `failure` tell the client."""

    event: str
    reason: str
    state: TaskState = TaskState.FAILED
    text: str = ""
    failure: Failure | None = None


NOT_READY = Refusal(
    event=f"{EXECUTOR}.execute.agent_not_ready",
    reason="no model is loaded",
    text="Agent is not ready to handle messages.",
    failure=Failure("agent_not_ready", {}),
)
NO_ROOM = Refusal(
    event=f"{EXECUTOR}.execute.context_limit",
    reason="max_contexts contexts are in flight or wait for an answer",
    failure=Failure("context_limit", {}),
)
TOKEN_EXPIRED = Refusal(
    event="a2a_server.sanic_app.auth_rejected",
    reason="it has expired while the turn waited",
    state=TaskState.AUTH_REQUIRED,
)


class Turn:
    """One message being worked on. `has_started` tells it from one that waits in the queue."""

    def __init__(
        self,
        agent: AgentVersion,
        runtime: Runtime,
        conversation: Conversation,
        live: LiveTask,
        handling: Handling = AS_USUAL,
    ) -> None:
        self.live = live
        self.conversation = conversation
        self.has_started = False
        self.trace: TracedTurn | None = None
        self._handling = handling
        self._agent = agent
        self._runtime = runtime
        self._before = conversation.state
        self._events: list[Event] = []

    @property
    def assistant(self) -> Assistant:
        return self._agent.assistant

    async def run(self, agent: AgentVersion, reading: Reading) -> None:
        """Hold the conversation from here to the last update of the task, all with `agent`."""
        self.has_started = True
        self._agent = agent
        if self._handling.forgets_context:
            self.conversation.state = initial_state(agent.assistant)
            self.conversation.story.forget()
        self.conversation.story.begin_turn()
        self._before = self.conversation.state
        self.live.publish(StatusUpdate(Status(TaskState.WORKING, self._runtime.now())))
        try:
            if self._handling.is_stuck:
                await asyncio.Event().wait()
            await self._advance(self._understood(reading))
            self._close(self._handling.forced_state)
        except Exception:
            # Whatever breaks in a turn fails this turn's task; the client gets no traceback.
            logger.exception(
                "a2a_server.rasa_a2a_agent_executor.execute.error", task_id=self.live.task.id
            )
            self.conversation.state = self._before
            self.conversation.story.take_turn_back()
            self._close(TaskState.FAILED, failure=INTERNAL_ERROR)

    def cancel(self, reason: CancelReason) -> None:
        """End the task now; what the dialogue was about is cancelled with it (TURN-10)."""
        if self.has_started:
            course = cancel(self._agent.assistant, self.conversation.state)
            for event in course:
                self._record(event, course.state)
        self._close(TaskState.CANCELED, reason=reason)

    def _understood(self, reading: Reading) -> UserMessage:
        """Slots that come without a word are the whole turn (SLOT-6)."""
        seeded = seeds(self._agent.assistant, reading.slots)
        for skipped in seeded.skipped:
            logger.warning(
                "a2a_server.message_adapter.skip_slot.invalid_value",
                task_id=self.live.task.id,
                slot=skipped.name,
                expected=skipped.expected,
            )
        is_silent = reading.carries_slots and not reading.text.strip()
        commands: tuple[Command, ...] | None = (Noop(),) if is_silent else None
        if self.conversation.must_hear_of_changes(self._agent):
            commands = (HandleCodeChange(),)
        return UserMessage(
            text="" if is_silent else reading.text,
            seeded_slots=seeded.slots,
            metadata=reading.metadata,
            commands=commands,
            asks_model=self._agent.generate is not None,
        )

    async def _advance(self, message: UserMessage) -> None:
        course = advance(self._agent.assistant, self.conversation.state, message)
        outcome: Outcome | None = None
        while True:
            try:
                event = course.send(outcome)
            except StopIteration:
                return
            outcome = None
            if isinstance(event, GenerationRequested):
                outcome = await self._generate(event.text)
                continue
            self._record(event, course.state)
            match event:
                case ActionRequested(name=name):
                    outcome = await self._act(name)
                case Warned(text=text):
                    logger.warning(
                        "a2a_server.dialogue.warning", task_id=self.live.task.id, text=text
                    )
                case _:
                    pass

    def _record(self, event: Event, state: DialogueState) -> None:
        self.conversation.state = state
        self._events.append(event)
        if self._agent.keeps_stories:
            self.conversation.story.tell(event, self._runtime.now().timestamp())

    async def _generate(self, text: str) -> Generation | None:
        generate = self._agent.generate
        if generate is None:
            return None
        return await generate(self._agent.assistant, self.conversation.state, text)

    async def _act(self, name: str) -> ActionResult:
        artifact_id = ""
        for progress in self._agent.run_action(
            name, self.conversation.state, self.conversation.story
        ):
            match progress:
                case Paused(seconds=seconds):
                    await self._runtime.sleep(seconds)
                case ChunkStreamed():
                    artifact_id = self._runtime.make_id() if progress.is_first else artifact_id
                    self.live.publish(_chunk(progress, artifact_id, name))
                case Awaited(outcome=outcome):
                    return await outcome
                case ActionResult():
                    return progress
        return ActionResult()

    def _outcome(self) -> TurnOutcome:
        return TurnOutcome(
            stack=self.conversation.state.stack,
            events=tuple(self._events),
            is_waiting=self.conversation.state.is_listening,
            stack_before=self._before.stack,
            offers_repair=self._agent.offers_repair,
            rejected_scope=self._agent.assistant.rejected_scope,
        )

    def _close(
        self,
        forced_state: TaskState | None,
        *,
        reason: CancelReason = CancelReason.USER,
        failure: Failure | None = None,
    ) -> None:
        """Publish the last update; without a `forced_state`, the table of states decides."""
        task, outcome = self.live.task, self._outcome()
        state = forced_state or task_state(outcome)
        if self._handling.trace_id:
            self.trace = TracedTurn(
                tuple(self._events), self._before, self.conversation.state, outcome
            )
        parts = status_parts(
            self._agent.assistant,
            self.conversation.state.slots,
            state,
            outcome,
            reason=reason,
            failure=failure,
        )
        message = Message(self._runtime.make_id(), Role.AGENT, parts, task.context_id, task.id)
        status = Status(state, self._runtime.now(), message)
        self.live.publish(StatusUpdate(status, is_final=True))


def _chunk(chunk: ChunkStreamed, artifact_id: str, action: str) -> ArtifactUpdate:
    """All that an action streams is one artifact (OUT-4)."""
    artifact = Artifact(artifact_id, (TextPart(chunk.text),), name=action)
    return ArtifactUpdate(artifact, appends=not chunk.is_first, is_last_chunk=chunk.is_last)


def refuse(live: LiveTask, refusal: Refusal, assistant: Assistant, runtime: Runtime) -> None:
    """End `live`. Nothing of its conversation is told, nor changed."""
    task = live.task
    logger.warning(refusal.event, task_id=task.id, reason=refusal.reason)
    outcome = TurnOutcome(stack=(), events=(), is_waiting=False)
    data = status_parts(assistant, {}, refusal.state, outcome, failure=refusal.failure)
    text = (TextPart(refusal.text),) if refusal.text else ()
    message = Message(runtime.make_id(), Role.AGENT, (*text, *data), task.context_id, task.id)
    live.publish(StatusUpdate(Status(refusal.state, runtime.now(), message), is_final=True))


class Traces:
    """By the id under which the trace was asked for."""

    def __init__(self) -> None:
        self._turns: OrderedDict[str, Turn] = OrderedDict()

    def __contains__(self, trace_id: str) -> bool:
        return trace_id in self._turns

    def keep(self, trace_id: str, turn: Turn) -> None:
        self._turns[trace_id] = turn
        if len(self._turns) > KEPT:
            self._turns.popitem(last=False)

    def find(self, trace_id: str) -> Turn | None:
        return self._turns.get(trace_id)

    def clear(self) -> None:
        self._turns.clear()


@dataclass(frozen=True, slots=True)
class Memory:
    """Where the outcome of a turn goes."""

    conversations: Conversations
    store: TaskStore
    replays: TtlCache[Key]
    push: PushOperations
    events: EventBus


@dataclass(slots=True)
class _Running:
    turn: Turn
    key: Key
    call: CallContext
    runner: asyncio.Task[None] | None = None
    stop_timer: Callable[[], None] | None = None


class Turns:
    """Use as `async with`: on leaving, it waits for the turns that still run.

    `current_agent` is asked when a turn begins to run, not when it is queued.
    """

    def __init__(
        self,
        runtime: Runtime,
        memory: Memory,
        current_agent: Callable[[], AgentVersion],
        timeout_seconds: float,
    ) -> None:
        self._runtime = runtime
        self._memory = memory
        self._current_agent = current_agent
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

    def begin(self, turn: Turn, key: Key, reading: Reading, call: CallContext) -> LiveTask:
        """Put `turn` in its conversation's queue."""
        running = _Running(turn, key, call)
        self._running[turn.live.task.id] = running
        self._in_flight.add(key)
        self._memory.store.begin(turn.live)
        running.runner = self._group.create_task(self._run(running, reading))
        return turn.live

    def refuse(self, live: LiveTask, refusal: Refusal, call: CallContext) -> LiveTask:
        """`live`, failed; a repeat of its message is tried anew (TURN-5a)."""
        refuse(live, refusal, self._current_agent().assistant, self._runtime)
        answer = snapshot(live.task, call.codec)
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
        turn = Turn(self._current_agent(), self._runtime, conversation, live)
        turn.has_started = True
        turn.cancel(CancelReason.ORCHESTRATOR)
        conversation.resting = None
        memory.store.settle(snapshot(live.task, resting.codec))
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
            agent = self._current_agent()
            until = running.call.authorized_until
            if until is not None and until <= self._runtime.now().timestamp():
                refuse(running.turn.live, TOKEN_EXPIRED, agent.assistant, self._runtime)
                self._settle(running, is_replayable=False)
                return
            self._supersede(conversation, running.turn.live.task.id)
            self._start_timer(running)
            await running.turn.run(agent, reading)
            self._settle(running)

    def _supersede(self, conversation: Conversation, task_id: str) -> None:
        """The task that waited has its answer, and stays as it is unless it goes on (TURN-2a)."""
        resting, conversation.resting = conversation.resting, None
        if resting and resting.task_id != task_id:
            self._memory.store.settle(resting)

    def _start_timer(self, running: _Running) -> None:
        if self._timeout_seconds > 0:
            running.stop_timer = self._runtime.start_timer(
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
        answer = snapshot(running.turn.live.task, running.call.codec)
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
        self._memory.events.publish(
            "turn",
            lambda: {
                "task": answer.task_id,
                "context": answer.context_id,
                "state": answer.state.value,
            },
        )
