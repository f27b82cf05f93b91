"""A part in few words: its kind, its name or beginning, its size."""

import json

from inspector.core.commands import Json
from inspector.tui.drawing.quantities import size
from inspector.tui.drawing.safe_text import safe_line
from inspector.wire.json_values import encode_json, object_at, text_at

MOST_CHARACTERS = 60
# Base64 longer than this is told by its size.
_MOST_BASE64 = 80


def part_name(part: Json) -> tuple[str, str, str]:
    """Return kind, name and size of `part`; of a file the size of its content."""
    kind = safe_line(text_at(part, "kind") or "part")
    encoded = text_at(part, "file", "bytes")
    if kind == "file":
        name = text_at(part, "file", "name") or text_at(part, "file", "uri") or "file"
        media_type = text_at(part, "file", "mimeType") or ""
        told = size(len(encoded) * 3 // 4 - encoded[-2:].count("=")) if encoded else ""
        return kind, f"{safe_line(name)}  {safe_line(media_type)}".rstrip(), told
    shown = text_at(part, "text") or json.dumps(object_at(part, "data"), ensure_ascii=False)
    line = safe_line(shown)
    if len(line) > MOST_CHARACTERS:
        line = line[:MOST_CHARACTERS] + "…"
    return kind, line, size(len(encode_json(part)))


def abridged(part: Json) -> Json:
    """Return `part` with a file's long content replaced by its size, for a line to read."""
    encoded = text_at(part, "file", "bytes")
    if not isinstance(part, dict) or encoded is None or len(encoded) <= _MOST_BASE64:
        return part
    content = size(len(encoded) * 3 // 4)
    return {**part, "file": {**object_at(part, "file"), "bytes": f"… {content}"}}
