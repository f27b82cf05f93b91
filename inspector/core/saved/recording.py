"""A log as JSON Lines: one entry a line, its bytes kept exactly."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import BinaryIO, get_args

from inspector.core.bodies import Body, BodyMemory, Place
from inspector.core.entries import (
    NEVER_SAVED,
    Channel,
    Entry,
    Failed,
    FailureKind,
    Headers,
    Purpose,
    PushReceived,
    PushVerdict,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
    WithBody,
    bytes_of,
)
from inspector.errors import UsageError
from inspector.wire.dialect import Binding, Endpoint
from inspector.wire.json_values import Json, at, list_at, parse_json, text_at

# Any begin plus any time of an entry is a moment that `datetime` can hold, in every zone.
YEARS = range(1970, 9000)
LONGEST_MS = 10**13


class BadRecording(ValueError):
    """A line that is not an entry; `line` counts from 1."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(f"line {line} of the recording is not an entry")


def _saved_fields(kind: type[Entry]) -> "list[Field[object]]":
    return [one for one in fields(kind) if one.metadata != NEVER_SAVED]


def _saved_name(one: "Field[object]") -> str:
    name: str = one.metadata.get("saved_as", one.name)
    return name


def encode_entry(entry: Entry) -> str:
    """Return `entry` as a JSON object without a line end; bytes that are not UTF-8 as base64."""
    written: dict[str, Json] = {"entry": type(entry).__name__}
    for one in _saved_fields(type(entry)):
        value: object = getattr(entry, one.name)
        name = _saved_name(one)
        match value:
            case bytes() | Body():
                written[name] = _encode_bytes(bytes_of(value))
            case Endpoint():
                written[name] = _encode_endpoint(value)
            case tuple():
                written[name] = [[header, text] for header, text in _pairs(entry)]
            case None if name in ("endpoint", "redirected_from"):
                continue
            case bool():
                if value:
                    written[name] = True
            case str() | int() | float() | None:
                written[name] = value
            case _:
                raise TypeError(f"{name} of {written['entry']} has no place in a recording")
    return json.dumps(written)


def decode_entry(fields: Json, line: int) -> Entry:
    """Return the entry that stands in `line` of a recording.

    Raises:
        BadRecording: `fields` are none.
    """
    try:
        return _decode(fields)
    except (ValueError, KeyError, TypeError) as error:
        raise BadRecording(line) from error


def _pairs(entry: Entry) -> Headers:
    return entry.headers if isinstance(entry, RequestSent | ResponseStarted | PushReceived) else ()


def _encode_bytes(value: bytes) -> Json:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _encode_endpoint(endpoint: Endpoint) -> Json:
    """What says how an exchange is to be read again, and why it was made like this."""
    return {
        "url": endpoint.url,
        "version": endpoint.version,
        "binding": endpoint.binding.value,
        "reason": endpoint.reason,
        "is_trusted": endpoint.is_trusted,
    }


def _endpoint(fields: Json, name: str) -> Endpoint | None:
    """None where the request was outside the agent's protocol, or the file is an old one."""
    endpoint = at(fields, name)
    if endpoint is None:
        return None
    return Endpoint(
        _text(endpoint, "url"),
        _text(endpoint, "version"),
        Binding(_text(endpoint, "binding")),
        _text(endpoint, "reason"),
        at(endpoint, "is_trusted") is True,
    )


def _decode(fields: Json) -> Entry:
    make, readers = _DECODERS[text_at(fields, "entry") or ""]
    entry = make(**{name: read(fields, saved) for name, (saved, read) in readers.items()})
    return replace(entry, is_reopened=True) if isinstance(entry, RequestSent) else entry


def _text(fields: Json, name: str) -> str:
    value = at(fields, name)
    if not isinstance(value, str):
        raise TypeError(name)
    return value


def _milliseconds(fields: Json, name: str) -> float:
    """A time since the log's zero, or a duration."""
    value = at(fields, name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(name)
    if not 0 <= value <= LONGEST_MS:
        raise ValueError(name)
    return value


def _integer(fields: Json, name: str) -> int:
    value = at(fields, name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(name)
    return value


def _flag(fields: Json, name: str) -> bool:
    """A line says only what is so."""
    return at(fields, name) is True


def _bytes(fields: Json, name: str) -> bytes:
    encoded = text_at(fields, name, "base64")
    return _text(fields, name).encode() if encoded is None else base64.b64decode(encoded)


def _headers(fields: Json, name: str) -> Headers:
    headers: list[tuple[str, str]] = []
    for pair in list_at(fields, name):
        match pair:
            case [str(name), str(value)]:
                headers.append((name, value))
            case _:
                raise TypeError(name)
    return tuple(headers)


def _optional(read: Callable[[Json, str], object]) -> Callable[[Json, str], object]:
    return lambda fields, name: None if at(fields, name) is None else read(fields, name)


def _enum(kind: type[StrEnum]) -> Callable[[Json, str], object]:
    return lambda fields, name: kind(_text(fields, name))


# How a field is read, by its type.
_READERS: Mapping[object, Callable[[Json, str], object]] = {
    int: _integer,
    int | None: _optional(_integer),
    float: _milliseconds,
    float | None: _optional(_milliseconds),
    str: _text,
    bool: _flag,
    bytes: _bytes,
    bytes | Body: _bytes,
    Headers: _headers,
    Endpoint | None: _endpoint,
    **{kind: _enum(kind) for kind in (Purpose, Channel, PushVerdict, FailureKind)},
}
_DECODERS: Mapping[
    str, tuple[Callable[..., Entry], Mapping[str, tuple[str, Callable[[Json, str], object]]]]
] = {
    kind.__name__: (
        kind,
        {field.name: (_saved_name(field), _READERS[field.type]) for field in _saved_fields(kind)},
    )
    for kind in get_args(Entry)
}


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
    """A file as read. `unreadable` are line numbers; its last `torn_bytes` are not a line.

    The bodies of the entries are in `memory` as far as they fit, the others only in the file.
    """

    path: Path
    header: SessionHeader
    name: str
    entries: tuple[Entry, ...]
    unreadable: tuple[int, ...] = ()
    torn_bytes: int = 0
    memory: BodyMemory = field(default_factory=BodyMemory, compare=False, repr=False)

    @property
    def whole(self) -> tuple[Entry, ...]:
        """The entries, and an end for each exchange that was cut off."""
        return (*self.entries, *cut_off(self.entries))

    @property
    def damage(self) -> str:
        """What could not be read; "" for a file that is whole."""
        found = [f"line {number} is unreadable" for number in self.unreadable]
        found += [f"its last {self.torn_bytes} bytes are torn"] if self.torn_bytes else []
        return f"{self.path.name}: {', '.join(found)}; the rest is shown" if found else ""


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
        UsageError: the file cannot be read, or is not a session of a known format.
    """
    try:
        with path.open("rb") as lines:
            return _decode_header(path, lines.readline())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def read_session(path: Path, memory: BodyMemory | None = None) -> SavedSession:
    """Read a whole session, leaving out what is not an entry.

    Its bodies are held in `memory` as long as there is room, and read again after that.

    Raises:
        UsageError: as `read_header` does.
    """
    try:
        with path.open("rb") as file:
            return _read_lines(path, file, memory or BodyMemory())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _read_lines(path: Path, file: BinaryIO, memory: BodyMemory) -> SavedSession:
    line = file.readline()
    header, name, torn_bytes = _decode_header(path, line.removesuffix(b"\n")), "", 0
    read_again, offset = partial(read_body, path), len(line)
    entries: list[Entry] = []
    unreadable: list[int] = []
    for number, line in enumerate(file, 2):
        place, offset = Place(read_again, offset, len(line)), offset + len(line)
        if not line.endswith(b"\n"):
            torn_bytes = len(line)
            break
        fields = parse_json(line).value
        if (given := text_at(fields, "name")) is not None:
            name = given
            continue
        try:
            entries.append(_held(decode_entry(fields, number), memory, place))
        except BadRecording:
            unreadable.append(number)
    return SavedSession(path, header, name, tuple(entries), tuple(unreadable), torn_bytes, memory)


def _held(entry: Entry, memory: BodyMemory, place: Place) -> Entry:
    """`entry` with its body in `memory`, from where it may go back to its place."""
    if not isinstance(entry, WithBody):
        return entry
    return replace(entry, content=memory.hold(bytes_of(entry.content), place))


def read_body(path: Path, offset: int, length: int) -> bytes | None:
    """The body of the entry that stands there in the file; None where it is gone."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            entry = decode_entry(parse_json(file.read(length)).value, 0)
    except (OSError, BadRecording):
        return None
    is_there = isinstance(entry, WithBody)
    return bytes_of(entry.content) if is_there else None


def cut_off(entries: Iterable[Entry]) -> Iterator[Failed]:
    """An end for each exchange without one: the process that recorded it was killed."""
    last: Entry | None = None
    running: dict[int, None] = {}
    for last in entries:
        match last:
            case RequestSent():
                running[last.exchange] = None
            case ResponseEnded() | Failed() | PushReceived():
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
            id=_header_text(fields, "id"),
            target=_header_text(fields, "target"),
            started=_moment(_header_text(fields, "started")),
            product=_header_text(fields, "product"),
        )
    except (ValueError, OverflowError) as error:
        found = repr(line[:SHOWN_BYTES].decode(errors="replace")) if line else "nothing"
        raise UsageError(
            f'{path}:1: this is not a saved session: expected {{"session": {FORMAT}, …}}, '
            f"found {found}",
            "a2a-inspect sessions list shows those that are; sessions export writes them to files",
        ) from error


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text).astimezone()
    if moment.year not in YEARS:
        raise ValueError(text)
    return moment


def _header_text(fields: Json, name: str) -> str:
    value = text_at(fields, name)
    if value is None:
        raise ValueError(name)
    return value
