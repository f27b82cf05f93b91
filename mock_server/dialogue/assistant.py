"""An assistant as the engine reads it, with an index of its flows by word, intent and slot."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from rapidfuzz import fuzz

from mock_server.dialogue.lexicon import HANDOFF_WORDS, content_words, normalized
from mock_server.dialogue.model import (
    CallStep,
    CollectStep,
    Flow,
    Json,
    SetSlotsStep,
    Slot,
    Variation,
)
from mock_server.errors import NOWHERE, Location

FUZZY = 85
FUZZY_LENGTH = 5


def called_flows(step: CallStep, flows: Mapping[str, Flow]) -> list[Flow]:
    """The flow that `step` calls and all that are called from there, each once."""
    found: dict[str, Flow] = {}
    waiting = [step.flow_id]
    while waiting:
        flow = flows[waiting.pop()]
        if flow.id not in found:
            found[flow.id] = flow
            waiting += (s.flow_id for s in flow.steps.values() if isinstance(s, CallStep))
    return list(found.values())


def collects_of(flow: Flow, flows: Mapping[str, Flow]) -> Iterator[tuple[str, CollectStep]]:
    """Each collect step of `flow` and of the flows it calls, with the id of the step in `flow`."""
    for step in flow.steps.values():
        match step:
            case CollectStep():
                yield step.id, step
            case CallStep():
                for called in called_flows(step, flows):
                    collects = (s for s in called.steps.values() if isinstance(s, CollectStep))
                    yield from ((step.id, collect) for collect in collects)
            case _:
                pass


def slots_to_reset(flow: Flow, flows: Mapping[str, Flow]) -> set[str]:
    """The slots that return to their initial value when `flow` ends (flows.md §4.1)."""
    reset = _own_reset(flow)
    for step in flow.steps.values():
        if isinstance(step, CallStep):
            reset.update(*map(_own_reset, called_flows(step, flows)))
    return reset - _own_kept(flow)


def _own_reset(flow: Flow) -> set[str]:
    reset: set[str] = set()
    for step in flow.steps.values():
        match step:
            case CollectStep():
                reset.add(step.slot)
            case SetSlotsStep():
                reset.update(name for name, _ in step.values)
            case _:
                pass
    return reset - _own_kept(flow)


def _own_kept(flow: Flow) -> set[str]:
    kept = (
        step.slot
        for step in flow.steps.values()
        if isinstance(step, CollectStep) and not step.reset_after_flow_ends
    )
    return {*kept, *flow.persisted_slots}


class FlowIndex:
    """Looks into `flows`; each table is made when it is first needed."""

    def __init__(self, flows: Mapping[str, Flow]) -> None:
        self._flows = flows

    @cached_property
    def by_intent(self) -> Mapping[str, Flow]:
        """The first flow with each `nlu_trigger`."""
        found: dict[str, Flow] = {}
        for flow in self._flows.values():
            for intent in flow.nlu_triggers:
                found.setdefault(intent, flow)
        return found

    @cached_property
    def by_slot(self) -> Mapping[str, tuple[Flow, ...]]:
        """The user's flows that collect a slot, themselves or by a call."""
        found: dict[str, list[Flow]] = {}
        for flow in self._flows.values():
            if not flow.is_pattern:
                for slot in self.collected[flow.id]:
                    found.setdefault(slot, []).append(flow)
        return {slot: tuple(flows) for slot, flows in found.items()}

    @cached_property
    def collected(self) -> Mapping[str, tuple[str, ...]]:
        """The slots that a flow and the flows it calls ask for, in file order."""
        asked = {id_: collects_of(flow, self._flows) for id_, flow in self._flows.items()}
        return {id_: tuple(dict.fromkeys(c.slot for _, c in of)) for id_, of in asked.items()}

    @cached_property
    def resets(self) -> Mapping[str, tuple[str, ...]]:
        """The slots that return to their initial value when a flow ends, sorted."""
        flows = self._flows
        return {flow.id: tuple(sorted(slots_to_reset(flow, flows))) for flow in flows.values()}

    @cached_property
    def handoffs(self) -> tuple[Flow, ...]:
        """The user's flows that are named after handing over to a human."""
        return tuple(
            flow
            for flow in self._flows.values()
            if not flow.is_pattern and HANDOFF_WORDS & set(content_words(f"{flow.id} {flow.name}"))
        )

    @cached_property
    def order(self) -> Mapping[str, int]:
        """The places of the user's flows in their files."""
        users = (flow for flow in self._flows.values() if not flow.is_pattern)
        return {flow.id: place for place, flow in enumerate(users)}

    @cached_property
    def named(self) -> Mapping[str, frozenset[str]]:
        """The flows whose id or name has a word."""
        return self._postings(lambda flow: (*content_words(flow.id), *content_words(flow.name)))

    @cached_property
    def described(self) -> Mapping[str, frozenset[str]]:
        """The flows whose description has a word."""
        return self._postings(lambda flow: content_words(flow.description))

    def _postings(
        self, words_of: Callable[[Flow], tuple[str, ...]]
    ) -> Mapping[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for flow_id in self.order:
            for word in words_of(self._flows[flow_id]):
                found.setdefault(word, set()).add(flow_id)
        return {word: frozenset(ids) for word, ids in found.items()}

    def similar_words(self, word: str) -> tuple[str, ...]:
        """The long words of flows with one letter more, less, other or swapped than `word` has."""
        if len(word) < FUZZY_LENGTH:
            return ()
        near = {known for cut in _cuts(word) for known in self._cut.get(cut, ())}
        return tuple(sorted(k for k in near if fuzz.ratio(word, k, score_cutoff=FUZZY)))

    @cached_property
    def _cut(self) -> Mapping[str, tuple[str, ...]]:
        """The long words of flows by what remains of them without any one letter."""
        found: dict[str, list[str]] = {}
        for word in sorted({*self.named, *self.described}):
            if len(word) >= FUZZY_LENGTH:
                for cut in _cuts(word):
                    found.setdefault(cut, []).append(word)
        return {cut: tuple(words) for cut, words in found.items()}


def _cuts(word: str) -> set[str]:
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}


class RejectedScope(StrEnum):
    """When text that nobody understands makes a turn `rejected` (server.md STATE-2)."""

    ONLY_WITHOUT_USER_FLOW = "only_without_user_flow"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class ToolBranch:
    """The result or failure of a tool while `when` holds (None always does)."""

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
    plain_examples: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain_examples", tuple(map(normalized, self.examples)))


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
