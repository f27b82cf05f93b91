"""All views of one log, stepped together on entries that are read once."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from inspector.core.entries import Entry
from inspector.views import card, chat, data, exchanges, live, mock, reading, timeline, waiting
from inspector.views.card import CardFold
from inspector.views.chat import Chat
from inspector.views.data import DataView
from inspector.views.exchanges import Exchanges
from inspector.views.live import LiveView
from inspector.views.mock import MockView
from inspector.views.reading import Readings
from inspector.views.timeline import Timeline
from inspector.views.waiting import Waiting


@dataclass(frozen=True, slots=True)
class Views:
    """The views as far as the log was folded."""

    readings: Readings = reading.EMPTY
    card: CardFold = card.EMPTY
    chat: Chat = chat.EMPTY
    timeline: Timeline = timeline.EMPTY
    data: DataView = data.EMPTY
    exchanges: Exchanges = exchanges.EMPTY
    mock: MockView = mock.EMPTY
    live: LiveView = live.EMPTY
    waiting: Waiting = waiting.EMPTY


EMPTY = Views()


def step(views: Views, entry: Entry) -> Views:
    """Read `entry` and let every view take from it what it shows."""
    readings, read = reading.step(views.readings, entry)
    if read is None:
        return views
    return Views(
        readings=readings,
        card=card.step(views.card, read),
        chat=chat.step(views.chat, read),
        timeline=timeline.step(views.timeline, read),
        data=data.step(views.data, read),
        exchanges=exchanges.step(views.exchanges, read),
        mock=mock.step(views.mock, entry),
        live=live.step(views.live, read),
        waiting=waiting.step(views.waiting, read),
    )


def fold(entries: Iterable[Entry]) -> Views:
    """The views of a whole log."""
    return reduce(step, entries, EMPTY)
