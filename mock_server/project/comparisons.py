"""Comparisons of a slot with a value that a slot of its type never has (flows.md §3, §4.1)."""

import re
from collections.abc import Mapping
from enum import StrEnum

from mock_server.dialogue.model import Slot, SlotType
from mock_server.project.findings import Findings, Mention, suggestion

COMPARISON = re.compile(
    r"\bslots\.(?P<slot>\w+)\s*(?P<operator>is\s+not\b|is\b|[!=]=|[<>]=?|=)\s*"
    r"(?P<value>\"[^\"]*\"|'[^']*'|true\b|false\b|[-+]?\d[\d.]*)",
    re.IGNORECASE,
)


class _Kind(StrEnum):
    """What a slot holds, and what a condition compares it with."""

    TEXT = "text"
    NUMBER = "number"
    TRUTH = "truth value"


KINDS: Mapping[SlotType, _Kind] = {
    SlotType.BOOL: _Kind.TRUTH,
    SlotType.CATEGORICAL: _Kind.TEXT,
    SlotType.FLOAT: _Kind.NUMBER,
    SlotType.TEXT: _Kind.TEXT,
}
MENDS: Mapping[_Kind, str] = {
    _Kind.TEXT: 'put a text in quotes: "…"',
    _Kind.NUMBER: "write a number, without quotes",
    _Kind.TRUTH: "write true or false, without quotes",
}


def check_comparisons(mention: Mention, slots: Mapping[str, Slot], found: Findings) -> None:
    """Warn of a slot compared with a value of another kind, or with a category that it lacks."""
    for comparison in COMPARISON.finditer(mention.name):
        slot = slots.get(comparison["slot"])
        if slot is not None and slot.type in KINDS:
            _check(comparison, slot, mention, found)


def _check(comparison: re.Match[str], slot: Slot, mention: Mention, found: Findings) -> None:
    value, kind = comparison["value"], KINDS[slot.type]
    other = _kind_of(value)
    where = f"{mention.by} has condition {mention.name!r}"
    is_order = comparison["operator"][0] in "<>"
    if other is not kind:
        verb = "can be compared with" if is_order else "equals"
        text = f"{where}: {slot.name!r} is a {slot.type} slot, and no {kind} {verb} {value}"
        mend = "make it a bool slot" if other is _Kind.TRUTH else MENDS[kind]
        found.warn(mention.location, "condition.type", text, mend)
    elif slot.type is SlotType.CATEGORICAL and not is_order and value[1:-1] not in slot.values:
        text = f"{where}: the values of slot {slot.name!r} are {', '.join(slot.values)}"
        mend = suggestion(value[1:-1], slot.values)
        found.warn(mention.location, "condition.unknown_value", text, mend)


def _kind_of(value: str) -> _Kind:
    if value[0] in "\"'":
        return _Kind.TEXT
    return _Kind.TRUTH if value.lower() in {"true", "false"} else _Kind.NUMBER
