"""A slot's value from what was typed, and the type that it was taken for."""

import json
from dataclasses import dataclass
from enum import StrEnum

from inspector.tui.drawing.safe_text import value_text
from inspector.wire.json_values import Json


class ValueKind(StrEnum):
    AUTO = "auto"
    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "bool"
    NULL = "null"
    JSON = "json"


class BadValue(ValueError):
    """The typed text is no value of the chosen type."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What is known of a name before it is written: its value now, its type, its choices.

    `kind` AUTO means that nobody has told the type.
    """

    now: str = ""
    kind: ValueKind = ValueKind.AUTO
    choices: tuple[str, ...] = ()

    @property
    def placeholder(self) -> str:
        if self.choices:
            return " | ".join(self.choices)
        return f"now {self.now}" if self.now else "value"


NO_HINT = Hint()


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


def hinted_value(typed: str, hint: Hint) -> tuple[Json, bool]:
    """Return the value of `typed` for the type that `hint` tells, and whether it fits.

    What does not fit is still a value: how the agent takes a wrong one is worth seeing.
    """
    guessed = _guess(typed)
    if guessed is None:
        return None, True
    try:
        value = parse_value(typed, hint.kind)
    except BadValue:
        return guessed, False
    return value, not hint.choices or value in hint.choices


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


def typed_for(value: Json) -> str:
    """Return what to type for `value`: text that would be taken for another type is quoted."""
    text = value_text(value)
    if isinstance(value, str) and _guess(text) != value:
        return json.dumps(value, ensure_ascii=False)
    return text


def _guess(typed: str) -> Json:
    try:
        value: Json = json.loads(typed)
    except (json.JSONDecodeError, RecursionError):
        return typed
    return value
