"""What custom actions do without an action server: scripts from `mock.yml` (flows.md §13)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mock_server.dialogue.model import Json
from mock_server.dialogue.outcome import Utterance
from mock_server.errors import NOWHERE, Location

OF_CASE = "::"


@dataclass(frozen=True, slots=True)
class StubBranch:
    """One way an action may go, taken if `when` holds and the user's words contain `match`.

    Either is no hindrance when it is None. The chunks of `stream` go out one by one,
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


@dataclass(frozen=True, slots=True)
class Stub:
    """The first of `branches` that holds is what the action does; none of them: nothing."""

    branches: tuple[StubBranch, ...]
    location: Location = NOWHERE


class UnstubbedActions(StrEnum):
    """What an action without a stub does: nothing, or fail as without an action server."""

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
    """Those that stand for an action in every test case and, over them, those of `case`."""
    shared = {name: stub for name, stub in stubs.items() if case_of(name) is None}
    own = {action_of(name): stub for name, stub in stubs.items() if case_of(name) == case}
    return {**shared, **own}
