"""What is known of the agent's slots before one is written: their values now, their types."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.core.project import DomainSlot, has_domain, read_slot_domain
from inspector.errors import UsageError
from inspector.tui.composing.slot_values import Hint, ValueKind, kind_of
from inspector.tui.drawing.safe_text import value_text
from inspector.tui.running_app import app_of
from inspector.wire.json_values import Json

if TYPE_CHECKING:
    from inspector.tui.workspace import Workspace

_KINDS = {
    "text": ValueKind.TEXT,
    "categorical": ValueKind.TEXT,
    "float": ValueKind.NUMBER,
    "bool": ValueKind.BOOLEAN,
    "list": ValueKind.JSON,
}


def hints_of(workspace: "Workspace") -> Mapping[str, Hint]:
    """Return the slots of the project's domain and those that the agent last told.

    What keeps the domain from being read is told in the footer; the agent's slots serve alone.
    """
    domain: Mapping[str, DomainSlot] = {}
    try:
        domain = _domain_of(workspace)
    except UsageError as error:
        workspace.notice(str(error))
    return hints(domain, workspace.board.slots())


def hints(domain: Mapping[str, DomainSlot], told: Mapping[str, Json]) -> Mapping[str, Hint]:
    """Return a hint for each slot: a declared type wins over that of the value told last."""
    found = {name: Hint(value_text(value), _kind(value)) for name, value in told.items()}
    for name, slot in domain.items():
        now = found[name].now if name in found else ""
        found[name] = Hint(now, _KINDS.get(slot.type, ValueKind.AUTO), slot.values)
    return found


def _kind(value: Json) -> ValueKind:
    return ValueKind.AUTO if value is None else kind_of(value)


def _domain_of(workspace: "Workspace") -> Mapping[str, DomainSlot]:
    """Return the slots of the project that was named, or that the target is itself."""
    project = app_of(workspace).project
    if project is not None:
        return read_slot_domain(project)
    target = workspace.target
    is_project = "://" not in target and has_domain(Path(target))
    return read_slot_domain(Path(target)) if is_project else {}
