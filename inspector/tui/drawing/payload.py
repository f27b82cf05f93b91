"""Bytes of the wire as lines to draw: as they came, or as indented JSON where they are JSON."""

import json
from collections.abc import Iterator

from textual.content import Content

from inspector.tui.drawing import ink
from inspector.tui.drawing.quantities import size
from inspector.tui.drawing.safe_text import safe
from inspector.wire.json_values import parse_json

# Beyond this a body is shown by its beginning; the log keeps all of it.
MOST_BYTES = 64 * 1024


def body_lines(raw: bytes, *, is_pretty: bool) -> Iterator[Content]:
    """Yield the lines of `raw`; an SSE event keeps its field names."""
    shown = raw[:MOST_BYTES]
    for line in _lines(shown, is_pretty=is_pretty and len(raw) <= MOST_BYTES):
        yield Content(line)
    if len(raw) > MOST_BYTES:
        yield Content.styled(f"… {size(len(raw) - MOST_BYTES)} more", ink.DIM)


def _lines(raw: bytes, *, is_pretty: bool) -> Iterator[str]:
    if not is_pretty:
        yield from safe(raw.decode("utf-8", "backslashreplace")).split("\n")
        return
    if (pretty := _pretty(raw)) is not None:
        yield from pretty
        return
    for line in safe(raw.decode("utf-8", "backslashreplace")).rstrip("\n").split("\n"):
        pretty = _pretty(line.removeprefix("data:").encode()) if line.startswith("data:") else None
        if pretty is None:
            yield line
        else:
            yield f"data: {pretty[0]}"
            yield from pretty[1:]


def _pretty(raw: bytes) -> list[str] | None:
    parsed = parse_json(raw)
    if parsed.problem or not isinstance(parsed.value, dict | list):
        return None
    return safe(json.dumps(parsed.value, indent=2, ensure_ascii=False)).split("\n")
