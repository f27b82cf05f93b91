"""A slot's value from what was typed, and the type that it was taken for."""

import json
from enum import StrEnum

from inspector.core.commands import Json


class ValueKind(StrEnum):
    AUTO = "auto"
    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "bool"
    NULL = "null"
    JSON = "json"


class BadValue(ValueError):
    """The typed text is no value of the chosen type."""


def parse_value(typed: str, kind: ValueKind) -> Json:
    """Return the value of `typed`; AUTO takes JSON for what it is and everything else as text.

    Raises:
        BadValue: `typed` is not of `kind`.
    """
    match kind:
        case ValueKind.TEXT:
            return typed
        case ValueKind.NULL:
            return None
        case ValueKind.AUTO:
            return _guess(typed)
        case ValueKind.NUMBER | ValueKind.BOOLEAN | ValueKind.JSON:
            value = _guess(typed)
            if kind is not ValueKind.JSON and kind_of(value) is not kind:
                raise BadValue(f"{typed!r} is no {kind}")
            if kind is ValueKind.JSON and value == typed:
                raise BadValue(f"{typed!r} is not JSON")
            return value


def kind_of(value: Json) -> ValueKind:
    match value:
        case None:
            return ValueKind.NULL
        case bool():
            return ValueKind.BOOLEAN
        case int() | float():
            return ValueKind.NUMBER
        case str():
            return ValueKind.TEXT
        case list() | dict():
            return ValueKind.JSON


def _guess(typed: str) -> Json:
    try:
        value: Json = json.loads(typed)
    except (json.JSONDecodeError, RecursionError):
        return typed
    return value
