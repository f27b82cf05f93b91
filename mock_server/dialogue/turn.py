"""A running turn, and how flows begin, end, stop and go on in it (flows.md §5)."""

from collections import deque
from collections.abc import Container, Generator, Iterable
from dataclasses import replace
from typing import TypeAlias, TypeVar

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.conditions import evaluate
from mock_server.dialogue.events import (
    ActionRequested,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowInterrupted,
    FlowResumed,
    FlowStarted,
    Frame,
    FrameInserted,
    FrameMoved,
    FramePushed,
    FrameRemoved,
    FrameType,
    SessionStarted,
    SlotSet,
    SlotSource,
    Warned,
)
from mock_server.dialogue.model import (
    AGENT_PREFIX,
    END,
    Branch,
    CallStep,
    CollectStep,
    Flow,
    Json,
    Step,
)
from mock_server.dialogue.outside import ActionResult, Outcome
from mock_server.dialogue.stack import (
    COLLECT_PATTERN,
    VALIDATE_PATTERN,
    Stack,
    active_frame,
    asked_slot,
    context_of,
    group_of,
    index_of,
    is_root,
    roots,
)
from mock_server.dialogue.state import DialogueState, apply
from mock_server.dialogue.templates import Document
from mock_server.errors import ConditionError, TemplateFailed

Result = TypeVar("Result")

Requesting: TypeAlias = Generator[None, Outcome | None, Result]
"""Stops after each request (`events.Request`), to go on with its outcome."""

DEFAULT_ERROR = "rasa_internal_error_default"
ERROR_PATTERN = "pattern_internal_error"


class RunningTurn:
    """The assistant, the state as the events of this turn have made it, and these events.

    `events` are those that were not handed on yet, each with the state after it.
    """

    __slots__ = ("_described", "_document", "assistant", "events", "state")

    def __init__(self, assistant: Assistant, state: DialogueState) -> None:
        self.assistant = assistant
        self.state = state
        self.events: deque[tuple[Event, DialogueState]] = deque()
        self._described: DialogueState | None = None
        self._document: Document = {}

    def emit(self, event: Event) -> None:
        """Let `event` happen: from here on the state is the one that it makes."""
        self.state = apply(self.state, event)
        self.events.append((event, self.state))

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
        """The state as conditions and templates see it."""
        if self._described is not self.state:
            self._described = self.state
            self._document = {"slots": self.state.slots, "context": context_of(self.state.stack)}
        return self._document

    def push(
        self,
        flow_id: str,
        frame_type: FrameType = FrameType.REGULAR,
        context: dict[str, Json] | None = None,
        index: int | None = None,
    ) -> None:
        """Put a new frame of `flow_id` on the stack, or at `index` of it."""
        frame = Frame(
            id=str(self.state.frames_made + 1),
            flow_id=flow_id,
            step_id=self.assistant.flows[flow_id].first_step,
            type=frame_type,
            context=context or {},
        )
        if index is None or index == len(self.stack):
            self.emit(FramePushed(frame))
        else:
            self.emit(FrameInserted(frame, index))

    def holds(self, condition: str) -> bool:
        """Whether `condition` holds now; one that cannot be evaluated does not, with a warning."""
        try:
            return evaluate(condition, self.document())
        except (ConditionError, TemplateFailed) as error:
            self.emit(Warned(str(error)))
            return False


def perform(turn: RunningTurn, action: str) -> Requesting[ActionResult]:
    """What custom action `action` comes to; None that is sent in is an action without effect."""
    turn.emit(ActionRequested(action))
    sent = yield
    outcome = sent if isinstance(sent, ActionResult) else ActionResult()
    for text in outcome.warnings:
        turn.emit(Warned(text))
    return outcome


def begin_session(turn: RunningTurn) -> None:
    """`action_session_start`; slots are as at first where they are not to be carried over."""
    turn.emit(SessionStarted())
    if not turn.assistant.carries_slots:
        reset_slots(turn, sorted(turn.assistant.slots))


def next_step(turn: RunningTurn, branches: Iterable[Branch]) -> str:
    """The first branch's target whose condition holds; the flow ends where none does."""
    for branch in branches:
        if branch.condition is None or turn.holds(branch.condition):
            return branch.target
    return END


def go_on(turn: RunningTurn, frame: Frame, branches: Iterable[Branch]) -> None:
    """Move `frame`, the topmost, past its step."""
    target = next_step(turn, branches)
    if target == END:
        finish(turn, frame)
    else:
        turn.emit(FrameMoved(frame.id, target))


def start(turn: RunningTurn, flow_id: str, frame_type: FrameType = FrameType.REGULAR) -> None:
    turn.push(flow_id, frame_type)
    if not turn.assistant.flows[flow_id].is_pattern:
        turn.emit(FlowStarted(flow_id))


def finish(turn: RunningTurn, frame: Frame) -> None:
    """End the topmost frame at its step, and let the dialogue go on below it."""
    ended: Frame | None = frame
    while ended:  # a caller may be over as soon as its child is: no recursion, calls may be deep
        ended = _end(turn, ended)


def _end(turn: RunningTurn, frame: Frame) -> Frame | None:
    """End `frame`; return the one below it if that has nothing left to do either."""
    flow = turn.assistant.flows[frame.flow_id]
    leave(turn, frame)
    if flow.id == COLLECT_PATTERN or frame.type is FrameType.CALL:
        return _return_below(turn)
    if not frame.is_pattern or frame.type is not FrameType.REGULAR:
        _follow(turn, frame, flow)
    return None


def _return_below(turn: RunningTurn) -> Frame | None:
    """Move the frame that asked or called past its step; return it if that was its last one."""
    branches = _settled_branches(turn)
    if branches is None:
        return None
    frame = turn.top
    target = next_step(turn, branches)
    if target == END:
        return frame
    turn.emit(FrameMoved(frame.id, target))
    return None


def _settled_branches(turn: RunningTurn) -> tuple[Branch, ...] | None:
    """Where the topmost frame goes from its call, or from its question if the slot is filled."""
    step = turn.step_of(turn.top) if turn.stack else None
    match step:
        case CallStep():
            return step.next
        case CollectStep() if turn.state.slots[step.slot] is not None:
            return step.next
        case _:
            return None


def leave(turn: RunningTurn, frame: Frame) -> None:
    """End `frame` without a thought for what follows it; a called flow's slots stay."""
    flow = turn.assistant.flows[frame.flow_id]
    is_child = frame.type is FrameType.CALL
    if not frame.is_pattern:
        turn.emit(_completed(turn, frame, flow, is_child))
    turn.emit(FrameRemoved(frame.id))
    if not is_child:
        reset_slots(turn, turn.assistant.index.resets[flow.id])


def _completed(turn: RunningTurn, frame: Frame, flow: Flow, is_child: bool) -> FlowCompleted:
    slots = turn.state.slots
    names = flow.persisted_slots
    persisted = {name: slots[name] for name in names if slots[name] is not None} if names else {}
    return FlowCompleted(flow.id, frame.step_id, is_child, persisted)


def _follow(turn: RunningTurn, ended: Frame, flow: Flow) -> None:
    """What comes after a flow: the flow it interrupted, or the question for another wish."""
    if ended.type is FrameType.INTERRUPT and roots(turn.stack):
        ask_to_continue(turn, len(turn.stack))
    elif not turn.stack and flow.run_pattern_completed:
        context: dict[str, Json] = {"previous_flow_name": flow.name}
        turn.push("pattern_completed", context=context)


def ask_to_continue(turn: RunningTurn, index: int) -> None:
    """Put `pattern_continue_interrupted` at `index` of the stack, about the flows that wait."""
    waiting = [turn.assistant.flows[frame.flow_id] for frame in reversed(roots(turn.stack))]
    context: dict[str, Json] = {
        "previous_flow_name": waiting[0].name,
        "interrupted_flow_names": [flow.name for flow in waiting],
        "interrupted_flow_ids": [flow.id for flow in waiting],
        "interrupted_flow_options": ", ".join(flow.name for flow in waiting),
        "multiple_flows_interrupted": len(waiting) > 1,
    }
    turn.push("pattern_continue_interrupted", context=context, index=index)


def reset_slots(turn: RunningTurn, names: Iterable[str]) -> None:
    """Give slots their initial values again, in the order of `names`."""
    for name in names:
        initial = turn.assistant.slots[name].initial_value
        if turn.state.slots[name] != initial:
            turn.emit(SlotSet(name, initial, SlotSource.RESET))


def cancel_frames(turn: RunningTurn, frames: Stack, kept_slots: Container[str] = ()) -> None:
    """Cancel the user flows of `frames`, reset their slots but the kept, remove the frames."""
    users = [frame for frame in reversed(frames) if not frame.is_pattern]
    for frame in users:
        turn.emit(FlowCancelled(frame.flow_id, frame.step_id))
    for frame in reversed(frames):
        turn.emit(FrameRemoved(frame.id))
    resets = {name for frame in frames for name in turn.assistant.index.resets[frame.flow_id]}
    reset_slots(turn, sorted(name for name in resets if name not in kept_slots))


def interrupt(turn: RunningTurn) -> None:
    """Note that the active user flow, if any, will have to wait."""
    frame = active_frame(turn.stack)
    if frame:
        turn.emit(FlowInterrupted(frame.flow_id, frame.step_id))


def resume(turn: RunningTurn, root: Frame, running: str = "") -> None:
    """Bring the group of `root` to the top of the stack, but below frame `running`."""
    group = tuple(frame for frame in group_of(turn.stack, root) if frame.id != running)
    bottom = index_of(turn.stack, root.id)
    above = [f for f in turn.stack[bottom + len(group) :] if f.id != running]
    for index, frame in enumerate(above, bottom):
        turn.emit(FrameRemoved(frame.id))
        turn.emit(FrameInserted(frame, index))
    if len(roots(turn.stack)) > 1:
        turn.emit(FrameRemoved(root.id))
        turn.emit(FrameInserted(replace(root, type=FrameType.INTERRUPT), bottom + len(above)))
    resumed = active_frame(group) or root
    turn.emit(FlowResumed(resumed.flow_id, resumed.step_id))


def fail(turn: RunningTurn, info: dict[str, Json], error_type: str = DEFAULT_ERROR) -> None:
    """Cancel what runs on top and begin `pattern_internal_error`.

    A failure inside that pattern ends it; another one would fail the same way.
    """
    owner = _owner_of_top(turn.stack)
    doomed = turn.stack[index_of(turn.stack, owner.id) :]
    if not owner.is_pattern:
        doomed = group_of(turn.stack, owner)
    cancel_frames(turn, doomed)
    if doomed[0].type is FrameType.INTERRUPT and is_root(doomed[0]) and roots(turn.stack):
        ask_to_continue(turn, len(turn.stack))
    if owner.flow_id == ERROR_PATTERN:
        turn.emit(Warned(f"{ERROR_PATTERN} failed itself: {info}"))
    else:
        context: dict[str, Json] = {"error_type": error_type, "info": info}
        turn.push(ERROR_PATTERN, context=context)


def _owner_of_top(stack: Stack) -> Frame:
    """The frame that the topmost one works for: the flow that asks, or itself."""
    return next((frame for frame in reversed(stack) if not _works_for_another(frame)), stack[0])


def _works_for_another(frame: Frame) -> bool:
    return frame.flow_id in (COLLECT_PATTERN, VALIDATE_PATTERN) or frame.flow_id.startswith(
        AGENT_PREFIX
    )
