"""Text, values, times, sizes, parts and faults as short text that is safe to draw."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from inspector.views.text import plain, plain_line
from inspector.wire.dialect import File, Part
from inspector.wire.endpoints import DEFAULT
from inspector.wire.json_values import Json, encode_json
from inspector.wire.mock_admin import ArmedFault

# More than this of one text is never drawn; the wire panel shows its size.
MOST_CHARACTERS = 20_000
_TAB = "    "
MOST_OF_PART = 60
# Base64 longer than this is shown as its size.
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


def part_name(part: Part) -> tuple[str, str, str]:
    """Return kind, name and size of `part`; of a file the size of its content."""
    kind, file = safe_line(part.label), part.file
    if file is not None:
        encoded = file.encoded
        shown_size = size(len(encoded) * 3 // 4 - encoded[-2:].count("=")) if encoded else ""
        name = safe_line(file.name or file.uri or "file")
        return kind, f"{name}  {safe_line(file.media_type or '')}".rstrip(), shown_size
    content = part.data if isinstance(part.data, dict) else {}
    line = safe_line(part.text or json.dumps(content, ensure_ascii=False))
    if len(line) > MOST_OF_PART:
        line = line[:MOST_OF_PART] + "…"
    return kind, line, size(len(encode_json(DEFAULT.write_part(part))))


def abridged(value: Json, files: Sequence[File]) -> Json:
    """Return `value` with the long contents of `files` in it replaced by their sizes."""
    contents = {file.encoded for file in files if file.encoded}
    match value:
        case dict():
            return {name: abridged(one, files) for name, one in value.items()}
        case list():
            return [abridged(one, files) for one in value]
        case str() if len(value) > _MOST_BASE64 and value in contents:
            return f"… {size(len(value) * 3 // 4)}"
        case _:
            return value


def fault_words(fault: ArmedFault) -> str:
    """Return the fault in a few words: `delay 2 s`."""
    said = [
        form.format(value_text(fault.effect[n]))
        for n, form in _TELLING.items()
        if n in fault.effect
    ]
    return " ".join([safe_line(fault.kind).replace("_", " "), *said])
