"""Entries folded as they come, drawn as often as drawing them allows."""

import asyncio
from collections.abc import Callable, Sequence
from time import perf_counter

from inspector.core.entries import Entry
from inspector.tui.board import Board
from inspector.tui.folds import Folds

FRAME_SECONDS = 1 / 30
_CHUNK = 500


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
