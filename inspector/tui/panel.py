"""What the panels have in common, so that the rest of the screen need not know which is which."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

from inspector.tui.log_view import LogView
from inspector.tui.messages import Place
from inspector.views.exchanges import Exchange
from inspector.views.exports import entry_bytes, received_bytes


@dataclass(frozen=True, slots=True)
class Payload:
    """A file's name and its content, which is made when somebody asks for it."""

    name: str
    read: Callable[[], bytes]


@runtime_checkable
class Panel(Protocol):
    """A widget that shows the log in its own way.

    `count` is how many of how many pass the filter, None without one.
    """

    title: str
    count: tuple[int, int] | None

    def show_view(self, view: LogView) -> None:
        """Show what has changed, with the selected place marked."""

    def shows_trouble_at(self, place: Place) -> bool:
        """Say whether what is wrong at `place` can be read here."""
        ...

    def copied(self) -> str | None:
        """Return the text of what is selected, for the clipboard."""

    def pointed_exchange(self) -> Exchange | None:
        """Return the selected exchange; where the panel shows turns, that of the turn."""

    def payload(self) -> Payload | None:
        """Return what is selected, to be read in a pager or an editor."""

    def saved(self) -> Payload | None:
        """Return what is selected, to be saved.

        Raises:
            UsageError: there is nothing to save of it.
        """


@runtime_checkable
class OwnFilter(Protocol):
    """A panel with a filter of its own instead of the one that the others share."""

    filter: str

    def filter_by(self, text: str) -> None: ...


def entry_payload(view: LogView) -> Payload | None:
    """Return the body of the selected entry of the log, else of the newest."""
    exchange = view.exchange
    if exchange is None:
        return None
    seq = exchange.request.seq if view.place is None else view.place.seq
    if view.place is None and exchange.frames:
        seq = exchange.frames[-1].seq
    return Payload(f"exchange-{exchange.id}.json", partial(entry_bytes, exchange, seq))


def received_payload(exchange: Exchange | None) -> Payload | None:
    """Return everything that came in answer to a request."""
    if exchange is None:
        return None
    return Payload(f"exchange-{exchange.id}.body", partial(received_bytes, exchange))
