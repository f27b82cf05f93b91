"""What a message says to the dialogue: its text without markers, and the slots it brings.

Slots come in five places, later ones win (server.md SLOT-1): a line `SLOTS: {…}`, a trailing
```json fence, the request's metadata, the message's metadata, DataParts in order.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json
from mock_server.dialogue.slots import coerce_bounded
from mock_server.errors import InvalidSlotValue
from mock_server.records import record
from mock_server.tasks.json_text import parse_json
from mock_server.tasks.task import DataPart, Message, Part, TextPart

SLOTS_MARKER = "SLOTS:"
SLOTS_LINE = re.compile(r"^[ \t]*" + SLOTS_MARKER + r"[ \t]*(\{.*\})[ \t]*\r?$\n?", re.MULTILINE)
FENCE = "```json"
NULL_WORDS = frozenset({"none", "null", "undefined"})
SLOTS_KEY = "slots"

Slots = Mapping[str, Json]


@record
class Reading:
    """`message` has its markers stripped; `slots` are raw, the winners of the total order."""

    message: Message
    text: str
    slots: Slots
    carries_slots: bool
    metadata: Slots


@record
class Seeds:
    """Slots ready to be written, and those whose value the slot does not admit (SLOT-3)."""

    slots: tuple[tuple[str, Json], ...]
    skipped: tuple[InvalidSlotValue, ...]


def read(message: Message, request_metadata: Slots | None = None) -> Reading:
    """Separate what the user said from what the orchestrator brings."""
    in_lines: list[Slots] = []
    in_fences: list[Slots] = []
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            text = _strip_fence(_strip_lines(part.text, in_lines), in_fences)
            if text == part.text:
                parts.append(part)
            elif text:
                parts.append(replace(part, text=text))
        else:
            parts.append(part)
    sources = [
        *in_lines,
        *in_fences,
        *_in_metadata(request_metadata),
        *_in_metadata(message.metadata),
    ]
    sources += [slots for part in message.parts for slots in _in_data(part)]
    metadata = message.metadata or {}
    kept = tuple(parts)
    return Reading(
        message=message if kept == message.parts else replace(message, parts=kept),
        text="\n".join(part.text for part in parts if isinstance(part, TextPart)),
        slots={name: value for source in sources for name, value in source.items()},
        carries_slots=any(sources),
        metadata={key: value for key, value in metadata.items() if key != SLOTS_KEY},
    )


def seeds(assistant: Assistant, slots: Slots) -> Seeds:
    """Return `slots` as the domain admits them; names that are not the domain's are left out."""
    admitted: list[tuple[str, Json]] = []
    skipped: list[InvalidSlotValue] = []
    for name, value in slots.items():
        slot = assistant.slots.get(name)
        if slot is None or slot.is_builtin:
            continue
        try:
            admitted.append((name, coerce_bounded(slot, _or_null(value))))
        except InvalidSlotValue as problem:
            skipped.append(problem)
    return Seeds(tuple(admitted), tuple(skipped))


def _strip_lines(text: str, found: list[Slots]) -> str:
    if SLOTS_MARKER not in text:
        return text

    def take(line: re.Match[str]) -> str:
        slots = _slots_of(line[1])
        if slots is None:
            return line[0]
        found.append(slots)
        return ""

    stripped = SLOTS_LINE.sub(take, text)
    return text if stripped == text else stripped.strip()


def _strip_fence(text: str, found: list[Slots]) -> str:
    start = text.rfind(FENCE)
    trailing = text[start + len(FENCE) :].rstrip()
    if start < 0 or not trailing.endswith("```"):
        return text
    slots = _slots_of(trailing.removesuffix("```"))
    if slots is None:
        return text
    found.append(slots)
    return text[:start].strip()


def _slots_of(text: str) -> Slots | None:
    try:
        value = parse_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _in_metadata(metadata: Slots | None) -> list[Slots]:
    slots = (metadata or {}).get(SLOTS_KEY)
    return [slots] if isinstance(slots, dict) else []


def _in_data(part: Part) -> list[Slots]:
    return _in_metadata(part.data) if isinstance(part, DataPart) else []


def _or_null(value: Json) -> Json:
    is_null_word = isinstance(value, str) and value.strip().casefold() in NULL_WORDS
    return None if is_null_word else value
