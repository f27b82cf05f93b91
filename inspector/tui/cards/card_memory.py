"""Keeps each card that comes for the next time, and knows the one from the time before."""

from collections.abc import Callable
from datetime import UTC, datetime

from inspector.core.commands import Json
from inspector.core.saved.cards import SeenCard, load_card, save_card
from inspector.core.session import Session
from inspector.folders import cards_folder
from inspector.tui.board import Board


class CardMemory:
    """`last` is the card seen before this session; `tell` hears why one cannot be kept.

    Cards of a reopened session's past are not news and are left alone.
    """

    def __init__(self, session: Session, is_saved: bool, tell: Callable[[str], None]) -> None:
        self.last: SeenCard | None = None
        self._target = session.target
        self._is_saved = is_saved
        self._tell = tell
        self._old_entries = len(session.log.entries)
        self._kept: dict[str, Json] | None = None

    def take(self, board: Board) -> None:
        card = board.card
        if card is None or card.seq <= self._old_entries or card.card == self._kept:
            return
        if self._kept is None:
            self.last = load_card(cards_folder(), self._target)
        self._kept = card.card
        if self._is_saved:
            problem = save_card(cards_folder(), self._target, card.card, datetime.now(UTC))
            if problem:
                self._tell(problem)
