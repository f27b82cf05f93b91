"""What the parts of the engine share while a turn runs."""

from collections.abc import Generator
from typing import TypeAlias, TypeVar

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.conditions import evaluate
from mock_server.dialogue.events import Event, Frame, FrameInserted, FramePushed, FrameType, Warned
from mock_server.dialogue.model import END, Json, Step
from mock_server.dialogue.outcome import ActionResult
from mock_server.dialogue.stack import Stack, asked_slot, context_of
from mock_server.dialogue.state import DialogueState
from mock_server.dialogue.templates import Document
from mock_server.errors import ConditionError, TemplateFailed

Result = TypeVar("Result")

Steps: TypeAlias = Generator[Event, ActionResult | None, None]
Answer: TypeAlias = Generator[Event, ActionResult | None, Result]


class Turn:
    """The assistant and the state as the events of this turn have made it.

    `engine.Course` folds every event into `state` before it hands the event on, so after a
    `yield` the state is the new one.
    """

    __slots__ = ("assistant", "state")

    def __init__(self, assistant: Assistant, state: DialogueState) -> None:
        self.assistant = assistant
        self.state = state

    @property
    def stack(self) -> Stack:
        return self.state.stack

    @property
    def top(self) -> Frame:
        return self.state.stack[-1]

    def step_of(self, frame: Frame) -> Step | None:
        """The step that `frame` stands at; None at END."""
        return self.assistant.flows[frame.flow_id].steps.get(frame.step_id)

    def is_stale(self, frame: Frame) -> bool:
        """Whether the assistant no longer has what `frame` stands at."""
        flow = self.assistant.flows.get(frame.flow_id)
        if flow is None or not (frame.step_id == END or frame.step_id in flow.steps):
            return True
        slot = asked_slot((frame,))
        return slot is not None and slot not in self.assistant.slots

    def document(self) -> Document:
        return {"slots": self.state.slots, "context": context_of(self.state.stack)}

    def push(
        self,
        flow_id: str,
        frame_type: FrameType = FrameType.REGULAR,
        context: dict[str, Json] | None = None,
        index: int | None = None,
    ) -> Steps:
        """Put a new frame of `flow_id` on the stack, or at `index` of it."""
        frame = Frame(
            id=str(self.state.frames_made + 1),
            flow_id=flow_id,
            step_id=self.assistant.flows[flow_id].first_step,
            type=frame_type,
            context=context or {},
        )
        if index is None or index == len(self.stack):
            yield FramePushed(frame)
        else:
            yield FrameInserted(frame, index)

    def holds(self, condition: str) -> Answer[bool]:
        """Whether `condition` holds now; one that cannot be evaluated does not, with a warning."""
        try:
            return evaluate(condition, self.document())
        except (ConditionError, TemplateFailed) as error:
            yield Warned(str(error))
            return False
