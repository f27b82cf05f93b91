"""The append-only log of a session: the one place where entries get their number and time."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from inspector.core.entries import Entry

EntryT = TypeVar("EntryT", bound=Entry)


class Log:
    """Entries in order. `clock` counts seconds; `at_ms` of an entry is since the log began.

    A log goes on with the entries `before`, made in `before_seconds` by another process.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        before: Iterable[Entry] = (),
        before_seconds: float = 0.0,
    ) -> None:
        self._clock = clock
        self._began = clock() - before_seconds
        self._entries: list[Entry] = list(before)
        self._last_seq = self._entries[-1].seq if self._entries else 0
        self._subscribers: list[Callable[[Entry], None]] = []

    @property
    def now_ms(self) -> float:
        """The time since the log began."""
        return (self._clock() - self._began) * 1000

    @property
    def last_exchange(self) -> int:
        """The highest number of an exchange; 0 where there is none."""
        return max((entry.exchange for entry in self._entries), default=0)

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    def append(self, make: Callable[[int, float], EntryT]) -> EntryT:
        """Append what `make` returns for the next seq and the time, and tell the subscribers."""
        at_ms = self.now_ms
        self._last_seq += 1
        entry = make(self._last_seq, at_ms)
        self._entries.append(entry)
        for subscriber in tuple(self._subscribers):
            subscriber(entry)
        return entry

    def subscribe(self, subscriber: Callable[[Entry], None]) -> Callable[[], None]:
        """Call `subscriber` with each entry from now on, until the returned function is called."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)
