"""A session's file: a header, then an entry a line; read back whatever became of it.

    {"session": 1, "id": "7f3a1c09", "target": "…", "started": "2026-11-21T10:02:10+01:00", …}
    {"entry": "RequestSent", "seq": 1, …}
    {"name": "the refund bug"}

Lines are only ever appended, so a reader may come while somebody writes. A `name` line names the
session; the last one counts.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from inspector.core.entries import Entry, Failed, FailureKind, PushReceived, RequestSent
from inspector.core.entries import ResponseEnded as Ended
from inspector.core.saved.recording import BadRecording, decode_entry
from inspector.errors import UsageError
from inspector.wire.tree import Json, at, parse_json, text_at

FORMAT = 1
SHOWN_BYTES = 40
CUT_OFF = "the recording ends here: a2a-inspect was stopped before the exchange was over"


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """`started` is the wall clock at the log's zero, with its offset from UTC."""

    id: str
    target: str
    started: datetime
    product: str


@dataclass(frozen=True, slots=True)
class SavedSession:
    """A file as read. `unreadable` are line numbers; `torn_bytes` at its end are no whole line."""

    path: Path
    header: SessionHeader
    name: str
    entries: tuple[Entry, ...]
    unreadable: tuple[int, ...] = ()
    torn_bytes: int = 0

    @property
    def whole(self) -> tuple[Entry, ...]:
        """The entries, and an end for each exchange that was cut off."""
        return (*self.entries, *cut_off(self.entries))

    @property
    def damage(self) -> str:
        """What could not be read, to be told once; "" for a file that is whole."""
        told = [f"line {number} is unreadable" for number in self.unreadable]
        told += [f"its last {self.torn_bytes} bytes are torn"] if self.torn_bytes else []
        return f"{self.path.name}: {', '.join(told)}; the rest is shown" if told else ""


def encode_header(header: SessionHeader) -> str:
    return json.dumps(
        {
            "session": FORMAT,
            "id": header.id,
            "target": header.target,
            "started": header.started.isoformat(),
            "product": header.product,
        }
    )


def encode_name(name: str) -> str:
    return json.dumps({"name": name})


def read_header(path: Path) -> SessionHeader:
    """Read the first line alone.

    Raises:
        UsageError: the file cannot be read, or is no session of a format known here.
    """
    try:
        with path.open("rb") as lines:
            return _decode_header(path, lines.readline())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def read_session(path: Path) -> SavedSession:
    """Read a whole session, leaving out what is no entry.

    Raises:
        UsageError: as `read_header` does.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    whole, newline, torn = content.rpartition(b"\n")
    first, *lines = (whole if newline else content).split(b"\n")
    header, name = _decode_header(path, first), ""
    entries: list[Entry] = []
    unreadable: list[int] = []
    for number, line in enumerate(lines, 2):
        fields = parse_json(line).value
        if (given := text_at(fields, "name")) is not None:
            name = given
            continue
        try:
            entries.append(decode_entry(fields, number))
        except BadRecording:
            unreadable.append(number)
    torn_bytes = len(torn) if newline else 0
    return SavedSession(path, header, name, tuple(entries), tuple(unreadable), torn_bytes)


def cut_off(entries: Iterable[Entry]) -> Iterator[Failed]:
    """The end of each exchange that has none because whoever recorded it was killed."""
    last: Entry | None = None
    running: dict[int, None] = {}
    for last in entries:
        match last:
            case RequestSent():
                running[last.exchange] = None
            case Ended() | Failed() | PushReceived():
                running.pop(last.exchange, None)
            case _:
                pass
    if last is not None:
        for place, exchange in enumerate(running, 1):
            yield Failed(last.seq + place, last.at_ms, exchange, FailureKind.STOPPED, CUT_OFF)


def _decode_header(path: Path, line: bytes) -> SessionHeader:
    fields = parse_json(line).value
    found = at(fields, "session")
    if isinstance(found, int) and found > FORMAT:
        raise UsageError(
            f"{path}: format {found} is newer than this a2a-inspect, which reads {FORMAT}",
            "update a2a-inspect",
        )
    try:
        return SessionHeader(
            id=_text(fields, "id"),
            target=_text(fields, "target"),
            started=datetime.fromisoformat(_text(fields, "started")).astimezone(),
            product=_text(fields, "product"),
        )
    except (ValueError, OverflowError) as error:
        found = repr(line[:SHOWN_BYTES].decode(errors="replace")) if line else "nothing"
        raise UsageError(
            f'{path}:1: this is no saved session: expected {{"session": {FORMAT}, …}}, '
            f"found {found}",
            "a2a-inspect sessions list shows those that are; sessions export writes them to files",
        ) from error


def _text(fields: Json, name: str) -> str:
    value = text_at(fields, name)
    if value is None:
        raise ValueError(name)
    return value
