"""What has happened in a conversation so far, for those who are told of it: action servers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from mock_server.dialogue.events import Event

LONGEST = 1000


@dataclass(slots=True)
class Story:
    """The last events of a conversation, each with its time in seconds since 1970."""

    conversation_id: str
    _told: list[tuple[float, Event]] = field(default_factory=list[tuple[float, Event]])
    _before_turn: int = 0

    @property
    def events(self) -> Sequence[tuple[float, Event]]:
        return self._told

    def begin_turn(self) -> None:
        """From here on a turn may be taken back; what is long past is forgotten."""
        del self._told[:-LONGEST]
        self._before_turn = len(self._told)

    def tell(self, event: Event, seconds: float) -> None:
        self._told.append((seconds, event))

    def take_turn_back(self) -> None:
        del self._told[self._before_turn :]

    def forget(self) -> None:
        self._told.clear()
        self._before_turn = 0
