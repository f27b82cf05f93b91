"""Values that a turn makes: frozen for the type checker, not at run time.

A frozen dataclass sets its own fields past the guard that it puts up, which takes ten times as
long as setting them. A turn makes sixty objects with three hundred fields, and that would be a
tenth of its time. pyright, in strict mode, refuses an assignment to a field of either kind.
"""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Class = TypeVar("Class")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[Class]) -> type[Class]:
    """As `dataclass(frozen=True, slots=True)`: equal by its fields, and hashable."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
