"""A fault: which requests, what happens to them, how likely and how often."""

from dataclasses import dataclass
from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from mock_server.dialogue.model import Json
from mock_server.faults.effects import STRICT, Effect
from mock_server.faults.matcher import PUSH_CRITERIA, Match, criteria
from mock_server.faults.reach import REACH, Reach
from mock_server.tasks.json_text import encode_json

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
        asked, is_push = criteria(self.match), REACH[type(self.effect)] is Reach.PUSH
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
