"""Seeded slots in a message: written and read, one way for each shape (server.md SLOT-1)."""

import re
from collections.abc import Mapping

from inspector.wire.results import data_parts, texts
from inspector.wire.tree import Json, encode_json, list_at, object_at, parse_json

_LINE = re.compile(r"^SLOTS: (\{.*\})[ \t]*$\n?", re.MULTILINE)
_FENCE = re.compile(r"\n?```json\n((?:(?!```)[\s\S])*)\n```\s*\Z")


def add_line(text: str, slots: Mapping[str, Json]) -> str:
    """`SLOTS: {…}` on a line of its own after the text."""
    return _append(text, f"SLOTS: {_compact(slots)}")


def add_fence(text: str, slots: Mapping[str, Json]) -> str:
    """A fenced JSON block that ends the text."""
    return _append(text, f"```json\n{_compact(slots)}\n```")


def data_part(slots: Mapping[str, Json]) -> dict[str, Json]:
    return {"kind": "data", "data": {"slots": dict(slots)}}


def in_metadata(metadata: Mapping[str, Json], slots: Mapping[str, Json]) -> dict[str, Json]:
    """`metadata` with `slots` under its key `slots`."""
    return {**metadata, "slots": dict(slots)}


def _append(text: str, marker: str) -> str:
    return f"{text}\n{marker}" if text else marker


def _compact(slots: Mapping[str, Json]) -> str:
    return encode_json(dict(slots)).decode()


def read_slots(params: Json) -> tuple[dict[str, Json], tuple[str, ...]]:
    """The slots that a message carries as the agent will see them, and the shapes they came in.

    Later shapes win: line, fence, request metadata, message metadata, DataParts in order.
    """
    text = "\n".join(texts(tuple(list_at(params, "message", "parts"))))
    found = [
        ("line", _read_line(text)),
        ("fence", _read_fence(text)),
        ("request", object_at(params, "metadata", "slots")),
        ("metadata", object_at(params, "message", "metadata", "slots")),
    ]
    contents = data_parts(tuple(list_at(params, "message", "parts")))
    found += [("data", object_at(content, "slots")) for content in contents]
    slots: dict[str, Json] = {}
    for _, values in found:
        slots |= values
    return slots, tuple(dict.fromkeys(shape for shape, values in found if values))


def strip_markers(text: str) -> str:
    """`text` without the line and the fence that carry slots."""
    if _read_fence(text):
        text = _FENCE.sub("", text)
    if _read_line(text):
        text = _LINE.sub("", text)
    return text.strip("\n")


def _read_line(text: str) -> dict[str, Json]:
    match = _LINE.search(text)
    return _read_object(match[1]) if match else {}


def _read_fence(text: str) -> dict[str, Json]:
    match = _FENCE.search(text)
    return _read_object(match[1]) if match else {}


def _read_object(text: str) -> dict[str, Json]:
    return object_at(parse_json(text.encode(errors="replace")).value)
