"""The structured output: Rasa's DataPart field by field, every DataPart and artifact as a tree."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from inspector.core.commands import Json
from inspector.views.slots import SlotRow


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    """An artifact as assembled so far from `chunks` updates; `is_complete` after its last."""

    artifact_id: str
    name: str
    text: str
    parts: tuple[Json, ...]
    chunks: int
    is_complete: bool


@dataclass(frozen=True, slots=True)
class TurnData:
    """What one turn brought. `seq` names the entry; `parts` are the contents of its DataParts."""

    seq: int
    exchange: int
    context_id: str | None
    state: str | None
    active_flow: str | None
    slots: tuple[SlotRow, ...]
    persisted_slots: Mapping[str, Json] = field(default_factory=dict[str, Json])
    reason: str | None = None
    error_type: str | None = None
    error_info: Json = None
    parts: tuple[Json, ...] = ()
    artifacts: tuple[ArtifactRow, ...] = ()
