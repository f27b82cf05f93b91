"""An assistant as the engine reads it, and what `mock.yml` adds to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mock_server.dialogue.flow_index import FlowIndex
from mock_server.dialogue.model import Flow, Json, Slot, Variation
from mock_server.errors import NOWHERE, Location


class RejectedScope(StrEnum):
    """When text that nobody understands makes a turn `rejected` (server.md STATE-2)."""

    ONLY_WITHOUT_USER_FLOW = "only_without_user_flow"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class ToolBranch:
    """What a tool returns, or that it fails, if `when` holds (None always does)."""

    when: str | None = None
    result: Json = None
    fails: bool = False


@dataclass(frozen=True, slots=True)
class UnderstandRule:
    """A rule of `mock.yml: understand`: a regular expression, or examples to resemble.

    `commands` are templates in the command language; `{name}` is a named group of `match`. The
    rule counts while `when` holds (None always does).
    """

    commands: tuple[str, ...]
    match: str | None = None
    examples: tuple[str, ...] = ()
    threshold: float = 0.85
    when: str | None = None
    location: Location = NOWHERE


@dataclass(frozen=True, slots=True)
class Assistant:
    """Everything a turn needs to know. `flows` holds the user's flows and all patterns.

    `carries_slots`: a new session begins with the values of the one before.

    `index` and `initial_slots` follow from the rest, so that no turn has to walk through it.
    """

    assistant_id: str | None = None
    language: str = "en"
    additional_languages: tuple[str, ...] = ()
    flows: Mapping[str, Flow] = field(default_factory=dict[str, Flow])
    slots: Mapping[str, Slot] = field(default_factory=dict[str, Slot])
    responses: Mapping[str, tuple[Variation, ...]] = field(
        default_factory=dict[str, tuple[Variation, ...]]
    )
    actions: frozenset[str] = frozenset()
    actions_every_turn: tuple[str, ...] = ()
    max_characters: int | None = None
    rejected_scope: RejectedScope = RejectedScope.ONLY_WITHOUT_USER_FLOW
    understand: tuple[UnderstandRule, ...] = ()
    clarify_on_multiple_starts: bool = False
    carries_slots: bool = True
    tools: Mapping[str, tuple[ToolBranch, ...]] = field(
        default_factory=dict[str, tuple[ToolBranch, ...]]
    )
    index: FlowIndex = field(init=False, compare=False, repr=False)
    initial_slots: Mapping[str, Json] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        initial = {slot.name: slot.initial_value for slot in self.slots.values()}
        object.__setattr__(self, "index", FlowIndex(self.flows))
        object.__setattr__(self, "initial_slots", initial)
