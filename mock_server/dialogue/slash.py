"""Slash messages: Rasa's `/SetSlots(...)` and `/intent`, and the mock's `/StartFlow(f)` (§7)."""

import json
import re

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.command_language import (
    CommandSyntaxError,
    is_set_slots,
    parse_command,
    parse_set_slots,
)
from mock_server.dialogue.commands import (
    CannotHandle,
    Command,
    Restart,
    SessionEnd,
    SessionStart,
    SetSlot,
    StartFlow,
)
from mock_server.dialogue.model import Json

INVALID_INTENT = "cannot_handle_invalid_intent"
UNKNOWN = (CannotHandle(INVALID_INTENT),)
INTENT = re.compile(r"([\w.+-]+)\s*(\{.*\})?", re.DOTALL)
SEPARATOR = re.compile(r"([;\n])")
# `/CancelFlow` is an intent that no flow is likely to have, and means the command (flows.md §7).
BARE_COMMANDS = frozenset(
    {"CancelFlow", "ChitChat", "Handoff", "HumanHandoff", "Noop", "Repeat", "Skip", "SkipQuestion"}
)
SESSION_INTENTS = {
    "session_start": SessionStart(),
    "session_end": SessionEnd(),
    "restart": Restart(),
}


def read_slash(text: str, assistant: Assistant) -> tuple[tuple[Command, ...], str]:
    """The commands of a message that begins with a slash, none for any other, and why.

    Several stand on lines of their own, or with `;` between them.
    """
    if not text.startswith("/"):
        return (), "it does not begin with a slash"
    commands: list[Command] = []
    reasons: list[str] = []
    for source in messages_in(text):
        read, reason = _read_one(source, assistant)
        commands.extend(read)
        reasons.append(reason)
    return tuple(commands), "; ".join(reasons)


def messages_in(text: str) -> list[str]:
    """The messages in `text`, which begins with a slash, each without its own.

    A separator that no slash follows belongs to the message before it.
    """
    parts: list[list[str]] = []
    for piece in SEPARATOR.split(text.rstrip("; \n")):
        if piece.lstrip().startswith("/"):
            parts.append([piece])
        else:
            parts[-1].append(piece)
    messages = ("".join(pieces).strip("; \n") for pieces in parts)
    return [message.lstrip().removeprefix("/").strip() for message in messages]


def _read_one(source: str, assistant: Assistant) -> tuple[tuple[Command, ...], str]:
    try:
        if is_set_slots(source):
            return parse_set_slots(source), "it sets slots"
        intent = INTENT.fullmatch(source)
        if intent is not None:
            return by_intent(intent[1], intent[2], assistant)
        return (parse_command(source),), "it is a command of the mock"
    except CommandSyntaxError as error:
        return UNKNOWN, str(error)


def by_intent(
    name: str, entities: str | None, assistant: Assistant
) -> tuple[tuple[Command, ...], str]:
    """What intent `name` starts, with the slots that its entities fill; else UNKNOWN."""
    if name in SESSION_INTENTS:
        return (SESSION_INTENTS[name],), f"intent {name!r} is Rasa's own"
    flow = assistant.index.by_intent.get(name)
    if flow is not None:
        commands = (StartFlow(flow.id, is_trigger=True), *_entity_slots(entities, assistant))
        return commands, f"intent {name!r} starts {flow.id!r}"
    if name in BARE_COMMANDS and entities is None:
        return (parse_command(f"{name}()"),), "it is a command of the mock"
    return UNKNOWN, f"no flow has the nlu_trigger {name!r}"


def _entity_slots(entities: str | None, assistant: Assistant) -> tuple[SetSlot, ...]:
    """Entities fill the slots of their name."""
    try:
        values: Json = json.loads(entities) if entities else {}
    except (ValueError, RecursionError):
        return ()
    named = values if isinstance(values, dict) else {}
    return tuple(
        SetSlot(name, value, is_direct=True)
        for name, value in named.items()
        if name in assistant.slots
    )
