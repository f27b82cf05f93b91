"""Entries folded as they come, drawn as often as drawing them allows."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from inspector.core.entries import Entry
from inspector.tui.board import Board
from inspector.views import log_views
from inspector.views.log_views import Views

FRAME_SECONDS = 1 / 30
_CHUNK = 500


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


class Frames:
    """Calls `ask` with the seconds until the next frame; slow frames come more rarely."""

    def __init__(self, ask: Callable[[float], object]) -> None:
        self._ask = ask
        self._folds = Folds()
        self._is_asked = False
        self._cost_seconds = 0.0

    def take(self, entry: Entry) -> None:
        self._folds = self._folds.step(entry)
        if not self._is_asked:
            self._is_asked = True
            self._ask(max(FRAME_SECONDS, 2 * self._cost_seconds))

    def draw(self, show: Callable[[Board], None]) -> None:
        """Show everything folded so far."""
        began = perf_counter()
        self._is_asked = False
        show(self._folds.board())
        self._cost_seconds = perf_counter() - began

    async def catch_up(self, entries: Sequence[Entry]) -> None:
        """Take what a log holds, also what comes meanwhile; keys are answered in between."""
        taken = 0
        while taken < len(entries):
            chunk = entries[taken : taken + _CHUNK]
            for entry in chunk:
                self.take(entry)
            taken += len(chunk)
            await asyncio.sleep(0)
