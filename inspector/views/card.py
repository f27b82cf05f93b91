"""The agent's card as a reader wants it: who it is, what it can, what is odd about it."""

from dataclasses import dataclass

from inspector.core.commands import Json
from inspector.wire.findings import Finding


@dataclass(frozen=True, slots=True)
class SkillRow:
    """`is_repair`: a conversation-repair pattern of Rasa, shown apart (CARDV-2)."""

    id: str
    name: str
    description: str
    tags: tuple[str, ...]
    examples: tuple[str, ...]
    is_repair: bool


@dataclass(frozen=True, slots=True)
class CardView:
    """Fields of the card in reading order; `raw` is the body as received."""

    seq: int
    url: str
    source_url: str
    name: str
    version: str
    description: str
    protocol_version: str
    transports: tuple[tuple[str, str], ...]
    capabilities: tuple[tuple[str, bool], ...]
    security: tuple[str, ...]
    input_modes: tuple[str, ...]
    output_modes: tuple[str, ...]
    skills: tuple[SkillRow, ...]
    raw: bytes
    card: dict[str, Json]
    findings: tuple[Finding, ...] = ()
