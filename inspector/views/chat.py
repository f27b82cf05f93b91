"""The conversation: what was said by whom, and with which slots."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from inspector.core.commands import Json


@dataclass(frozen=True, slots=True)
class Offer:
    """A button that the agent printed: `1: title (payload)`."""

    number: int
    title: str
    payload: str


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the conversation. `seq` names the entry it came from.

    `speaker` is "you" or "agent"; `problem` is set where the exchange failed: what happened, the
    likely cause and what to try.
    """

    seq: int
    at_ms: float
    exchange: int
    speaker: str
    text: str
    state: str | None = None
    slots: Mapping[str, Json] = field(default_factory=dict[str, Json])
    slot_shapes: tuple[str, ...] = ()
    offers: tuple[Offer, ...] = ()
    problem: str = ""
