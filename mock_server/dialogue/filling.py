"""Which values a message may write, and which of them correct an earlier one (flows.md §5)."""

from mock_server.dialogue.answers import NO_CHOICE
from mock_server.dialogue.commands import SetSlot
from mock_server.dialogue.guards import can_start
from mock_server.dialogue.model import Json, Slot, SlotFiller, SlotType
from mock_server.dialogue.plan import Plan, Situation
from mock_server.dialogue.slots import coerce_said
from mock_server.dialogue.stack import asked_slot
from mock_server.errors import InvalidSlotValue

CHOICE_SLOT = "interrupted_flow_to_continue"


def fill(situation: Situation, plan: Plan, command: SetSlot) -> None:
    """Sort a value: to be set, a correction, refused by its type, or not to be written."""
    slot = situation.assistant.slots.get(command.name)
    if slot is None:
        plan.drop(command, "there is no such slot", is_settled=command.is_direct)
        return
    fault = _fault(situation, plan, command, slot)
    if fault:
        plan.drop(command, fault, is_settled=command.is_direct)
        return
    try:
        value = coerce_said(slot, _meant(command))
    except InvalidSlotValue:
        plan.refused.append(command)
        return
    if value == situation.state.slots[slot.name]:
        plan.drop(command, "the slot has that value", is_settled=True)
    elif _is_correction(situation, plan, slot.name):
        plan.corrections[slot.name] = value
    else:
        plan.values[slot.name] = value


def _meant(command: SetSlot) -> Json:
    """The value of `command`; "none" declines the choice of a flow, where elsewhere it clears."""
    is_declined = command.name == CHOICE_SLOT and command.value is None
    return NO_CHOICE if is_declined else command.value


def _fault(situation: Situation, plan: Plan, command: SetSlot, slot: Slot) -> str:
    """Why `command` may not set `slot`; empty if it may."""
    if slot.type is SlotType.LIST:
        return "a list slot is set by actions only"
    if not command.is_direct and slot.filler is not SlotFiller.FROM_LLM:
        return "the user's words do not fill the slot"
    if slot.name in _collected(situation, plan) or slot.name == asked_slot(situation.stack):
        return ""
    if command.is_direct and _is_startable_slot(situation, slot.name):
        return ""
    return "no flow that runs collects the slot"


def _collected(situation: Situation, plan: Plan) -> set[str]:
    """The slots that the flows on the stack, and those that start now, collect."""
    collected = situation.assistant.index.collected
    ids = {frame.flow_id for frame in situation.staying(plan)} | {*plan.starts}
    return {name for flow_id in ids for name in collected[flow_id]}


def _is_startable_slot(situation: Situation, name: str) -> bool:
    flows = situation.assistant.index.by_slot.get(name, ())
    return any(can_start(flow, situation.state.slots) for flow in flows)


def _is_correction(situation: Situation, plan: Plan, name: str) -> bool:
    return (
        situation.earlier_slots[name] is not None
        and name != asked_slot(situation.stack)
        and name in _collected(situation, plan)
        and not plan.is_cancelled
    )
