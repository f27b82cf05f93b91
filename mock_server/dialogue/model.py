"""The parts of an assistant: flows, slots, responses; immutable and already checked.

Nested step lists of a flow file are flattened: every step has an id that is unique in its flow and
names its successors, so the engine never walks a list.
"""

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from mock_server.dialogue.lexicon import FALSE_WORDS, TRUE_WORDS
from mock_server.errors import NOWHERE, InvalidSlotValue, Location

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

END = "END"
PATTERN_PREFIX = "pattern_"
AGENT_PREFIX = "pattern_agent_"


class SlotType(StrEnum):
    TEXT = "text"
    BOOL = "bool"
    CATEGORICAL = "categorical"
    FLOAT = "float"
    ANY = "any"
    LIST = "list"


class SlotFiller(StrEnum):
    """Who may write a slot, from its `mappings` (flows.md §4.1)."""

    FROM_LLM = "from_llm"
    CONTROLLED = "controlled"
    NLU = "nlu"


@dataclass(frozen=True, slots=True)
class Rejection:
    """A value is refused with response `utter` while `condition` holds."""

    condition: str
    utter: str


@dataclass(frozen=True, slots=True)
class SlotValidation:
    """A domain slot's `validation` block."""

    rejections: tuple[Rejection, ...]
    refill_utter: str | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """`action_every_turn` is the action that a controlled slot has run in every turn."""

    name: str
    type: SlotType
    initial_value: Json = None
    values: tuple[str, ...] = ()
    min_value: float | None = None
    max_value: float | None = None
    filler: SlotFiller = SlotFiller.FROM_LLM
    validation: SlotValidation | None = None
    action_every_turn: str | None = None
    is_builtin: bool = False
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Branch:
    """Go on at step `target` (or END) if `condition` holds; None always holds."""

    target: str
    condition: str | None = None


@dataclass(frozen=True, slots=True)
class ActionStep:
    """Run `action`: an `utter_*` response, a default action or a custom one; may be Jinja."""

    id: str
    action: str
    next: tuple[Branch, ...]
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CollectStep:
    """Ask for `slot` until it has a value; `utter` names a response, Rasa's default if None."""

    id: str
    slot: str
    next: tuple[Branch, ...]
    description: str = ""
    utter: str | None = None
    ask_before_filling: bool = False
    force_slot_filling: bool = False
    reset_after_flow_ends: bool = True
    rejections: tuple[Rejection, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class SetSlotsStep:
    id: str
    values: tuple[tuple[str, Json], ...]
    next: tuple[Branch, ...]
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class NoopStep:
    id: str
    next: tuple[Branch, ...]
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class LinkStep:
    """End this flow and start `flow_id` in its place."""

    id: str
    flow_id: str
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CallStep:
    """Run `flow_id`, a child flow or the script of a sub agent, and come back.

    An agent is left when all of `exit_if` hold; `exit_slots` are the slots that they look at.
    """

    id: str
    flow_id: str
    next: tuple[Branch, ...]
    exit_if: tuple[str, ...] = ()
    exit_slots: tuple[str, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ToolStep:
    """Call `tool` of an MCP server; `outputs` are slots, each with the expression of its value."""

    id: str
    tool: str
    server: str
    next: tuple[Branch, ...]
    inputs: tuple[tuple[str, str], ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class AgentTurnStep:
    """A turn of a scripted sub agent: say, set slots, then wait, fail or go on."""

    id: str
    next: tuple[Branch, ...]
    say: str = ""
    slots: tuple[tuple[str, Json], ...] = ()
    waits: bool = False
    fails: bool = False
    location: Location = field(default=NOWHERE, compare=False)


PlainStep: TypeAlias = (
    CollectStep | SetSlotsStep | NoopStep | LinkStep | CallStep | ToolStep | AgentTurnStep
)
"""A step that needs nothing from outside."""

Step: TypeAlias = ActionStep | PlainStep


@dataclass(frozen=True, slots=True)
class Flow:
    """`steps` by id in file order; `first_step` is END for a flow without any.

    Flows are equal when they do the same, wherever their text stands.
    """

    id: str
    name: str
    description: str
    steps: Mapping[str, Step]
    first_step: str
    guard: str | None = None
    run_pattern_completed: bool = True
    nlu_triggers: tuple[str, ...] = ()
    persisted_slots: tuple[str, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)
    is_pattern: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_pattern", self.id.startswith(PATTERN_PREFIX))

    @property
    def is_agent(self) -> bool:
        """Whether it is the script of a sub agent, which no user can ask for."""
        return self.id.startswith(AGENT_PREFIX)

    def description_of(self, slot: str) -> str:
        """How its own question describes `slot`; empty if it does not."""
        steps = (step for step in self.steps.values() if isinstance(step, CollectStep))
        return next((step.description for step in steps if step.slot == slot), "")


@dataclass(frozen=True, slots=True)
class Button:
    title: str
    payload: str


@dataclass(frozen=True, slots=True)
class Variation:
    """One variation of a response; `condition` is a predicate over slots, None always holds.

    `translations` have the text in further languages, by their code, `translated_buttons` the
    buttons.
    """

    text: str = ""
    buttons: tuple[Button, ...] = ()
    condition: str | None = None
    channel: str | None = None
    is_jinja: bool = False
    translations: Mapping[str, str] = field(default_factory=dict[str, str])
    translated_buttons: Mapping[str, tuple[Button, ...]] = field(
        default_factory=dict[str, tuple[Button, ...]]
    )
    image: str | None = None
    custom: Json = None


# The slot of the question which interrupted flow to continue, and its value for none of them.
CHOICE_SLOT = "interrupted_flow_to_continue"
NO_CHOICE = "none"

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


def coerce(slot: Slot, value: Json) -> Json:
    """Return `value` as `slot`'s type spells it; None clears any slot.

    Raises:
        InvalidSlotValue: the type does not admit the value.
    """
    if value is None:
        return None
    match slot.type:
        case SlotType.BOOL:
            return _bool(slot, value)
        case SlotType.FLOAT:
            return _float(slot, value)
        case SlotType.CATEGORICAL:
            return _category(slot, value)
        case SlotType.TEXT:
            return _text(slot, value)
        case SlotType.LIST:
            if isinstance(value, list):
                return value
            raise InvalidSlotValue(slot.name, value, "a list")
        case _:
            return value


def coerce_said(slot: Slot, value: Json) -> Json:
    """As `coerce`, of a value in a user's command: a text slot takes true and false as they are.

    Unverified: the assistant that `rasa init` writes has a text slot, a button that sends `true`
    for it, and a flow that goes on only if it `is true`; its e2e tests expect it to go on.

    Raises:
        InvalidSlotValue: the type does not admit the value.
    """
    if slot.type is SlotType.TEXT and isinstance(value, bool):
        return value
    return coerce(slot, value)


def coerce_bounded(slot: Slot, value: Json) -> Json:
    """As `coerce`, and within the slot's declared `min_value` and `max_value` (server.md SLOT-3).

    Raises:
        InvalidSlotValue: the type, or a bound, does not admit the value.
    """
    coerced = coerce(slot, value)
    if isinstance(coerced, float):
        low, high = slot.min_value, slot.max_value
        if low is not None and coerced < low:
            raise InvalidSlotValue(slot.name, value, f"at least {low:g}")
        if high is not None and coerced > high:
            raise InvalidSlotValue(slot.name, value, f"at most {high:g}")
    return coerced


def _bool(slot: Slot, value: Json) -> bool:
    if isinstance(value, bool):
        return value
    word = _spelled(value).strip().lower() if isinstance(value, str | int | float) else ""
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    raise InvalidSlotValue(slot.name, value, "true or false")


def _float(slot: Slot, value: Json) -> float:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        is_number = not isinstance(value, str) or NUMBER.fullmatch(value.strip())
        with suppress(OverflowError):
            if is_number and math.isfinite(number := float(value)):
                return number
    raise InvalidSlotValue(slot.name, value, "a number")


def _category(slot: Slot, value: Json) -> str:
    if isinstance(value, str | int | float):
        words = {str(value).strip().casefold(), _spelled(value).strip().casefold()}
        for declared in slot.values:
            if declared.casefold() in words:
                return declared
    raise InvalidSlotValue(slot.name, value, f"one of {', '.join(slot.values)}")


def _text(slot: Slot, value: Json) -> str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return _spelled(value)
    raise InvalidSlotValue(slot.name, value, "a text")


def _spelled(value: str | float) -> str:
    """`value` as a text; a whole number without a fraction, as some clients send 1 as 1.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
