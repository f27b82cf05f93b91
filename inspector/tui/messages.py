"""What widgets tell the screen: small values, one for each thing a user can do to them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.core.commands import Turn


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where in the log something shown came from; one place is selected in all panels at once."""

    exchange: int
    seq: int


@dataclass
class Picked(Message):
    """The cursor came to a block. `at_end`: it is the last one, so the view follows again."""

    place: Place
    at_end: bool


@dataclass
class NewsCame(Message):
    """`count` blocks came to the list `panel` while its cursor was not at the end."""

    panel: str
    count: int


@dataclass
class OfferTaken(Message):
    """A button that the agent offered was clicked."""

    payload: str


@dataclass
class TurnComposed(Message):
    turn: "Turn"


@dataclass
class TargetGiven(Message):
    """`target` as the command line takes it; None asks for the demonstration."""

    target: str | None


@dataclass
class SessionGiven(Message):
    """A saved session to reopen in the place of what is shown."""

    path: "Path"
