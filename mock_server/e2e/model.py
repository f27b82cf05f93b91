"""Rasa's end-to-end test cases as data: what the user says and what is expected (§11)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from mock_server.dialogue.model import Json
from mock_server.dialogue.outside import Stub
from mock_server.errors import Location
from mock_server.project.findings import Mention


@dataclass(frozen=True, slots=True)
class ExpectedButton:
    """A button; a `payload` of None may be any."""

    title: str
    payload: str | None = None


@dataclass(frozen=True, slots=True)
class BotSays:
    """A message of the bot; None stands for anything.

    `text` is the whole text, `pattern` a regular expression that is searched for in it, `response`
    the name of a response of the domain.
    """

    text: str | None = None
    pattern: str | None = None
    response: str | None = None
    buttons: tuple[ExpectedButton, ...] | None = None


@dataclass(frozen=True, slots=True)
class SlotIsSet:
    """A slot gets `value`; without `has_value` any but none."""

    name: str
    value: Json = None
    has_value: bool = False


@dataclass(frozen=True, slots=True)
class FlowStarts:
    """One of `flow_ids` starts; patterns are flows here."""

    flow_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FlowEnds:
    """A flow completes or is cancelled; `step_id` None: at any step."""

    flow_id: str
    step_id: str | None = None
    is_cancelled: bool = False


@dataclass(frozen=True, slots=True)
class ClarificationOffers:
    """The bot asks which flow is meant; `flows`, ids or names, are all, or one is, on offer."""

    flows: tuple[str, ...]
    is_any_enough: bool = False


@dataclass(frozen=True, slots=True)
class ActionRuns:
    name: str


@dataclass(frozen=True, slots=True)
class JudgeNeeded:
    """An assertion on generated text that only a language model can judge."""

    name: str


Assertion: TypeAlias = (
    BotSays | SlotIsSet | FlowStarts | FlowEnds | ClarificationOffers | ActionRuns | JudgeNeeded
)


@dataclass(frozen=True, slots=True)
class Expectation:
    """An assertion and the line of the file that makes it; `is_negated`: it must not come true."""

    assertion: Assertion
    location: Location
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class UserStep:
    """A message of the user; `is_ordered`: expectations are to be met in the order of the file."""

    text: str
    location: Location
    expectations: tuple[Expectation, ...] = ()
    is_ordered: bool = False
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation; `slots` are those of its fixtures, `opening` is expected before it."""

    name: str
    location: Location
    steps: tuple[UserStep, ...]
    opening: tuple[Expectation, ...] = ()
    slots: tuple[tuple[str, Json], ...] = ()
    stubs: Mapping[str, Stub] = field(default_factory=dict[str, Stub])


@dataclass(frozen=True, slots=True)
class CaseFile:
    """`mentions` are what the stubs of the file name, for `names.check_names`."""

    cases: tuple[Case, ...] = ()
    mentions: tuple[Mention, ...] = ()


Values: TypeAlias = Mapping[str, Json]
Named: TypeAlias = Mapping[str, Values]
"""Fixtures, or metadata: by their name what they set."""
