"""Asking for slots, checking their values and correcting them (flows.md §5)."""

from collections.abc import Iterable, Mapping

from mock_server.dialogue.assistant import Assistant, collects_of
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
from mock_server.dialogue.model import CollectStep, Json, Rejection, Slot, SlotValidation, Step
from mock_server.dialogue.stack import COLLECT_PATTERN, VALIDATE_PATTERN, active_group, index_of
from mock_server.dialogue.turn import RunningTurn, fail, go_on


def collect(turn: RunningTurn, step: CollectStep) -> None:
    """Arrive at collect step `step` of the topmost frame (flows.md §5, Executor).

    A value that came early goes through the step's rejections and validation like an answer.
    """
    slot = turn.assistant.slots[step.slot]
    value = turn.state.slots[step.slot]
    if step.ask_before_filling and value is not None:
        turn.emit(SlotSet(step.slot, None, SlotSource.RESET))
        value = None
    elif value is None and slot.initial_value is not None and not _prompt(turn.assistant, step):
        value = slot.initial_value
        turn.emit(SlotSet(step.slot, value, SlotSource.INITIAL))
    if value is not None and not _is_checked(turn.assistant, step):
        go_on(turn, turn.top, step.next)
    elif value is None and not _prompt(turn.assistant, step):
        fail(turn, {"slot": step.slot, "flow": turn.top.flow_id})
    else:
        ask(turn, step)


def ask(turn: RunningTurn, step: CollectStep, index: int | None = None) -> None:
    """Push the question of `step`, or put it at `index` of the stack."""
    context: dict[str, Json] = {
        "collect": step.slot,
        "utter": _response(turn.assistant, step),
        "collect_action": _asking_action(turn.assistant, step.slot),
        "rejections": _as_json(step.rejections),
    }
    turn.push(COLLECT_PATTERN, context=context, index=index)


def validate(turn: RunningTurn, slot: Slot, validation: SlotValidation) -> None:
    """Push the check of a value that `slot` was just given."""
    refill = validation.refill_utter or f"utter_ask_{slot.name}"
    context: dict[str, Json] = {
        "validate": slot.name,
        "refill_utter": refill if refill in turn.assistant.responses else None,
        "refill_action": _asking_action(turn.assistant, slot.name),
        "rejections": _as_json(validation.rejections),
    }
    turn.push(VALIDATE_PATTERN, context=context)


def _is_checked(assistant: Assistant, step: CollectStep) -> bool:
    return bool(step.rejections) or f"validate_{step.slot}" in assistant.actions


def _prompt(assistant: Assistant, step: CollectStep) -> str | None:
    return _response(assistant, step) or _asking_action(assistant, step.slot)


def _response(assistant: Assistant, step: CollectStep) -> str | None:
    name = step.utter or f"utter_ask_{step.slot}"
    return name if name in assistant.responses else None


def _asking_action(assistant: Assistant, slot: str) -> str | None:
    name = f"action_ask_{slot}"
    return name if name in assistant.actions else None


def _as_json(rejections: Iterable[Rejection]) -> list[Json]:
    return [{"if": rejection.condition, "utter": rejection.utter} for rejection in rejections]


def push_correction(turn: RunningTurn, corrected: Mapping[str, Json]) -> None:
    target = _reset_target(turn, frozenset(corrected))
    context: dict[str, Json] = {
        "is_reset_only": all(value is None for value in corrected.values()),
        "corrected_slots": dict(corrected),
        "new_slot_values": list(corrected.values()),
        "reset_flow_id": target[0].flow_id if target else None,
        "reset_step_id": target[1] if target else None,
    }
    turn.push("pattern_correction", context=context)


def _reset_target(turn: RunningTurn, corrected: frozenset[str]) -> tuple[Frame, str] | None:
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


def correct_flow_slot(turn: RunningTurn) -> None:
    """`action_correct_flow_slot`: write the new values, take the flow back to the first of them."""
    running = turn.top
    corrected = running.context.get("corrected_slots")
    if not isinstance(corrected, dict):
        turn.emit(Warned(f"{running.flow_id!r} has nothing to correct"))
        return
    for name, value in corrected.items():
        turn.emit(SlotSet(name, value, SlotSource.USER))
    for frame in active_group(turn.stack):
        step = turn.assistant.flows[frame.flow_id].steps.get(str(running.context["reset_step_id"]))
        if step and frame.flow_id == running.context["reset_flow_id"]:
            _take_back(turn, frame, step, running)
            return


def _take_back(turn: RunningTurn, frame: Frame, step: Step, running: Frame) -> None:
    """Move `frame` to `step` of its, without the questions and children above it."""
    above = turn.stack[index_of(turn.stack, frame.id) + 1 : index_of(turn.stack, running.id)]
    for other in reversed(above):
        if not other.is_pattern:
            turn.emit(FlowCancelled(other.flow_id, other.step_id))
        if other.flow_id == COLLECT_PATTERN or other.type is FrameType.CALL or not other.is_pattern:
            turn.emit(FrameRemoved(other.id))
    turn.emit(FrameMoved(frame.id, step.id))
    # The new value is the answer to this step's question, even one asked before filling.
    if isinstance(step, CollectStep):
        ask(turn, step, index_of(turn.stack, frame.id) + 1)
