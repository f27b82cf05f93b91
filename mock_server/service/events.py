"""What goes on in the mock, for those who listen: turns, reloads, faults that hit."""

import asyncio
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from mock_server.dialogue.model import Json

PENDING = 1000
KINDS = ("turn", "fault", "faults", "reload", "model", "reset")
# what a subscriber hears in the place of those that it was too slow for
DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """`kind` is one of KINDS or DROPPED; `detail` is for JSON."""

    kind: str
    detail: Mapping[str, Json]


class Subscriber:
    """What one subscriber has not heard yet; of too much, the oldest is dropped and counted."""

    def __init__(self) -> None:
        self._pending: deque[ServerEvent] = deque()
        self._has_more = asyncio.Event()
        self._dropped = 0
        self._has_ended = False

    def put(self, event: ServerEvent) -> None:
        if len(self._pending) >= PENDING:
            self._pending.popleft()
            self._dropped += 1
        self._pending.append(event)
        self._has_more.set()

    def end(self) -> None:
        """Wake whoever waits; there will be no more."""
        self._has_ended = True
        self._has_more.set()

    async def next(self, timeout_seconds: float) -> ServerEvent | None:
        """The next one, after word of those that were dropped; None if there is none in time."""
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._has_more.wait()
        except TimeoutError:
            return None
        if not self._pending:
            return None
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            return ServerEvent(DROPPED, {"count": dropped})
        event = self._pending.popleft()
        if not self._pending and not self._has_ended:
            self._has_more.clear()
        return event


class EventBus:
    """Costs next to nothing while nobody listens."""

    def __init__(self) -> None:
        self._subscribers: set[Subscriber] = set()
        self.is_closed = False

    def publish(self, kind: str, detail: Callable[[], Mapping[str, Json]]) -> None:
        """Tell every subscriber; `detail` is called only if there is one."""
        if self._subscribers:
            event = ServerEvent(kind, detail())
            for subscriber in self._subscribers:
                subscriber.put(event)

    def close(self) -> None:
        """The mock shuts down; subscribers are let go."""
        self.is_closed = True
        for subscriber in self._subscribers:
            subscriber.end()

    @contextmanager
    def subscribe(self) -> Generator[Subscriber]:
        subscriber = Subscriber()
        self._subscribers.add(subscriber)
        try:
            yield subscriber
        finally:
            self._subscribers.discard(subscriber)
