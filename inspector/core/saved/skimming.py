"""What a list of sessions needs of each, without reading every frame of every stream."""

import re
from dataclasses import dataclass
from pathlib import Path

from inspector.core.entries import Entry
from inspector.core.saved.recording import BadRecording, decode_entry
from inspector.core.saved.session_files import SessionHeader, read_header
from inspector.core.saved.sessions import read_name
from inspector.errors import UsageError
from inspector.wire.tree import parse_json

# As `recording.encode_entry` writes the beginning of a line.
_LINE = re.compile(rb'\{"entry": "(\w+)", "seq": \d+, "at_ms": [^,]+, "exchange": (\d+)')


@dataclass(frozen=True, slots=True)
class Skimmed:
    """A session's requests, how each ended, and of each only the last frame."""

    path: Path
    header: SessionHeader
    name: str
    entries: tuple[Entry, ...]
    size_bytes: int


def skim(path: Path) -> Skimmed:
    """Read a session for a list; lines that cannot be read are left out.

    Raises:
        UsageError: the file cannot be read, or is no session.
    """
    header = read_header(path)
    try:
        return _skim(path, header)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _skim(path: Path, header: SessionHeader) -> Skimmed:
    kept: dict[tuple[bytes, bytes] | int, bytes] = {}
    size_bytes = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            size_bytes += len(line)
            found = _LINE.match(line)
            if found is None or found[1] == b"ResponseStarted":
                continue
            key = (found[1], found[2]) if found[1] == b"FrameReceived" else number
            # the place of a frame is that of the newest
            kept.pop(key, None)
            kept[key] = line
    entries = tuple(entry for line in kept.values() if (entry := _decode(line)) is not None)
    return Skimmed(path, header, read_name(path), entries, size_bytes)


def _decode(line: bytes) -> Entry | None:
    try:
        return decode_entry(parse_json(line).value, 0)
    except BadRecording:
        return None
