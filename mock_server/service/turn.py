"""A turn on its way through the dialogue: from a message to the updates of its task."""

import asyncio
from dataclasses import replace

from structlog.stdlib import get_logger

from mock_server.actions.runner import Awaited, ChunkStreamed, Paused
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import Command, HandleCodeChange, Noop
from mock_server.dialogue.engine import UserMessage, advance, cancel
from mock_server.dialogue.events import ActionRequested, Event, Warned
from mock_server.dialogue.outside import ActionResult
from mock_server.dialogue.state import DialogueState, initial_state
from mock_server.dialogue.understanding import needs_model
from mock_server.faults.tampering import AS_USUAL, Handling
from mock_server.service.brain import Brain
from mock_server.service.conversation import Conversation
from mock_server.service.live_task import LiveTask
from mock_server.service.world import World
from mock_server.tasks.log import ArtifactUpdate, StatusUpdate
from mock_server.tasks.mapper import TurnOutcome, task_state
from mock_server.tasks.parts import Reading, seeds
from mock_server.tasks.report import CancelReason, Failure, status_parts
from mock_server.tasks.task import Artifact, Message, Role, Status, TaskState, TextPart
from mock_server.tasks.trace import TracedTurn

logger = get_logger("a2a_server")

INTERNAL_ERROR = Failure("rasa_internal_error_default", {})


class Turn:
    """One message being worked on. `has_started` tells it from one that waits in the queue."""

    def __init__(
        self,
        brain: Brain,
        world: World,
        conversation: Conversation,
        live: LiveTask,
        handling: Handling = AS_USUAL,
    ) -> None:
        self.live = live
        self.conversation = conversation
        self.has_started = False
        self.trace: TracedTurn | None = None
        self._handling = handling
        self._brain = brain
        self._world = world
        self._before = conversation.state
        self._events: list[Event] = []

    @property
    def assistant(self) -> Assistant:
        return self._brain.assistant

    async def run(self, brain: Brain, reading: Reading) -> None:
        """Hold the conversation from here to the last update of the task, all with `brain`."""
        self.has_started = True
        self._brain = brain
        if self._handling.forgets_context:
            self.conversation.state = initial_state(brain.assistant)
            self.conversation.story.forget()
        self.conversation.story.begin_turn()
        self._before = self.conversation.state
        self.live.publish(StatusUpdate(Status(TaskState.WORKING, self._world.now())))
        try:
            if self._handling.is_stuck:
                await asyncio.Event().wait()
            await self._advance(await self._generated(self._understood(reading)))
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
            course = cancel(self._brain.assistant, self.conversation.state)
            for event in course:
                self._record(event, course.state)
        self._close(TaskState.CANCELED, reason=reason)

    def _understood(self, reading: Reading) -> UserMessage:
        """Slots that come without a word are the whole turn (SLOT-6)."""
        seeded = seeds(self._brain.assistant, reading.slots)
        for skipped in seeded.skipped:
            logger.warning(
                "a2a_server.message_adapter.skip_slot.invalid_value",
                task_id=self.live.task.id,
                slot=skipped.name,
                expected=skipped.expected,
            )
        is_silent = reading.carries_slots and not reading.text.strip()
        commands: tuple[Command, ...] | None = (Noop(),) if is_silent else None
        if self.conversation.must_hear_of_changes(self._brain):
            commands = (HandleCodeChange(),)
        return UserMessage(
            text="" if is_silent else reading.text,
            seeded_slots=seeded.slots,
            metadata=reading.metadata,
            commands=commands,
        )

    async def _generated(self, message: UserMessage) -> UserMessage:
        """Let a language model, where there is one, hear what no sure rule understands."""
        generate, state = self._brain.generate, self.conversation.state
        assistant = self._brain.assistant
        if generate is None or message.commands is not None:
            return message
        if not needs_model(assistant, state, message.text):
            return message
        return replace(message, generation=await generate(assistant, state, message.text))

    async def _advance(self, message: UserMessage) -> None:
        course = advance(self._brain.assistant, self.conversation.state, message)
        answer: ActionResult | None = None
        while True:
            try:
                event = course.send(answer)
            except StopIteration:
                return
            self._record(event, course.state)
            answer = None
            match event:
                case ActionRequested(name=name):
                    answer = await self._act(name)
                case Warned(text=text):
                    logger.warning(
                        "a2a_server.dialogue.warning", task_id=self.live.task.id, text=text
                    )
                case _:
                    pass

    def _record(self, event: Event, state: DialogueState) -> None:
        self.conversation.state = state
        self._events.append(event)
        if self._brain.keeps_stories:
            self.conversation.story.tell(event, self._world.now().timestamp())

    async def _act(self, name: str) -> ActionResult:
        artifact_id = ""
        for progress in self._brain.run_action(
            name, self.conversation.state, self.conversation.story
        ):
            match progress:
                case Paused(seconds=seconds):
                    await self._world.sleep(seconds)
                case ChunkStreamed():
                    artifact_id = self._world.make_id() if progress.is_first else artifact_id
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
            offers_repair=self._brain.offers_repair,
            rejected_scope=self._brain.assistant.rejected_scope,
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
            self._brain.assistant,
            self.conversation.state.slots,
            state,
            outcome,
            reason=reason,
            failure=failure,
        )
        message = Message(self._world.make_id(), Role.AGENT, parts, task.context_id, task.id)
        status = Status(state, self._world.now(), message)
        self.live.publish(StatusUpdate(status, is_final=True))


def _chunk(chunk: ChunkStreamed, artifact_id: str, action: str) -> ArtifactUpdate:
    """All that an action streams is one artifact (OUT-4)."""
    artifact = Artifact(artifact_id, (TextPart(chunk.text),), name=action)
    return ArtifactUpdate(artifact, appends=not chunk.is_first, is_last_chunk=chunk.is_last)
