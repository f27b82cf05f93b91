"""Names and values that a project's files mention, checked against what it defines."""

import re
from collections.abc import Collection, Iterable, Mapping

from mock_server.dialogue.actions import DEFAULT_ACTIONS
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import (
    INTENT,
    UNKNOWN,
    CommandSyntaxError,
    SetSlot,
    StartFlow,
    by_intent,
    is_set_slots,
    messages_in,
    parse_command,
    parse_set_slots,
)
from mock_server.dialogue.expressions import check_template
from mock_server.dialogue.model import Slot, SlotType, coerce_said
from mock_server.errors import InvalidSlotValue, TemplateFailed
from mock_server.project.checks.conditions import check_condition
from mock_server.project.findings import Findings, Mention, MentionKind, nearest, suggestion

# action_listen ends a turn; a step that names it says what happens anyway.
UNLISTED_ACTIONS = frozenset({*DEFAULT_ACTIONS, "action_listen"})


def check_mentions(
    assistant: Assistant, mentions: Iterable[Mention], agents: Collection[str], found: Findings
) -> None:
    """Report what is mentioned and not defined, and what is invalid in itself."""
    flows = {*assistant.flows, *agents}
    for mention in mentions:
        _check_mention(mention, assistant, flows, found)


def _check_mention(
    mention: Mention, assistant: Assistant, flows: Collection[str], found: Findings
) -> None:
    place, by, name = mention.location, mention.by, mention.name
    match mention.kind:
        case MentionKind.CONDITION | MentionKind.GUARD:
            check_condition(mention, assistant.slots, found)
        case MentionKind.VALUE:
            check_value(mention, assistant.slots, found)
        case MentionKind.PAYLOAD:
            check_payload(mention, assistant, found)
        case MentionKind.TEMPLATE:
            _check_template(mention, found)
        case MentionKind.SLOT if name not in assistant.slots:
            near = nearest(name, assistant.slots)
            fix = f"the domain has {near!r}" if near else "define it in the domain"
            found.error(place, "flow.unknown_slot", f"{by} names slot {name!r}", fix)
        case MentionKind.FLOW if name not in flows:
            near = nearest(name, flows)
            fix = f"there is {near!r}" if near else "no flow and no sub agent has this name"
            found.error(place, "flow.unknown_flow", f"{by} names flow {name!r}", fix)
        case MentionKind.RESPONSE if not (name in assistant.responses or name in assistant.actions):
            text = f"{by} names response {name!r}, which no domain file has"
            fix = suggestion(name, assistant.responses)
            found.fault(place, "flow.unknown_response", text, fix)
        case MentionKind.ACTION if name not in assistant.actions and name not in UNLISTED_ACTIONS:
            text = f"{by} names action {name!r}, which the domain does not list"
            fix = suggestion(name, assistant.actions | UNLISTED_ACTIONS)
            found.fault(place, "flow.unknown_action", text, fix or "add it to `actions`")
        case MentionKind.LANGUAGE if name not in (
            assistant.language,
            *assistant.additional_languages,
        ):
            text = f"{by} is translated to {name!r}, which config.yml does not list"
            found.warn(place, "response.language", text, "add it to `additional_languages`")
        case _:
            pass


def _check_template(mention: Mention, found: Findings) -> None:
    try:
        check_template(mention.name)
    except TemplateFailed as error:
        text = f"{mention.by} has Jinja that cannot be read: {error.reason}"
        found.fault(mention.location, "jinja.invalid", text)


def check_value(mention: Mention, slots: Mapping[str, Slot], found: Findings) -> None:
    """Warn of a value that the slot's type does not admit; unknown slots are reported elsewhere."""
    slot = slots.get(mention.name)
    try:
        if slot is not None:
            coerce_said(slot, mention.value)
    except InvalidSlotValue as error:
        found.warn(mention.location, "mock.slot_value", f"{mention.by}: {error}")


HOLE = re.compile(r"(?<!\{)\{[A-Za-z_][\w.]*\}(?!\})")


def check_payload(mention: Mention, assistant: Assistant, found: Findings) -> None:
    """Report a payload that is not understood; one with holes is complete only at run time."""
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
        text = f"{mention.by} sends intent {name!r}, which is not the nlu_trigger of any flow"
        fix = suggestion(name, assistant.index.by_intent)
        found.fault(mention.location, "response.unknown_intent", text, fix)


def _check_command(source: str, mention: Mention, assistant: Assistant, found: Findings) -> None:
    try:
        command = parse_command(source)
    except CommandSyntaxError:
        text = f"{mention.by} sends {'/' + source!r}, which is not a slash message"
        fix = "write /SetSlots(slot=value), or /intent of an nlu_trigger"
        found.fault(mention.location, "response.payload", text, fix)
        return
    if isinstance(command, StartFlow) and command.flow_id not in assistant.flows:
        text = f"{mention.by} starts flow {command.flow_id!r}, which no file has"
        fix = suggestion(command.flow_id, assistant.flows)
        found.fault(mention.location, "response.unknown_flow", text, fix)


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
