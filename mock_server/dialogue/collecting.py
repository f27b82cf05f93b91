"""Asking for a slot: the frames of `pattern_collect_information` and `pattern_validate_slot`."""

from collections.abc import Iterable

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.events import SlotSet, SlotSource
from mock_server.dialogue.lifecycle import fail, go_on
from mock_server.dialogue.model import CollectStep, Json, Rejection, Slot, SlotValidation
from mock_server.dialogue.stack import COLLECT_PATTERN, VALIDATE_PATTERN
from mock_server.dialogue.turn import Steps, Turn


def collect(turn: Turn, step: CollectStep) -> Steps:
    """Arrive at collect step `step` of the topmost frame (flows.md §5, Executor).

    A value that came early goes through the step's rejections and validation like an answer.
    """
    slot = turn.assistant.slots[step.slot]
    value = turn.state.slots[step.slot]
    if step.ask_before_filling and value is not None:
        yield SlotSet(step.slot, None, SlotSource.RESET)
        value = None
    elif value is None and slot.initial_value is not None and not _prompt(turn.assistant, step):
        value = slot.initial_value
        yield SlotSet(step.slot, value, SlotSource.INITIAL)
    if value is not None and not _is_checked(turn.assistant, step):
        yield from go_on(turn, turn.top, step.next)
    elif value is None and not _prompt(turn.assistant, step):
        yield from fail(turn, {"slot": step.slot, "flow": turn.top.flow_id})
    else:
        yield from ask(turn, step)


def ask(turn: Turn, step: CollectStep, index: int | None = None) -> Steps:
    """Push the question of `step`, or put it at `index` of the stack."""
    context: dict[str, Json] = {
        "collect": step.slot,
        "utter": _response(turn.assistant, step),
        "collect_action": _asking_action(turn.assistant, step.slot),
        "rejections": _as_json(step.rejections),
    }
    yield from turn.push(COLLECT_PATTERN, context=context, index=index)


def validate(turn: Turn, slot: Slot, validation: SlotValidation) -> Steps:
    """Push the check of a value that `slot` was just given."""
    refill = validation.refill_utter or f"utter_ask_{slot.name}"
    context: dict[str, Json] = {
        "validate": slot.name,
        "refill_utter": refill if refill in turn.assistant.responses else None,
        "refill_action": _asking_action(turn.assistant, slot.name),
        "rejections": _as_json(validation.rejections),
    }
    yield from turn.push(VALIDATE_PATTERN, context=context)


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
