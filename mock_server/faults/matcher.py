"""Which requests and push notifications a fault is for."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from mock_server.faults.effects import STRICT
from mock_server.faults.request import ReceivedRequest
from mock_server.tasks.task import TaskState

PUSH_CRITERIA = frozenset({"context", "task", "state"})


def _checked(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from error
    return pattern


class Match(BaseModel):
    """All that is given must hold; an empty matcher matches everything."""

    model_config = STRICT
    method: str | None = Field(default=None, description="JSON-RPC method; `*` stands for any text")
    path: str | None = Field(default=None, description="path of the URL; `*` stands for any text")
    context: str | None = Field(default=None, description="`contextId`, as the request names it")
    task: str | None = Field(default=None, description="task id, as the request names it")
    message: str | None = Field(default=None, description="`messageId`")
    text: Annotated[str, AfterValidator(_checked)] | None = Field(
        default=None, description="regular expression found in the user's text"
    )
    headers: dict[str, str] = Field(
        default_factory=dict[str, str],
        description="header values by name; `*` stands for any text",
    )
    state: TaskState | None = Field(
        default=None, description="state of the task that a push notification carries"
    )


@dataclass(frozen=True, slots=True)
class Miss:
    """A criterion that did not hold."""

    criterion: str
    expected: str
    found: str | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A push notification that is about to go out."""

    task_id: str
    context_id: str
    state: TaskState


def criteria(match: Match) -> frozenset[str]:
    """The names of what `match` asks for."""
    return frozenset(name for name in Match.model_fields if getattr(match, name))


def misses(match: Match, request: ReceivedRequest) -> tuple[Miss, ...]:
    """What keeps `request` from matching; empty if it does."""
    wanted = (
        ("method", match.method, request.method, _is_like),
        ("path", match.path, request.path, _is_like),
        ("context", match.context, request.context_id, _is_same),
        ("task", match.task, request.task_id, _is_same),
        ("message", match.message, request.message_id, _is_same),
        ("text", match.text, request.text, _occurs),
    )
    failed = [
        Miss(name, expected, found)
        for name, expected, found, holds in wanted
        if expected is not None and (found is None or not holds(expected, found))
    ]
    return (*failed, *_header_misses(match, request))


def delivers(match: Match, delivery: Delivery) -> bool:
    """Whether `match` is for this push notification."""
    return (
        match.context in (None, delivery.context_id)
        and match.task in (None, delivery.task_id)
        and match.state in (None, delivery.state)
    )


def _header_misses(match: Match, request: ReceivedRequest) -> Iterator[Miss]:
    for name, expected in match.headers.items():
        found = request.headers.get(name.lower())
        if found is None or not _is_like(expected, found):
            yield Miss(f"headers.{name}", expected, found)


def _is_like(expected: str, found: str) -> bool:
    return fnmatchcase(found, expected.replace("[", "[[]").replace("?", "[?]"))


def _is_same(expected: str, found: str) -> bool:
    return found == expected


def _occurs(expected: str, found: str) -> bool:
    return re.search(expected, found) is not None
