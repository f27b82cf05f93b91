"""Where settled tasks are kept, and when they are forgotten."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from mock_server.records import record
from mock_server.service.snapshot import Snapshot

KeyT = TypeVar("KeyT", bound=Hashable)

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a shelf holds, and how long; a lifetime of 0 keeps nothing."""

    lifetime_seconds: float
    max_count: int = 50_000
    max_bytes: int = 256 * MEBIBYTE


@record
class _Kept:
    snapshot: Snapshot
    expires_at: float


class Shelf(Generic[KeyT]):
    """Snapshots by key. Past a limit the one that was put there first is forgotten first.

    `on_forgotten` hears of those that go for their age or for want of room.
    """

    def __init__(
        self,
        limits: Limits,
        elapsed_seconds: Callable[[], float],
        on_forgotten: Callable[[KeyT], None] | None = None,
    ) -> None:
        self._limits = limits
        self._elapsed_seconds = elapsed_seconds
        self._on_forgotten = on_forgotten
        self._kept: OrderedDict[KeyT, _Kept] = OrderedDict()
        self._size_bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: KeyT) -> Snapshot | None:
        self._forget_expired()
        kept = self._kept.get(key)
        return kept.snapshot if kept else None

    def clear(self) -> None:
        self._kept.clear()
        self._size_bytes = 0

    def put(self, key: KeyT, snapshot: Snapshot) -> None:
        """Keep `snapshot` in place of what `key` had; it counts as the youngest."""
        self._forget(key)
        if self._limits.lifetime_seconds > 0:
            expires_at = self._elapsed_seconds() + self._limits.lifetime_seconds
            self._kept[key] = _Kept(snapshot, expires_at)
            self._size_bytes += len(snapshot.encoded)
            self._forget_expired()
            self._forget_surplus()

    def _forget(self, key: KeyT) -> None:
        if kept := self._kept.pop(key, None):
            self._size_bytes -= len(kept.snapshot.encoded)

    def _forget_expired(self) -> None:
        # All live equally long, so the oldest expire first.
        now = self._elapsed_seconds()
        while self._kept and next(iter(self._kept.values())).expires_at <= now:
            self._forget_oldest()

    def _forget_surplus(self) -> None:
        """Make room; the last one stays, however large it is."""
        limits = self._limits
        while len(self._kept) > 1 and (
            len(self._kept) > limits.max_count or self._size_bytes > limits.max_bytes
        ):
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        key = next(iter(self._kept))
        self._forget(key)
        if self._on_forgotten:
            self._on_forgotten(key)
