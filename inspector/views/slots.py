"""The agent's slots as its last DataPart tells them, and what changed since the turn before."""

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
