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
from mock_server.dialogue.slash import INTENT, SESSION_INTENTS
from mock_server.dialogue.slots import coerce_said
from mock_server.errors import InvalidSlotValue
from mock_server.project.findings import Findings, suggestion
from mock_server.project.mentions import Mention

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
    source = payload.removeprefix("/").replace("{{", "{").replace("}}", "}")
    if is_set_slots(source):
        _check_set_slots(source, mention, assistant, found)
        return
    intent = INTENT.fullmatch(source)
    if intent is None:
        _check_command(source, mention, assistant, found)
        return
    triggers = {name for flow in assistant.flows.values() for name in flow.nlu_triggers}
    if intent[1] not in triggers | SESSION_INTENTS.keys():
        text = f"{by} sends intent {intent[1]!r}, which is no flow's nlu_trigger"
        found.fault(place, "response.unknown_intent", text, suggestion(intent[1], triggers))


def _check_command(source: str, mention: Mention, assistant: Assistant, found: Findings) -> None:
    """A command of the mock, or several with `;` between them, each with a slash."""
    for part in re.split(r"[;\n]\s*/", source.rstrip("; \n")):
        if is_set_slots(part):
            _check_set_slots(part, mention, assistant, found)
            continue
        try:
            command = parse_command(part)
        except CommandSyntaxError:
            text = f"{mention.by} sends {'/' + part!r}, which is no slash message"
            mend = "write /SetSlots(slot=value), or /intent of an nlu_trigger"
            found.fault(mention.location, "response.payload", text, mend)
            continue
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
