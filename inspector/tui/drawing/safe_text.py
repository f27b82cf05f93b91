"""Text, values, times, sizes, parts and faults as short text that is safe to draw."""

import json
from datetime import datetime, timedelta

from inspector.views.text import plain, plain_line
from inspector.wire.json_values import Json, encode_json, object_at, text_at
from inspector.wire.mock_admin import ArmedFault

# More than this of one text is never drawn; the wire view tells its size.
MOST_CHARACTERS = 20_000
_TAB = "    "
MOST_OF_PART = 60
# Base64 longer than this is told by its size.
_MOST_BASE64 = 80
# The parameters that say most, and how they are said in a word.
_TELLING = {"status": "{}", "seconds": "{} s", "state": "{}", "times": "{} times"}
_SECOND_MS = 1000
_MINUTE_MS = 60 * _SECOND_MS
_KILOBYTE = 1000


def safe(text: str) -> str:
    """Return `text` with line feeds as its only control character."""
    cleaned = plain(text[:MOST_CHARACTERS]).replace("\t", _TAB)
    more = len(text) - MOST_CHARACTERS
    return f"{cleaned} … {more} characters more" if more > 0 else cleaned


def safe_line(text: str) -> str:
    """Return `text` on one line."""
    return plain_line(safe(text))


def value_text(value: Json) -> str:
    """Return `value` as a person would type it: text bare, everything else as JSON."""
    if isinstance(value, str):
        return safe_line(value)
    return safe_line(json.dumps(value, ensure_ascii=False))


def duration(ms: float) -> str:
    if ms < _SECOND_MS:
        return f"{ms:.0f} ms"
    if ms < _MINUTE_MS:
        return f"{ms / _SECOND_MS:.2f} s"
    minutes, seconds = divmod(int(ms / _SECOND_MS), 60)
    return f"{minutes} m {seconds:02} s"


def span(seconds: float) -> str:
    """Return what is left of something, in its largest unit."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def size(size_bytes: int) -> str:
    if size_bytes < _KILOBYTE:
        return f"{size_bytes} B"
    if size_bytes < _KILOBYTE**2:
        return f"{size_bytes / _KILOBYTE:.1f} kB"
    return f"{size_bytes / _KILOBYTE**2:.1f} MB"


def wall_clock(started: datetime, at_ms: float) -> str:
    return (started + timedelta(milliseconds=at_ms)).strftime("%H:%M:%S")


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
    if len(line) > MOST_OF_PART:
        line = line[:MOST_OF_PART] + "…"
    return kind, line, size(len(encode_json(part)))


def abridged(part: Json) -> Json:
    """Return `part` with a file's long content replaced by its size, for a line to read."""
    encoded = text_at(part, "file", "bytes")
    if not isinstance(part, dict) or encoded is None or len(encoded) <= _MOST_BASE64:
        return part
    content = size(len(encoded) * 3 // 4)
    return {**part, "file": {**object_at(part, "file"), "bytes": f"… {content}"}}


def fault_words(fault: ArmedFault) -> str:
    """Return the fault in a few words: `delay 2 s`."""
    said = [
        form.format(value_text(fault.effect[n]))
        for n, form in _TELLING.items()
        if n in fault.effect
    ]
    return " ".join([safe_line(fault.kind).replace("_", " "), *said])
