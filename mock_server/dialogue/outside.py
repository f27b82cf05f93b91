"""What the engine takes from outside, and the settings of its sources (flows.md §8, §13).

The outcomes of custom actions come from stubs in `mock.yml` or an action server, commands may come
from a language model.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import Command
from mock_server.dialogue.model import Button, Json
from mock_server.dialogue.state import DialogueState
from mock_server.errors import NOWHERE, Location
from mock_server.records import record

OF_CASE = "::"
ACTION_TIMEOUT_SECONDS = 60.0
MODEL_TIMEOUT_SECONDS = 30.0


@record
class Utterance:
    """A message of an action: its `text`, or `response` of the domain filled with `arguments`."""

    text: str = ""
    buttons: tuple[Button, ...] = ()
    response: str | None = None
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])
    image: str | None = None
    custom: Json = None


@record
class ActionResult:
    """The result of a custom action.

    `failure` is the object that becomes `error_info`, e.g. `{"action": "action_x"}`. `warnings`
    are for the developer: the trace and the log have them, the wire has not.
    """

    slots: tuple[tuple[str, Json], ...] = ()
    utterances: tuple[Utterance, ...] = ()
    failure: Mapping[str, Json] | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StubBranch:
    """One way an action may go, taken if `when` holds and the user's words contain `match`.

    None always does. The chunks of `stream` go out one by one,
    `chunk_delay_seconds` apart.
    """

    when: str | None = None
    match: str | None = None
    slots: tuple[tuple[str, Json], ...] = ()
    utterances: tuple[Utterance, ...] = ()
    delay_seconds: float = 0.0
    stream: tuple[str, ...] = ()
    chunk_delay_seconds: float = 0.0
    fails: bool = False
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Stub:
    """The action follows the first of `branches` that holds, and does nothing if none does."""

    branches: tuple[StubBranch, ...]
    location: Location = NOWHERE


class UnstubbedActions(StrEnum):
    """The behaviour of an action without a stub: nothing, or a failure as without a server."""

    NOOP = "noop"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Stubs:
    """The scripts of a project's custom actions, by the action's name."""

    by_action: Mapping[str, Stub] = field(default_factory=dict[str, Stub])
    unstubbed: UnstubbedActions = UnstubbedActions.NOOP


def action_of(name: str) -> str:
    """The action that a stub stands for: a name `case::action` is for one test case only."""
    return name.rpartition(OF_CASE)[2]


def case_of(name: str) -> str | None:
    """The one test case that a stub is for; None if it is for all."""
    case, separator, _ = name.rpartition(OF_CASE)
    return case if separator else None


def stubs_for_case(case: str, stubs: Mapping[str, Stub]) -> Mapping[str, Stub]:
    """The stubs for every test case, overridden by those for `case`."""
    shared = {name: stub for name, stub in stubs.items() if case_of(name) is None}
    own = {action_of(name): stub for name, stub in stubs.items() if case_of(name) == case}
    return {**shared, **own}


class ActionServerKind(StrEnum):
    """`mock.yml: action_server`: scripts, the server of endpoints.yml, or one of our own."""

    STUBS = "stubs"
    ENDPOINT = "endpoint"
    CHILD = "child"


@dataclass(frozen=True, slots=True)
class ActionServer:
    """Where actions without a stub run: nowhere, at `url`, or in a child process of the mock.

    A child runs `module` with the interpreter `python` in `folder`; these paths are absolute.
    `cafile` has the certificates that prove an `https` server.
    """

    kind: ActionServerKind = ActionServerKind.STUBS
    url: str = ""
    cafile: str | None = None
    python: str = ""
    module: str = "actions"
    folder: str = ""
    timeout_seconds: float = ACTION_TIMEOUT_SECONDS
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """An OpenAI-compatible endpoint; `api_key` is a secret, and no message shows it."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    timeout_seconds: float = MODEL_TIMEOUT_SECONDS


@dataclass(frozen=True, slots=True)
class Generation:
    """The commands that a model gave for a message, and the reason where there are none."""

    commands: tuple[Command, ...]
    reason: str


Outcome: TypeAlias = ActionResult | Generation
"""Sent into the engine after a request of its kind (`state.Request`)."""

Generate: TypeAlias = Callable[[Assistant, DialogueState, str], Awaitable[Generation]]
