"""What a button sends, checked before anybody presses it (flows.md §7)."""

import re

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.command_language import (
    CommandSyntaxError,
    is_set_slots,
    parse_command,
    parse_set_slots,
)
from mock_server.dialogue.commands import SetSlot, StartFlow
from mock_server.dialogue.model import SlotType
from mock_server.dialogue.slash import INTENT, UNKNOWN, by_intent, messages_in
from mock_server.dialogue.slots import coerce_said
from mock_server.errors import InvalidSlotValue
from mock_server.project.findings import Findings, Mention, suggestion

HOLE = re.compile(r"(?<!\{)\{[A-Za-z_][\w.]*\}(?!\})")


def check_payload(mention: Mention, assistant: Assistant, found: Findings) -> None:
    """Report a payload that nothing understands; one with holes is written while it runs."""
    payload = mention.name.strip()
    place, by = mention.location, mention.by
    if is_set_slots(payload):
        text = f"{by} sends {payload!r} without a slash, which is read as a user's words"
        found.fault(place, "response.payload", text, f"write /{payload}")
        return
    if not payload.startswith("/") or HOLE.search(payload):
        return
    for source in messages_in(payload.replace("{{", "{").replace("}}", "}")):
        _check_message(source, mention, assistant, found)


def _check_message(source: str, mention: Mention, assistant: Assistant, found: Findings) -> None:
    if is_set_slots(source):
        _check_set_slots(source, mention, assistant, found)
    elif intent := INTENT.fullmatch(source):
        _check_intent(intent[1], intent[2], mention, assistant, found)
    else:
        _check_command(source, mention, assistant, found)


def _check_intent(
    name: str, entities: str | None, mention: Mention, assistant: Assistant, found: Findings
) -> None:
    understood, _ = by_intent(name, entities, assistant)
    if understood == UNKNOWN:
        text = f"{mention.by} sends intent {name!r}, which is no flow's nlu_trigger"
        mend = suggestion(name, assistant.index.by_intent)
        found.fault(mention.location, "response.unknown_intent", text, mend)


def _check_command(source: str, mention: Mention, assistant: Assistant, found: Findings) -> None:
    try:
        command = parse_command(source)
    except CommandSyntaxError:
        text = f"{mention.by} sends {'/' + source!r}, which is no slash message"
        mend = "write /SetSlots(slot=value), or /intent of an nlu_trigger"
        found.fault(mention.location, "response.payload", text, mend)
        return
    if isinstance(command, StartFlow) and command.flow_id not in assistant.flows:
        text = f"{mention.by} starts flow {command.flow_id!r}, which no file has"
        mend = suggestion(command.flow_id, assistant.flows)
        found.fault(mention.location, "response.unknown_flow", text, mend)


def _check_set_slots(source: str, mention: Mention, assistant: Assistant, found: Findings) -> None:
    try:
        pairs = parse_set_slots(source)
    except CommandSyntaxError as error:
        found.fault(mention.location, "response.payload", f"{mention.by}: {error}")
        return
    for pair in pairs:
        _check_pair(pair, mention, assistant, found)


def _check_pair(pair: SetSlot, mention: Mention, assistant: Assistant, found: Findings) -> None:
    place, slot = mention.location, assistant.slots.get(pair.name)
    if slot is None:
        text = f"{mention.by} sets slot {pair.name!r}, which the domain does not have"
        found.fault(place, "response.unknown_slot", text, suggestion(pair.name, assistant.slots))
    elif slot.type is SlotType.LIST:
        text = f"{mention.by} sets the list slot {pair.name!r}, which only an action may set"
        found.fault(place, "response.payload", text)
    else:
        try:
            coerce_said(slot, pair.value)
        except InvalidSlotValue as error:
            found.fault(place, "response.payload", f"{mention.by}: {error}")
