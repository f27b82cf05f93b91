"""Events of the mock for those who subscribe: turns, reloads, faults that hit."""

import asyncio
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from mock_server.dialogue.model import Json

PENDING = 1000
KINDS = ("turn", "fault", "faults", "reload", "model", "reset")
# what a subscriber gets in place of those that it was too slow for
DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """`kind` is one of KINDS or DROPPED; `detail` is for JSON."""

    kind: str
    detail: Mapping[str, Json]


class Subscriber:
    """The events that one subscriber has not read yet; of too many, the oldest are dropped."""

    def __init__(self) -> None:
        self._pending: asyncio.Queue[ServerEvent | None] = asyncio.Queue(PENDING)
        self._dropped = 0

    def put(self, event: ServerEvent | None) -> None:
        """Add an event; None is the end."""
        if self._pending.full():
            self._pending.get_nowait()
            self._dropped += 1
        self._pending.put_nowait(event)

    async def next(self, timeout_seconds: float) -> ServerEvent | None:
        """The next one, or how many were dropped before it; None if there is none in time."""
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            return ServerEvent(DROPPED, {"count": dropped})
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._pending.get()
        except TimeoutError:
            return None


class EventBus:
    """Costs next to nothing while nobody subscribes."""

    def __init__(self) -> None:
        self._subscribers: set[Subscriber] = set()
        self._standing: dict[str, ServerEvent] = {}
        self.is_closed = False

    def publish(
        self, kind: str, detail: Callable[[], Mapping[str, Json]], *, stands: bool = False
    ) -> None:
        """Send an event to every subscriber; `detail` is called only if it is wanted.

        One that `stands` is also the first that later subscribers get, until the next of its kind.
        """
        self._standing.pop(kind, None)
        if not self._subscribers and not stands:
            return
        event = ServerEvent(kind, detail())
        if stands:
            self._standing[kind] = event
        for subscriber in self._subscribers:
            subscriber.put(event)

    def close(self) -> None:
        """Wake the subscribers: there will be no more events."""
        self.is_closed = True
        for subscriber in self._subscribers:
            subscriber.put(None)

    @contextmanager
    def subscribe(self) -> Generator[Subscriber]:
        subscriber = Subscriber()
        for event in self._standing.values():
            subscriber.put(event)
        self._subscribers.add(subscriber)
        try:
            yield subscriber
        finally:
            self._subscribers.discard(subscriber)
