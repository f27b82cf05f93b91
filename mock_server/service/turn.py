"""A turn of a task: from a message to the last update, and the other ways in which it may end.

The table of states (`tasks.mapper`) decides how a turn ends, with these exceptions:

- STATE-1 of a token that expires while the turn waits in its queue, before anything is understood
  (`TOKEN_EXPIRED`), and of the fault that forces a state (`Handling.forced_state`).
- STATE-4 of `tasks/cancel`, and of a turn that takes too long (TURN-7): the task is canceled
  whatever was activated before that (TURN-10).
- failed, where no turn begins (`NOT_READY`, `NO_ROOM`) or the mock itself fails.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from structlog.stdlib import get_logger

from mock_server.actions.runner import ChunkStreamed
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import Command, HandleCodeChange, Noop
from mock_server.dialogue.engine import UserMessage, advance, cancel
from mock_server.dialogue.state import Event, Stack
from mock_server.service.conversation import AgentVersion, Conversation, EngineTurn
from mock_server.service.runtime import Runtime
from mock_server.service.store import Key, LiveTask, Trace
from mock_server.tasks.mapper import CancelReason, Failure, TurnOutcome, status_parts, task_state
from mock_server.tasks.task import (
    Artifact,
    ArtifactUpdate,
    Message,
    Part,
    Reading,
    Role,
    Status,
    StatusUpdate,
    TaskState,
    TextPart,
    seeds,
)
from mock_server.wire.operations import CallContext

EXECUTOR = "a2a_server.rasa_a2a_agent_executor"
INTERNAL_ERROR = Failure("rasa_internal_error_default", {})

logger = get_logger("a2a_server")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A turn that ends before it begins; without a `failure` the caller is not authorized.

    `event` and `reason` are for the log; `text` and `failure` for the client.
    """

    event: str
    reason: str
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
    reason="max_contexts contexts, or --max-kept bytes of them, are in flight or wait",
    failure=Failure("context_limit", {}),
)
TOKEN_EXPIRED = Refusal(
    event="a2a_server.sanic_app.auth_rejected",
    reason="it has expired while the turn waited",
)


def refuse(live: LiveTask, refusal: Refusal, assistant: Assistant, runtime: Runtime) -> None:
    """End `live`. Nothing of its conversation is shown or changed."""
    logger.warning(refusal.event, task_id=live.task.id, reason=refusal.reason)
    is_authorized = refusal.failure is not None
    outcome = TurnOutcome((), (), is_waiting=False, is_authorized=is_authorized)
    state = TaskState.FAILED if refusal.failure else task_state(outcome)
    data = status_parts(assistant, {}, state, outcome, failure=refusal.failure)
    text = (TextPart(refusal.text),) if refusal.text else ()
    _publish_last(live, state, (*text, *data), runtime)


@dataclass(slots=True, eq=False)
class Turn:
    """A message being worked on: queued until `has_started`, over when `live` is.

    `runner` is the asyncio task that it runs in, if it needs one; `received_seconds` is when its
    message came, by the runtime's `elapsed_seconds`. `happened` is, at the end, the stack before
    the turn and its events; a turn that fails undoes its own.
    """

    agent: AgentVersion
    runtime: Runtime
    conversation: Conversation
    live: LiveTask
    call: CallContext
    key: Key = ("", "")
    trace: Trace | None = None
    received_seconds: float = 0.0
    has_started: bool = False
    runner: asyncio.Task[None] | None = None
    happened: tuple[Stack, tuple[Event, ...]] = ((), ())
    engine: EngineTurn = field(init=False)

    def __post_init__(self) -> None:
        self.engine = EngineTurn(self.agent, self.conversation, self)

    @property
    def assistant(self) -> Assistant:
        return self.agent.assistant

    @property
    def has_expired(self) -> bool:
        """Whether the caller's token is no longer valid."""
        until = self.call.authorized_until
        return until is not None and until <= self.now_seconds()

    def start(self, agent: AgentVersion, reading: Reading) -> None:
        """Go on with `agent` until something is wanted from outside; most turns end before that."""
        self.has_started = True
        self.agent = agent
        if self.call.handling.forgets_context:
            self.conversation.restart(agent.assistant)
        self.conversation.tracker.begin_turn()
        self.engine = EngineTurn(agent, self.conversation, self)
        self.live.publish(StatusUpdate(Status(TaskState.WORKING, self.runtime.now())))
        if self.call.handling.is_stuck:
            return
        try:
            turn = advance(agent.assistant, self.conversation.state, self._message(reading))
            if self.engine.start(turn):
                self._close()
        except Exception:
            self._fail()

    async def finish(self) -> None:
        """Go on from what is wanted from outside to the last update of the task."""
        try:
            if self.call.handling.is_stuck:
                await asyncio.Event().wait()
            await self.engine.finish()
            self._close()
        except Exception:
            self._fail()

    def cancel(self, reason: CancelReason) -> None:
        """End the task now; what the dialogue was about is cancelled with it (TURN-10)."""
        if self.has_started:
            self.engine.start(cancel(self.assistant, self.conversation.state))
        is_by_client = reason is CancelReason.ORCHESTRATOR
        outcome = replace(self.engine.outcome(), is_canceled_by_client=is_by_client)
        self._publish(outcome, TaskState.CANCELED, reason=reason)

    def now_seconds(self) -> float:
        return self.runtime.now().timestamp()

    async def pause(self, seconds: float) -> None:
        await self.runtime.sleep(seconds)

    def stream(self, action: str, chunk: ChunkStreamed) -> None:
        """All that an action streams is one artifact (OUT-4)."""
        artifacts = self.live.task.artifacts
        artifact_id = self.runtime.make_id() if chunk.is_first else artifacts[-1].artifact_id
        artifact = Artifact(artifact_id, (TextPart(chunk.text),), name=action)
        appends, is_last = not chunk.is_first, chunk.is_last
        self.live.publish(ArtifactUpdate(artifact, appends=appends, is_last_chunk=is_last))

    def warn(self, text: str) -> None:
        logger.warning("a2a_server.dialogue.warning", task_id=self.live.task.id, text=text)

    def _message(self, reading: Reading) -> UserMessage:
        """Slots that come without a word are the whole turn (SLOT-6)."""
        seeded = seeds(self.assistant, reading.slots)
        for skipped in seeded.skipped:
            logger.warning(
                "a2a_server.message_adapter.skip_slot.invalid_value",
                task_id=self.live.task.id,
                slot=skipped.name,
                expected=skipped.expected,
            )
        is_silent = reading.carries_slots and not reading.text.strip()
        commands: tuple[Command, ...] | None = (Noop(),) if is_silent else None
        if self.conversation.notices_change(self.agent):
            commands = (HandleCodeChange(),)
        return UserMessage(
            text="" if is_silent else reading.text,
            seeded_slots=seeded.slots,
            metadata=reading.metadata,
            commands=commands,
            asks_model=self.agent.generate is not None,
        )

    def _close(self) -> None:
        """Publish the last update, in the state that the table gives or a fault forces."""
        outcome = self.engine.outcome()
        self._publish(outcome, self.call.handling.forced_state or task_state(outcome))

    def _fail(self) -> None:
        """Whatever breaks in a turn fails this turn's task; the client gets no traceback."""
        logger.exception(
            "a2a_server.rasa_a2a_agent_executor.execute.error", task_id=self.live.task.id
        )
        self.conversation.state = self.engine.before
        self.conversation.tracker.undo_turn()
        self._publish(self.engine.outcome(), TaskState.FAILED, failure=INTERNAL_ERROR)

    def _publish(
        self,
        outcome: TurnOutcome,
        state: TaskState,
        *,
        reason: CancelReason = CancelReason.USER,
        failure: Failure | None = None,
    ) -> None:
        if self.trace:
            self.trace.turn = self.engine.traced(outcome)
            self.trace.assistant = self.assistant
        if failure is None:
            self.happened = (self.engine.before.stack, outcome.events)
        slots = self.conversation.state.slots
        parts = status_parts(self.assistant, slots, state, outcome, reason=reason, failure=failure)
        _publish_last(self.live, state, parts, self.runtime)
        # It refers to its host, this turn: only the garbage collector would free the two.
        del self.engine


def _publish_last(
    live: LiveTask, state: TaskState, parts: tuple[Part, ...], runtime: Runtime
) -> None:
    task = live.task
    message = Message(runtime.make_id(), Role.AGENT, parts, task.context_id, task.id)
    live.publish(StatusUpdate(Status(state, runtime.now(), message), is_final=True))


class Deadlines:
    """When turns take too long: after `seconds`, or never if that is 0 (TURN-7).

    One timer for all: they have equally long, so the first to begin is due first.
    """

    def __init__(self, runtime: Runtime, seconds: float, time_out: Callable[[Turn], None]) -> None:
        self._runtime = runtime
        self._seconds = seconds
        self._time_out = time_out
        self._turns: dict[Turn, float] = {}
        self._stop_timer: Callable[[], None] | None = None

    def begin(self, turn: Turn) -> None:
        if self._seconds > 0:
            self._turns[turn] = self._runtime.elapsed_seconds() + self._seconds
            self._arm(self._seconds)

    def end(self, turn: Turn) -> None:
        if self._turns.pop(turn, None) and not self._turns and self._stop_timer:
            self._stop_timer()
            self._stop_timer = None

    def _arm(self, seconds: float) -> None:
        if self._stop_timer is None:
            self._stop_timer = self._runtime.start_timer(seconds, self._fire)

    def _fire(self) -> None:
        self._stop_timer, now = None, self._runtime.elapsed_seconds()
        for turn, deadline in [*self._turns.items()]:
            if deadline > now:
                self._arm(deadline - now)
                return
            self._time_out(turn)
