"""Which messages were answered already, and with what (server.md TURN-5)."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from mock_server.service.store import Snapshot

Key: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Answer:
    snapshot: Snapshot
    expires_at: float


class Replays:
    """Answers by (contextId, messageId), each kept for `lifetime_seconds`; 0 keeps none."""

    def __init__(self, lifetime_seconds: float, elapsed_seconds: Callable[[], float]) -> None:
        self._lifetime_seconds = lifetime_seconds
        self._elapsed_seconds = elapsed_seconds
        self._answers: OrderedDict[Key, _Answer] = OrderedDict()

    def find(self, key: Key) -> Snapshot | None:
        self._forget_expired()
        answer = self._answers.get(key)
        return answer.snapshot if answer else None

    def keep(self, key: Key, snapshot: Snapshot) -> None:
        if self._lifetime_seconds > 0:
            expires_at = self._elapsed_seconds() + self._lifetime_seconds
            self._answers[key] = _Answer(snapshot, expires_at)

    def _forget_expired(self) -> None:
        # All live equally long, so the oldest expire first.
        now = self._elapsed_seconds()
        while self._answers and next(iter(self._answers.values())).expires_at <= now:
            self._answers.popitem(last=False)
