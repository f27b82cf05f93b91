"""Questions about the dialogue stack: who is active, what is asked, what belongs together.

A user flow, its called children and the patterns above them form a group; the stack is a row of
groups, perhaps with patterns of their own below the first.
"""

from typing import TypeAlias

from mock_server.dialogue.events import Frame, FrameType
from mock_server.dialogue.model import Json

COLLECT_PATTERN = "pattern_collect_information"
VALIDATE_PATTERN = "pattern_validate_slot"
# The patterns that ask on behalf of the frame below them, and the field that names their slot.
ASKING = {COLLECT_PATTERN: "collect", VALIDATE_PATTERN: "validate"}
# A flow that starts answers these questions: their frames go (flows.md §5, clean-up 4).
QUESTIONS = frozenset(
    {"pattern_continue_interrupted", "pattern_completed", "pattern_customer_satisfaction"}
)

Stack: TypeAlias = tuple[Frame, ...]


def active_frame(stack: Stack) -> Frame | None:
    """The topmost frame of a user flow."""
    for frame in reversed(stack):
        if not frame.is_pattern:
            return frame
    return None


def asked_slot(stack: Stack) -> str | None:
    """The slot that the question on top of the stack waits for."""
    if not stack:
        return None
    asking = ASKING.get(stack[-1].flow_id)
    slot = stack[-1].context.get(asking) if asking else None
    return slot if isinstance(slot, str) else None


def asking_frame(stack: Stack) -> Frame | None:
    """The frame whose question stands on top of the stack, or the topmost itself."""
    for frame in reversed(stack):
        if frame.flow_id not in ASKING:
            return frame
    return None


def open_questions(stack: Stack) -> Stack:
    """The patterns on top that a new flow answers, the topmost last, with what they ask by."""
    start = len(stack)
    for index in range(len(stack) - 1, -1, -1):
        if not stack[index].is_pattern:
            break
        if stack[index].flow_id in QUESTIONS:
            start = index
    return stack[start:]


def context_of(stack: Stack) -> dict[str, Json]:
    """The fields of the pattern on top, and of the one that a question on top is asked for.

    All have `flow_id`, `step_id` and `frame_id` (flows.md §6). The upper one's win.
    """
    merged: dict[str, Json] = {}
    for frame in reversed(stack):
        if not frame.is_pattern:
            break
        fields: dict[str, Json] = {
            "flow_id": frame.flow_id,
            "step_id": frame.step_id,
            "frame_id": frame.id,
            **frame.context,
        }
        merged = {**fields, **merged} if merged else fields
        if frame.flow_id not in ASKING:
            break
    return merged


def index_of(stack: Stack, frame_id: str) -> int:
    return next(index for index, frame in enumerate(stack) if frame.id == frame_id)


def is_root(frame: Frame) -> bool:
    """Whether `frame` begins a group: a user flow that nobody called."""
    return not frame.is_pattern and frame.type is not FrameType.CALL


def group_of(stack: Stack, frame: Frame) -> Stack:
    """The group that `frame`, of a user flow, stands in: its root first, the top last."""
    start = index_of(stack, frame.id)
    while start and not is_root(stack[start]):
        start -= 1
    end = start + 1
    while end < len(stack) and not is_root(stack[end]):
        end += 1
    return stack[start:end]


def active_group(stack: Stack) -> Stack:
    """The topmost user flow's group, empty when there is none."""
    frame = active_frame(stack)
    return group_of(stack, frame) if frame else ()


def roots(stack: Stack) -> Stack:
    return tuple([frame for frame in stack if is_root(frame)])
