"""What is known of the agent's slots before one is written: their values now, their types."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from inspector.tui.conversation import value_text
from inspector.tui.slot_values import Hint, kind_of

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace


def hints_of(workspace: "Workspace") -> Mapping[str, Hint]:
    """Return the slots that the agent last told, each of the type that its value has."""
    return {
        name: Hint(value_text(value)) if value is None else Hint(value_text(value), kind_of(value))
        for name, value in workspace.board.slots().items()
    }
