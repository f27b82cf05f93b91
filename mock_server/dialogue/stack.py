"""Questions about the dialogue stack: who is active, what is asked, what belongs together.

A user flow, its called children and the patterns above them form a group; the stack is a row of
groups, perhaps with patterns of their own below the first.
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from mock_server.dialogue.events import Frame, FrameType
from mock_server.dialogue.model import CallStep, CollectStep, Flow, Json, SetSlotsStep

COLLECT_PATTERN = "pattern_collect_information"
VALIDATE_PATTERN = "pattern_validate_slot"

Stack: TypeAlias = tuple[Frame, ...]


def active_frame(stack: Stack) -> Frame | None:
    """The topmost frame of a user flow."""
    return next((frame for frame in reversed(stack) if not frame.is_pattern), None)


def asked_slot(stack: Stack) -> str | None:
    """The slot that the question on top of the stack waits for."""
    if not stack:
        return None
    asking = {COLLECT_PATTERN: "collect", VALIDATE_PATTERN: "validate"}.get(stack[-1].flow_id)
    slot = stack[-1].context.get(asking) if asking else None
    return slot if isinstance(slot, str) else None


def context_of(stack: Stack) -> dict[str, Json]:
    """The fields of the patterns on top of the stack; the upper one's win."""
    merged: dict[str, Json] = {}
    for frame in reversed(stack):
        if not frame.is_pattern:
            break
        merged = {**frame.context, **merged}
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
    return tuple(frame for frame in stack if is_root(frame))


def collects_of(
    flow: Flow, flows: Mapping[str, Flow], seen: frozenset[str] = frozenset()
) -> Iterator[tuple[str, CollectStep]]:
    """Each collect step of `flow` and of the flows it calls, with the id of `flow`'s own step."""
    for step in flow.steps.values():
        match step:
            case CollectStep():
                yield step.id, step
            case CallStep(flow_id=called) if called in flows and called not in seen:
                inside = collects_of(flows[called], flows, seen | {flow.id, called})
                yield from ((step.id, collect) for _, collect in inside)
            case _:
                pass


def slots_collected(flow: Flow, flows: Mapping[str, Flow]) -> set[str]:
    return {collect.slot for _, collect in collects_of(flow, flows)}


def slots_to_reset(
    flow: Flow, flows: Mapping[str, Flow], seen: frozenset[str] = frozenset()
) -> set[str]:
    """The slots that return to their initial value when `flow` ends (flows.md §4.1)."""
    reset: set[str] = set()
    for step in flow.steps.values():
        match step:
            case CollectStep(reset_after_flow_ends=True):
                reset.add(step.slot)
            case SetSlotsStep():
                reset.update(name for name, _ in step.values)
            case CallStep(flow_id=called) if called in flows and called not in seen:
                reset |= slots_to_reset(flows[called], flows, seen | {flow.id, called})
            case _:
                pass
    kept = {
        step.slot
        for step in flow.steps.values()
        if isinstance(step, CollectStep) and not step.reset_after_flow_ends
    }
    return reset - kept - set(flow.persisted_slots)
