"""JSON text that any input turns into a value or a ValueError, and that any value turns into.

orjson does the common case. The standard library does what orjson refuses and the real server's
parser takes: lone surrogates, NaN, byte order marks.
"""

import json
import math
from dataclasses import fields, is_dataclass
from datetime import datetime

import orjson

from mock_server.dialogue.model import Json

# Deeper values break the encoders behind us: orjson writes 254 levels, and a reply adds a few.
MAX_DEPTH = 200


def parse_json(text: bytes | str, *, keeps_numbers: bool = False) -> Json:
    """Return the value of `text`; numbers that JSON cannot write, such as NaN, become null.

    With `keeps_numbers` they stay as they are.

    Raises:
        ValueError: it is not JSON, not UTF-8, or nested deeper than MAX_DEPTH.
    """
    try:
        value: Json = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = _parse_leniently(text, keeps_numbers=keeps_numbers)
    if _openers(text) > MAX_DEPTH and _is_deep(value):
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    return value


def encode_json(value: object) -> bytes:
    """Return compact UTF-8 in the order of the keys; lone surrogates are escaped.

    Dataclasses are objects of their fields, and a datetime is text in ISO 8601.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False, default=_plain)
        return text.encode()


def _plain(value: object) -> object:
    """What orjson writes by itself, for the standard library to write."""
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} is not JSON")


def _parse_leniently(text: bytes | str, *, keeps_numbers: bool) -> Json:
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    read = float if keeps_numbers else _finite
    try:
        return json.loads(text, parse_constant=read, parse_float=read)
    except RecursionError:
        raise ValueError(f"nested deeper than {MAX_DEPTH}") from None


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _openers(text: bytes | str) -> int:
    if isinstance(text, bytes):
        return text.count(b"[") + text.count(b"{")
    return text.count("[") + text.count("{")


def _is_deep(value: Json) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _containers_in(outer)]
        if not level:
            return False
    return True


def _containers_in(value: Json) -> list[Json]:
    match value:
        case dict():
            return [child for child in value.values() if isinstance(child, dict | list)]
        case list():
            return [child for child in value if isinstance(child, dict | list)]
        case _:
            return []
