"""What the service needs from outside: time, sleep and fresh ids."""

import asyncio
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class World:
    """`now` is UTC; `elapsed_seconds` never goes back; `make_id` gives a new UUID as text."""

    now: Callable[[], datetime]
    elapsed_seconds: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    make_id: Callable[[], str]


def real_world(seed: int | None = None) -> World:
    """The machine's clock; with `seed`, ids come in the same order in every run."""
    return World(
        now=lambda: datetime.now(UTC),
        elapsed_seconds=time.monotonic,
        sleep=asyncio.sleep,
        make_id=_random_id if seed is None else _seeded_ids(seed),
    )


def _random_id() -> str:
    return str(uuid.uuid4())


def _seeded_ids(seed: int) -> Callable[[], str]:
    numbers = random.Random(seed)
    return lambda: str(uuid.UUID(int=numbers.getrandbits(128), version=4))
