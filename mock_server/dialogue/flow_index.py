"""What flows have, and where to look one up: by a word, an intent or a slot.

It is made once for an assistant. A turn must not cost more the more flows there are, so nothing in
a turn walks through all of them.
"""

from collections.abc import Callable, Mapping
from functools import cached_property

from rapidfuzz import fuzz

from mock_server.dialogue.flow_slots import slots_collected, slots_to_reset
from mock_server.dialogue.lexicon import HANDOFF_WORDS, content_words
from mock_server.dialogue.model import Flow

FUZZY = 85
FUZZY_LENGTH = 5


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
        return {flow.id: slots_collected(flow, self._flows) for flow in self._flows.values()}

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

    def spellings(self, word: str) -> tuple[str, ...]:
        """The words of flows that `word` may stand for: itself, or else words much like it.

        Much like it is one letter too many, missing, wrong or swapped, in a longer word.
        """
        if word in self.named or word in self.described:
            return (word,)
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
