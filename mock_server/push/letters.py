"""Push notifications before they are posted, and those that a fault lets others overtake."""

from dataclasses import dataclass, field
from typing import TypeAlias

from mock_server.push.registrations import Registration

LaneKey: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Letter:
    """`body` is the task as it was at a transition; faults ask for a delay or for copies."""

    registration: Registration
    body: bytes = field(repr=False)
    delay_seconds: float = 0.0
    copies: int = 1

    @property
    def key(self) -> LaneKey:
        """Letters of the same key are posted in order."""
        return (self.registration.task_id, self.registration.config_id)


class HeldLetters:
    """Letters that go out after the next one for the same task and callback."""

    def __init__(self) -> None:
        self._held: dict[LaneKey, tuple[Letter, ...]] = {}

    def release(self, letter: Letter, *, is_held: bool, is_last: bool) -> tuple[Letter, ...]:
        """What goes out now that `letter` is due; the last one cannot wait for a next."""
        held = self._held.pop(letter.key, ())
        if is_held and not is_last:
            self._held[letter.key] = (*held, letter)
            return ()
        return (letter, *held)

    def release_all(self) -> tuple[Letter, ...]:
        held = tuple(letter for letters in self._held.values() for letter in letters)
        self._held.clear()
        return held

    def forget(self, task_id: str) -> None:
        for key in [key for key in self._held if key[0] == task_id]:
            del self._held[key]
