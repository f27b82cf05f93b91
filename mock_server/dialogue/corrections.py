"""The user takes back an answer: `pattern_correction` and what it does (flows.md §5)."""

from collections.abc import Mapping

from mock_server.dialogue.collecting import ask
from mock_server.dialogue.events import (
    FlowCancelled,
    Frame,
    FrameMoved,
    FrameRemoved,
    FrameType,
    SlotSet,
    SlotSource,
    Warned,
)
from mock_server.dialogue.flow_slots import collects_of
from mock_server.dialogue.model import CollectStep, Json, Step
from mock_server.dialogue.stack import (
    COLLECT_PATTERN,
    active_group,
    index_of,
)
from mock_server.dialogue.turn import Steps, Turn


def push_correction(turn: Turn, corrected: Mapping[str, Json]) -> Steps:
    target = _reset_target(turn, frozenset(corrected))
    context: dict[str, Json] = {
        "is_reset_only": all(value is None for value in corrected.values()),
        "corrected_slots": dict(corrected),
        "new_slot_values": list(corrected.values()),
        "reset_flow_id": target[0].flow_id if target else None,
        "reset_step_id": target[1] if target else None,
    }
    yield from turn.push("pattern_correction", context=context)


def _reset_target(turn: Turn, corrected: frozenset[str]) -> tuple[Frame, str] | None:
    """The frame to take back, and to which step; None if all corrected slots lie ahead.

    The callers are asked first: a caller's earlier answer weighs more than a child's.
    """
    flows = turn.assistant.flows
    for frame in active_group(turn.stack):
        if frame.is_pattern:
            continue
        flow = flows[frame.flow_id]
        order = list(flow.steps)
        here = order.index(frame.step_id) if frame.step_id in flow.steps else len(order)
        named = [id_ for id_, collect in collects_of(flow, flows) if collect.slot in corrected]
        earlier = [id_ for id_ in named if order.index(id_) < here]
        if earlier:
            return frame, min(earlier, key=order.index)
    return None


def correct_flow_slot(turn: Turn) -> Steps:
    """`action_correct_flow_slot`: write the new values, take the flow back to the first of them."""
    running = turn.top
    corrected = running.context.get("corrected_slots")
    if not isinstance(corrected, dict):
        yield Warned(f"{running.flow_id!r} has nothing to correct")
        return
    for name, value in corrected.items():
        yield SlotSet(name, value, SlotSource.USER)
    for frame in active_group(turn.stack):
        step = turn.assistant.flows[frame.flow_id].steps.get(str(running.context["reset_step_id"]))
        if step and frame.flow_id == running.context["reset_flow_id"]:
            yield from _take_back(turn, frame, step, running)
            return


def _take_back(turn: Turn, frame: Frame, step: Step, running: Frame) -> Steps:
    """Move `frame` to `step` of its, without the questions and children above it."""
    above = turn.stack[index_of(turn.stack, frame.id) + 1 : index_of(turn.stack, running.id)]
    for other in reversed(above):
        if not other.is_pattern:
            yield FlowCancelled(other.flow_id, other.step_id)
        if other.flow_id == COLLECT_PATTERN or other.type is FrameType.CALL or not other.is_pattern:
            yield FrameRemoved(other.id)
    yield FrameMoved(frame.id, step.id)
    # The new value is the answer to this step's question, even one asked before filling.
    if isinstance(step, CollectStep):
        yield from ask(turn, step, index_of(turn.stack, frame.id) + 1)
