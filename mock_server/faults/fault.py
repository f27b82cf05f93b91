"""A fault: which requests, what happens to them, how likely and how often; and the armed ones."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import count
from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from mock_server.dialogue.model import Json
from mock_server.errors import SearchTooSlow
from mock_server.faults.effects import STRICT, Effect, PushEffect, Reach
from mock_server.faults.matching import (
    PUSH_CRITERIA,
    Match,
    OutgoingPush,
    ReceivedRequest,
    criteria,
    delivers,
    misses,
    reaches,
)
from mock_server.faults.tampering import UNTAMPERED, Tampering, tampered
from mock_server.tasks.json_text import encode_json

MAX_ARMED = 1000
"""Each request is compared with every armed fault."""

Path: TypeAlias = tuple[str | int, ...]


def _spelled_out(value: object) -> object:
    """An effect without parameters may be written as its kind alone."""
    return {"kind": value} if isinstance(value, str) else value


class Fault(BaseModel):
    """What the admin API takes and `mock.yml: faults:` lists."""

    model_config = STRICT
    id: str | None = Field(
        default=None,
        pattern=r"^[\w.-]{1,80}$",
        description="name of the fault; one that is armed again under its name is replaced",
    )
    match: Match = Field(default_factory=Match, description="which requests it is for")
    effect: Annotated[Effect, Field(discriminator="kind"), BeforeValidator(_spelled_out)] = Field(
        description="what happens; one without parameters may be written as its kind alone"
    )
    probability: float = Field(
        default=1.0, gt=0, le=1, description="how likely each request that matches is hit"
    )
    count: int | None = Field(
        default=None, ge=1, description="how many requests are hit; all, if it is left out"
    )

    @model_validator(mode="after")
    def _asks_what_is_known(self) -> Self:
        asked, is_push = criteria(self.match), self.effect.reach is Reach.PUSH
        unknown = asked - PUSH_CRITERIA if is_push else asked & {"state"}
        if unknown:
            what = "a push notification" if is_push else "a request"
            raise ValueError(f"{what} has no {', '.join(sorted(unknown))} to match")
        return self


@dataclass(frozen=True, slots=True)
class FaultProblem:
    """What is wrong at `path` of a fault's object."""

    path: Path
    text: str

    def __str__(self) -> str:
        place = ".".join(map(str, self.path))
        return f"{place}: {self.text}" if place else self.text


def read_fault(value: Json) -> Fault | tuple[FaultProblem, ...]:
    """The fault that `value` describes, or everything that is wrong with it."""
    try:
        return Fault.model_validate_json(encode_json(value))
    except ValidationError as error:
        return tuple(
            FaultProblem(_path(problem["loc"]), _reason(problem["msg"]))
            for problem in error.errors(include_url=False, include_context=False)
        )


def _path(location: Path) -> Path:
    """The way to the problem in the object itself: pydantic names the effect's kind as a step."""
    return (*location[:1], *location[2:]) if location[:1] == ("effect",) else location


def _reason(message: str) -> str:
    text = message.removeprefix("Value error, ")
    return text[:1].lower() + text[1:]


Draw: TypeAlias = Callable[[], float]
Subject: TypeAlias = ReceivedRequest | OutgoingPush


@dataclass(slots=True)
class Armed:
    """`draw` gives numbers from 0 up to 1, the fault's own: others do not change its course."""

    id: str
    fault: Fault
    draw: Draw
    fired: int = 0

    @property
    def is_spent(self) -> bool:
        return self.fault.count is not None and self.fired >= self.fault.count

    def hits(self) -> bool:
        """Draw whether the fault hits now; a hit counts."""
        has_hit = not self.is_spent and self.draw() < self.fault.probability
        self.fired += has_hit
        return has_hit


@dataclass(frozen=True, slots=True)
class Fired:
    """A fault that hit; `chance` is what it takes for its own random part, from 0 up to 1."""

    fault_id: str
    effect: Effect
    chance: float


class ArmedFaults:
    """`initial` are those of `mock.yml`; `make_draw` gives a fault its source of chance.

    `on_fired` is called with each hit and what was hit, and `on_slow` with a fault whose regular
    expression takes too long; it does not hit.
    """

    def __init__(
        self,
        initial: Iterable[Fault],
        make_draw: Callable[[str], Draw],
        on_fired: Callable[[Fired, Subject], None],
        on_slow: Callable[[str, SearchTooSlow], None],
    ) -> None:
        self._initial = tuple(initial)
        self._make_draw = make_draw
        self._on_fired = on_fired
        self._on_slow = on_slow
        self._numbers = count(1)
        self._armed: dict[str, Armed] = {}
        self._initial_ids: tuple[str, ...] = ()
        self.reset()

    def __bool__(self) -> bool:
        return bool(self._armed)

    @property
    def by_id(self) -> Mapping[str, Armed]:
        """In the order in which they were armed."""
        return self._armed

    def arm(self, fault: Fault) -> Armed:
        fault_id = fault.id or self._fresh_id()
        self._armed[fault_id] = Armed(fault_id, fault, self._make_draw(fault_id))
        return self._armed[fault_id]

    def has_room_for(self, faults: Iterable[Fault]) -> bool:
        """Whether at most MAX_ARMED are armed with `faults`; one of the same id is replaced."""
        ids = [fault.id for fault in faults]
        named = {fault_id for fault_id in ids if fault_id is not None}
        return len(self._armed.keys() | named) + ids.count(None) <= MAX_ARMED

    def disarm(self, fault_id: str) -> bool:
        """Whether there was such a fault."""
        return self._armed.pop(fault_id, None) is not None

    def clear(self) -> None:
        self._armed.clear()

    def reset(self) -> None:
        """Arm the initial ones anew, and no other."""
        self.clear()
        self._numbers = count(1)
        self._initial_ids = self._arm_all(self._initial)

    def renew(self, initial: Iterable[Fault]) -> None:
        """Put `initial`, where they are others, in the place of the initial ones."""
        renewed = tuple(initial)
        if renewed != self._initial:
            for fault_id in self._initial_ids:
                self.disarm(fault_id)
            self._initial = renewed
            self._initial_ids = self._arm_all(renewed)

    def fire(self, request: ReceivedRequest) -> tuple[Fired, ...]:
        """All that hit `request`, in the order in which they were armed."""
        candidates = (
            armed
            for armed in self._armed.values()
            if reaches(armed.fault.effect, request) and self._matches(armed, request)
        )
        return self._hits(candidates, request)

    def _matches(self, armed: Armed, request: ReceivedRequest) -> bool:
        try:
            return not misses(armed.fault.match, request)
        except SearchTooSlow as slow:
            self._on_slow(armed.id, slow)
            return False

    def tamper(self, delivery: OutgoingPush) -> Tampering:
        """What becomes of a push notification: all that hit it, taken together."""
        if not self._armed:
            return UNTAMPERED
        candidates = (
            armed
            for armed in self._armed.values()
            if isinstance(armed.fault.effect, PushEffect) and delivers(armed.fault.match, delivery)
        )
        fired = self._hits(candidates, delivery)
        return reduce(lambda made, hit: tampered(made, hit.effect, hit.chance), fired, UNTAMPERED)

    def _hits(self, candidates: Iterable[Armed], subject: Subject) -> tuple[Fired, ...]:
        fired = tuple(
            Fired(armed.id, armed.fault.effect, armed.draw())
            for armed in candidates
            if armed.hits()
        )
        for hit in fired:
            self._on_fired(hit, subject)
        return fired

    def _arm_all(self, faults: Iterable[Fault]) -> tuple[str, ...]:
        return tuple(self.arm(fault).id for fault in faults)

    def _fresh_id(self) -> str:
        return next(
            name for number in self._numbers if (name := f"fault-{number}") not in self._armed
        )
