"""The append-only log of a session: the one place where entries get their number and time."""

from collections.abc import Callable, Sequence

from inspector.core.entries import Entry


class Log:
    """Entries in order. `clock` counts seconds; `at_ms` of an entry is since the log began."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._entries: list[Entry] = []
        self._subscribers: list[Callable[[Entry], None]] = []

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    def append(self, make: Callable[[int, float], Entry]) -> Entry:
        """Append what `make` returns for the next seq and the time, and tell the subscribers."""
        at_ms = (self._clock() - self._began) * 1000
        entry = make(len(self._entries) + 1, at_ms)
        self._entries.append(entry)
        for subscriber in tuple(self._subscribers):
            subscriber(entry)
        return entry

    def subscribe(self, subscriber: Callable[[Entry], None]) -> Callable[[], None]:
        """Call `subscriber` with each entry from now on, until the returned function is called."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)
