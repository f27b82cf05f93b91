"""The agent's slots as its last DataPart tells them, and what changed since the turn before."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from inspector.core.commands import Json


class SlotChange(StrEnum):
    SAME = "same"
    ADDED = "added"
    CHANGED = "changed"
    CLEARED = "cleared"


@dataclass(frozen=True, slots=True)
class SlotRow:
    """`is_seeded`: this turn's message carried the slot with this value."""

    name: str
    value: Json
    previous: Json
    change: SlotChange
    is_seeded: bool = False


def compare(
    before: Mapping[str, Json] | None, after: Mapping[str, Json], seeded: Mapping[str, Json]
) -> tuple[SlotRow, ...]:
    """The slots of `after` in their order, then those that only `before` had, as cleared.

    `before` is None where nobody saw what the turn before had told: then nothing is a change.
    """
    if before is None:
        before = after
    rows = [
        SlotRow(
            name=name,
            value=value,
            previous=before.get(name),
            change=_change(before, name, value),
            is_seeded=name in seeded and seeded[name] == value,
        )
        for name, value in after.items()
    ]
    rows += [
        SlotRow(name, None, previous, SlotChange.CLEARED)
        for name, previous in before.items()
        if name not in after and previous is not None
    ]
    return tuple(rows)


def _change(before: Mapping[str, Json], name: str, value: Json) -> SlotChange:
    previous = before.get(name)
    if previous == value and isinstance(previous, bool) == isinstance(value, bool):
        return SlotChange.SAME
    if value is None:
        return SlotChange.CLEARED
    return SlotChange.ADDED if previous is None else SlotChange.CHANGED
