"""The views of a log as far as it was folded, and the board that they make."""

from dataclasses import dataclass

from inspector.core.entries import Entry
from inspector.tui.board import Board
from inspector.views import log_views
from inspector.views.log_views import Views


@dataclass(frozen=True, slots=True)
class Folds:
    views: Views = log_views.EMPTY

    def step(self, entry: Entry) -> "Folds":
        return Folds(log_views.step(self.views, entry))

    def board(self) -> Board:
        views = self.views
        return Board(
            card=views.card.card,
            chat=views.chat.said,
            timeline=views.timeline,
            data=views.data,
            exchanges=views.exchanges,
            mock=views.mock,
            live=views.live,
            readings=views.readings,
        )
