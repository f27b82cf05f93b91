"""Which flows are wished for beyond doubt, and what starts them with the values named."""

from mock_server.dialogue import answers, phrases
from mock_server.dialogue.commands import Clarify, Command, SetSlot, StartFlow
from mock_server.dialogue.flow_matching import FlowMatch
from mock_server.dialogue.guards import can_start
from mock_server.dialogue.hearing import Hearing
from mock_server.dialogue.lexicon import WORD
from mock_server.dialogue.model import Flow, Slot, SlotFiller, SlotType

CLEAR_WORDS = 2


def clear_wish(hearing: Hearing) -> tuple[FlowMatch, ...]:
    """The flows that are wished for beyond doubt.

    Beyond doubt is a request ("show me …"), or a sentence that begins as a flow's name does and
    has a second word of it; a value, such as "checking account", is neither.
    """
    matches = hearing.wish.best
    if not matches or phrases.REQUEST.search(hearing.plain):
        return matches
    begins = next(iter(WORD.findall(hearing.plain)), "")
    is_imperative = any(
        begins in _name_words(hearing.assistant.flows[match.flow_id]) for match in matches
    )
    has_more = any(len(match.words) >= CLEAR_WORDS for match in matches)
    return matches if is_imperative and has_more else ()


def digression(hearing: Hearing) -> tuple[FlowMatch, ...]:
    """The clear wish, if it is for another flow than the running one."""
    matches = clear_wish(hearing)
    is_active = any(
        hearing.assistant.flows[match.flow_id] is hearing.active_flow for match in matches
    )
    return () if is_active else matches


def _name_words(flow: Flow) -> set[str]:
    return {word.lower() for word in WORD.findall(f"{flow.id} {flow.name}".replace("_", " "))}


def commands_for(hearing: Hearing, matches: tuple[FlowMatch, ...]) -> tuple[Command, ...]:
    """Start the one flow with the values that the message names, or ask which of several."""
    flows = [hearing.assistant.flows[match.flow_id] for match in matches]
    if len(flows) > 1:
        return (Clarify(tuple(flow.id for flow in flows)),)
    return tuple(c for flow in flows for c in (StartFlow(flow.id), *_values(hearing, flow)))


def handoff_flow(hearing: Hearing) -> Flow | None:
    """The one flow of the project that is named after handing over to a human."""
    slots = hearing.state.slots
    flows = [flow for flow in hearing.assistant.index.handoffs if can_start(flow, slots)]
    return flows[0] if len(flows) == 1 else None


def _values(hearing: Hearing, flow: Flow) -> tuple[SetSlot, ...]:
    """The one number for the one number asked in the flow, and each category that is named."""
    names = sorted(hearing.assistant.index.collected[flow.id])
    slots = [hearing.assistant.slots[name] for name in names]
    fillable = [slot for slot in slots if slot.filler is SlotFiller.FROM_LLM]
    if not fillable:
        return ()
    numbers = answers.numbers_in(hearing.text)
    floats = [slot for slot in fillable if slot.type is SlotType.FLOAT]
    values: list[SetSlot] = []
    if len(numbers) == len(floats) == 1:
        values.append(SetSlot(floats[0].name, numbers[0]))
    for slot in fillable:
        category = _category(slot, hearing.text)
        if category is not None:
            values.append(SetSlot(slot.name, category))
    return tuple(values)


def _category(slot: Slot, text: str) -> str | None:
    if slot.type is not SlotType.CATEGORICAL:
        return None
    category = answers.named_category(slot, text)
    is_plain_yes = category is not None and answers.yes_or_no(category) is not None
    return None if is_plain_yes else category
