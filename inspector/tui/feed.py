"""The app's end of a session: entries come in as they happen and are folded once a frame."""

from collections import deque
from collections.abc import Callable

from inspector.core.entries import Entry
from inspector.tui.folds import Folds

# What one frame folds at most; the rest waits for the next, so that keys are answered between.
MOST_PER_FRAME = 400


class Feed:
    """`ask_frame` is called when there is something to fold; `fold` then does a frame's share."""

    def __init__(self, ask_frame: Callable[[], None]) -> None:
        self.folds = Folds()
        self._ask_frame = ask_frame
        self._pending: deque[Entry] = deque()
        self._is_asked = False

    def take(self, entry: Entry) -> None:
        self._pending.append(entry)
        self._ask()

    def fold(self) -> Folds:
        """Fold what has come since the last frame."""
        self._is_asked = False
        for _ in range(min(MOST_PER_FRAME, len(self._pending))):
            self.folds = self.folds.step(self._pending.popleft())
        if self._pending:
            self._ask()
        return self.folds

    def _ask(self) -> None:
        if not self._is_asked:
            self._is_asked = True
            self._ask_frame()
