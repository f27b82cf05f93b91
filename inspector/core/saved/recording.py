"""A log as JSON Lines: one entry a line, its bytes kept exactly."""

import base64
import dataclasses
import json
from collections.abc import Iterable, Iterator

from inspector.core.commands import Json
from inspector.core.entries import (
    Channel,
    Entry,
    Failed,
    FailureKind,
    FrameReceived,
    Headers,
    Purpose,
    PushReceived,
    PushVerdict,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.wire.tree import at, list_at, parse_json, text_at


class BadRecording(ValueError):
    """A line that is no entry; `line` counts from 1."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(f"line {line} of the recording is no entry")


def encode_entry(entry: Entry) -> str:
    """Return `entry` as a JSON object without a line end; bytes that are not UTF-8 as base64."""
    fields: dict[str, Json] = {"entry": type(entry).__name__}
    for field in dataclasses.fields(entry):
        value: object = getattr(entry, field.name)
        match value:
            case bytes():
                fields[field.name] = _encode_bytes(value)
            case tuple():
                fields[field.name] = [[name, text] for name, text in _pairs(entry)]
            case str() | int() | float() | None:
                fields[field.name] = value
            case _:
                raise TypeError(f"{field.name} of {fields['entry']} has no place in a recording")
    return json.dumps(fields)


def decode_entries(lines: Iterable[str]) -> Iterator[Entry]:
    """Yield the entries of a recording.

    Raises:
        BadRecording: at the first line that is none.
    """
    for number, line in enumerate(lines, 1):
        yield decode_entry(parse_json(line.encode()).value, number)


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


def _decode(fields: Json) -> Entry:
    seq, at_ms, exchange = (
        _integer(fields, "seq"),
        _number(fields, "at_ms"),
        _integer(fields, "exchange"),
    )
    match text_at(fields, "entry"):
        case "RequestSent":
            return RequestSent(
                seq,
                at_ms,
                exchange,
                Purpose(_text(fields, "purpose")),
                _text(fields, "method"),
                _text(fields, "url"),
                _headers(fields),
                _bytes(fields, "body"),
            )
        case "ResponseStarted":
            connect_ms = at(fields, "connect_ms")
            return ResponseStarted(
                seq,
                at_ms,
                exchange,
                _integer(fields, "status"),
                _text(fields, "http_version"),
                _headers(fields),
                None if connect_ms is None else _number(fields, "connect_ms"),
            )
        case "FrameReceived":
            channel = Channel(_text(fields, "channel"))
            return FrameReceived(seq, at_ms, exchange, channel, _bytes(fields, "raw"))
        case "PushReceived":
            return PushReceived(
                seq,
                at_ms,
                exchange,
                _text(fields, "method"),
                _text(fields, "url"),
                _headers(fields),
                _bytes(fields, "body"),
                PushVerdict(_text(fields, "verdict")),
                None if at(fields, "status") is None else _integer(fields, "status"),
            )
        case "ResponseEnded":
            return ResponseEnded(seq, at_ms, exchange)
        case "Failed":
            kind = FailureKind(_text(fields, "kind"))
            return Failed(seq, at_ms, exchange, kind, _text(fields, "message"))
        case other:
            raise ValueError(f"no entry is called {other!r}")


def _text(fields: Json, name: str) -> str:
    value = at(fields, name)
    if not isinstance(value, str):
        raise TypeError(name)
    return value


def _number(fields: Json, name: str) -> float:
    value = at(fields, name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(name)
    return value


def _integer(fields: Json, name: str) -> int:
    value = at(fields, name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(name)
    return value


def _bytes(fields: Json, name: str) -> bytes:
    encoded = text_at(fields, name, "base64")
    return _text(fields, name).encode() if encoded is None else base64.b64decode(encoded)


def _headers(fields: Json) -> Headers:
    headers: list[tuple[str, str]] = []
    for pair in list_at(fields, "headers"):
        match pair:
            case [str(name), str(value)]:
                headers.append((name, value))
            case _:
                raise TypeError("headers")
    return tuple(headers)
