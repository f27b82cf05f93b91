"""Seeded slots in a message, written and read in each shape (server.md SLOT-1)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from inspector.wire.dialect import Ask, Message, Part, data_parts, texts
from inspector.wire.json_values import Json, at, encode_as_read, parse_json

_LINE = re.compile(r"^[ \t]*SLOTS:[ \t]*(\{.*\})[ \t]*\r?$\n?", re.MULTILINE)
_FENCE = re.compile(r"\n?```json\s((?:(?!```)[\s\S])*)```\s*\Z")


@dataclass(frozen=True, slots=True)
class Seeding:
    """The slots of one place in a message. `shape` is the value of a SlotShape."""

    shape: str
    slots: dict[str, Json]


def add_line(text: str, slots: Mapping[str, Json]) -> str:
    """`SLOTS: {…}` on a line of its own after the text."""
    return _append(text, f"SLOTS: {_compact(slots)}")


def add_fence(text: str, slots: Mapping[str, Json]) -> str:
    """A fenced JSON block that ends the text."""
    return _append(text, f"```json\n{_compact(slots)}\n```")


def data_part(slots: Mapping[str, Json]) -> Part:
    return Part(data={"slots": dict(slots)}, has_data=True)


def in_metadata(metadata: Mapping[str, Json], slots: Mapping[str, Json]) -> dict[str, Json]:
    """`metadata` with `slots` under its key `slots`."""
    return {**metadata, "slots": dict(slots)}


def _append(text: str, marker: str) -> str:
    return f"{text}\n{marker}" if text else marker


def _compact(slots: Mapping[str, Json]) -> str:
    return encode_as_read(dict(slots)).decode()


def seedings(ask: Ask) -> tuple[Seeding, ...]:
    """Every place of a turn that carries slots, lowest precedence first (SLOT-1)."""
    message = ask.message or Message()
    parts = message.parts
    found: list[tuple[str, Json]] = []
    found += [("line", slots) for text in texts(parts) for slots in _lines(text)]
    found += [("fence", _fence(_without_lines(text))) for text in texts(parts)]
    found.append(("request", ask.metadata.get("slots")))
    found.append(("metadata", message.metadata.get("slots")))
    found += [("data", at(content, "slots")) for content in data_parts(parts)]
    return tuple(Seeding(shape, slots) for shape, slots in found if isinstance(slots, dict))


def read_slots(ask: Ask) -> tuple[dict[str, Json], tuple[str, ...]]:
    """The slots that a message carries as the agent will see them, and the shapes they came in."""
    slots: dict[str, Json] = {}
    found = [seeding for seeding in seedings(ask) if seeding.slots]
    for seeding in found:
        slots |= seeding.slots
    return slots, tuple(dict.fromkeys(seeding.shape for seeding in found))


def strip_markers(text: str) -> str:
    """`text` without the lines and the fence that carry slots (SLOT-4)."""
    stripped = _without_lines(text)
    if _fence(stripped) is not None:
        stripped = _FENCE.sub("", stripped)
    return text if stripped == text else stripped.strip("\n")


def _without_lines(text: str) -> str:
    return _LINE.sub(lambda line: "" if _read_object(line[1]) is not None else line[0], text)


def _lines(text: str) -> list[dict[str, Json]]:
    found = [_read_object(line[1]) for line in _LINE.finditer(text)]
    return [slots for slots in found if slots is not None]


def _fence(text: str) -> dict[str, Json] | None:
    match = _FENCE.search(text)
    return _read_object(match[1]) if match else None


def _read_object(text: str) -> dict[str, Json] | None:
    value = parse_json(text.encode(errors="replace")).value
    return value if isinstance(value, dict) else None
