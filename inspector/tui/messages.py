"""How widgets reach the rest of the app: small messages upwards, and the app itself."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import App
from textual.message import Message
from textual.widget import Widget

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.core.commands import Turn
    from inspector.tui.layout import Layout


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
class PanelWanted(Message):
    """The panel of this name has something new to show, and is not seen."""

    name: str


@dataclass
class LayoutChanged(Message):
    """The panels share the screen in another way."""

    layout: "Layout"


@dataclass
class Notice(Message):
    """What is to be said at the foot of the screen."""

    text: str


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


def app_of(widget: Widget) -> App[int]:
    """Return the app that `widget` runs in, whose type Textual leaves open."""
    return widget.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
