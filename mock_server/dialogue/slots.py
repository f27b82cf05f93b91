"""Values as a slot's type admits them (flows.md §4.1)."""

import math
import re

from mock_server.dialogue.lexicon import FALSE_WORDS, TRUE_WORDS
from mock_server.dialogue.model import Json, Slot, SlotType
from mock_server.errors import InvalidSlotValue

# The slot of the question which interrupted flow goes on, and its value where none shall.
CHOICE_SLOT = "interrupted_flow_to_continue"
NO_CHOICE = "none"

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


def coerce(slot: Slot, value: Json) -> Json:
    """Return `value` as `slot`'s type spells it; None clears any slot.

    Raises:
        InvalidSlotValue: the type does not admit the value.
    """
    if value is None:
        return None
    match slot.type:
        case SlotType.BOOL:
            return _bool(slot, value)
        case SlotType.FLOAT:
            return _float(slot, value)
        case SlotType.CATEGORICAL:
            return _category(slot, value)
        case SlotType.TEXT:
            return _text(slot, value)
        case SlotType.LIST:
            if isinstance(value, list):
                return value
            raise InvalidSlotValue(slot.name, value, "a list")
        case _:
            return value


def coerce_said(slot: Slot, value: Json) -> Json:
    """As `coerce`, of a value in a user's command: a text slot takes true and false as they are.

    Unverified: the assistant that `rasa init` writes has a text slot, a button that sends `true`
    for it, and a flow that goes on only if it `is true`; its e2e tests expect it to go on.

    Raises:
        InvalidSlotValue: the type does not admit the value.
    """
    if slot.type is SlotType.TEXT and isinstance(value, bool):
        return value
    return coerce(slot, value)


def coerce_bounded(slot: Slot, value: Json) -> Json:
    """As `coerce`, and within the slot's declared `min_value` and `max_value` (server.md SLOT-3).

    Raises:
        InvalidSlotValue: the type, or a bound, does not admit the value.
    """
    coerced = coerce(slot, value)
    if isinstance(coerced, float):
        low, high = slot.min_value, slot.max_value
        if low is not None and coerced < low:
            raise InvalidSlotValue(slot.name, value, f"at least {low:g}")
        if high is not None and coerced > high:
            raise InvalidSlotValue(slot.name, value, f"at most {high:g}")
    return coerced


def _bool(slot: Slot, value: Json) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    raise InvalidSlotValue(slot.name, value, "true or false")


def _float(slot: Slot, value: Json) -> float:
    match value:
        case str() if NUMBER.fullmatch(value.strip()) and math.isfinite(float(value)):
            return float(value)
        case int() | float() if not isinstance(value, bool) and _is_finite(value):
            return float(value)
        case _:
            raise InvalidSlotValue(slot.name, value, "a number")


def _is_finite(number: int | float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _category(slot: Slot, value: Json) -> str:
    if isinstance(value, str | int | float):
        word = str(value).strip().casefold()
        for declared in slot.values:
            if declared.casefold() == word:
                return declared
    raise InvalidSlotValue(slot.name, value, f"one of {', '.join(slot.values)}")


def _text(slot: Slot, value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    raise InvalidSlotValue(slot.name, value, "a text")
