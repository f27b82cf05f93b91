"""What faults do to a push notification: the hook that whoever delivers them calls."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from mock_server.faults.effects import (
    Effect,
    PushDuplicated,
    PushLate,
    PushLost,
    PushReordered,
    PushWrongToken,
)
from mock_server.faults.matcher import Delivery


@dataclass(frozen=True, slots=True)
class Tampering:
    """What is done to one push notification.

    It `is_lost`, or goes out `delay_seconds` late, `copies` times, with `token` (if given) instead
    of the one registered. One that `is_held` goes out after the task's next, or as the last.
    """

    is_lost: bool = False
    delay_seconds: float = 0.0
    copies: int = 1
    token: str | None = None
    is_held: bool = False


UNTAMPERED = Tampering()

PushHook: TypeAlias = Callable[[Delivery], Tampering]


def untouched(_: Delivery) -> Tampering:
    """The hook of a server without faults."""
    return UNTAMPERED


def tampered(tampering: Tampering, effect: Effect, chance: float) -> Tampering:
    """`tampering` with `effect` on top; `chance` is from 0 up to 1."""
    match effect:
        case PushLost():
            return replace(tampering, is_lost=True)
        case PushLate():
            late = effect.seconds + effect.jitter_seconds * chance
            return replace(tampering, delay_seconds=tampering.delay_seconds + late)
        case PushDuplicated():
            return replace(tampering, copies=max(tampering.copies, effect.times))
        case PushReordered():
            return replace(tampering, is_held=True)
        case PushWrongToken():
            return replace(tampering, token=effect.token)
        case _:
            return tampering
