"""What the service needs from outside: time, sleep and fresh ids."""

import asyncio
import os
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

StartTimer: TypeAlias = Callable[[float, Callable[[], None]], Callable[[], None]]

VARIANT_DIGITS = "89ab"
BLOCK_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Runtime:
    """`now` is UTC; `elapsed_seconds` never goes back; `make_id` gives a new UUID as text.

    `start_timer` calls a function after so many seconds and returns what stops it.
    """

    now: Callable[[], datetime]
    elapsed_seconds: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    make_id: Callable[[], str]
    start_timer: StartTimer


def real_runtime(seed: int | None = None) -> Runtime:
    """The machine's clock; with `seed`, ids come in the same order in every run."""
    return Runtime(
        now=lambda: datetime.now(UTC),
        elapsed_seconds=time.monotonic,
        sleep=asyncio.sleep,
        make_id=_random_ids() if seed is None else _seeded_ids(seed),
        start_timer=_start_timer,
    )


def _start_timer(seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
    return asyncio.get_running_loop().call_later(seconds, callback).cancel


def _random_ids() -> Callable[[], str]:
    """Version 4 UUIDs; a system call for each would be 8 % of a turn, which needs three."""
    drawn: list[str] = []

    def make_id() -> str:
        if not drawn:
            digits = os.urandom(BLOCK_BYTES).hex()
            drawn.extend(_as_uuid(digits[at : at + 32]) for at in range(0, len(digits), 32))
        return drawn.pop()

    return make_id


def _as_uuid(digits: str) -> str:
    variant = VARIANT_DIGITS[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def _seeded_ids(seed: int) -> Callable[[], str]:
    numbers = random.Random(seed)
    return lambda: str(uuid.UUID(int=numbers.getrandbits(128), version=4))
