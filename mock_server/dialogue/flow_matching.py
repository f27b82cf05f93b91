"""Which flow a sentence asks for: overlap of its words with a flow's id, name and description."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from mock_server.dialogue.assistant import Assistant, FlowIndex
from mock_server.dialogue.conditions import can_start
from mock_server.dialogue.lexicon import GENERIC_VERBS, content_words
from mock_server.dialogue.model import Json
from mock_server.records import record

ENOUGH = 0.5
TIE = 0.05
FIRST_WORD = 1.5
GENERIC_WORD = 0.5
DESCRIPTION_WORD = 0.6
# Nobody wishes for a flow in a longer text.
MAX_WISH = 1000

NO_FLOWS: frozenset[str] = frozenset()
VALUE = re.compile(r"(?<=\w )[A-Z]\w*|[@#€$£]\S+|\S*\d\S*|\"[^\"]*\"")


@record
class FlowMatch:
    """`score` is the share of the sentence's weight that `words` of the flow cover."""

    flow_id: str
    score: float
    words: frozenset[str]
    named: frozenset[str]


@record
class _Heard:
    """A word of the sentence, its share of the weight, and the flows that have it."""

    word: str
    share: float
    named: frozenset[str]
    described: frozenset[str]

    @property
    def flow_ids(self) -> frozenset[str]:
        return self.named | self.described

    @property
    def most(self) -> float:
        """The most that the word can add to a flow's score."""
        return self.share * (1.0 if self.named else DESCRIPTION_WORD)


def rank(
    text: str, index: FlowIndex, is_open: Callable[[str], bool] = lambda _: True
) -> tuple[FlowMatch, ...]:
    """The flows that `text` may ask for, best first; flows without a common word are left out.

    So are flows that have only words which many have, once an open flow is found that they cannot
    come near: rare words are looked up first, and then nobody asks who else has the common ones.
    """
    if len(text) > MAX_WISH:
        return ()
    heard = _heard(content_words(VALUE.sub(" ", text)), index)
    matches: dict[str, FlowMatch] = {}
    top = 0.0
    for place, word in enumerate(heard):
        if sum(other.most for other in heard[place:]) < top - TIE:
            break
        for flow_id in word.flow_ids - matches.keys():
            match = matches[flow_id] = _match(flow_id, heard)
            if match.score >= max(ENOUGH, top) and _is_telling(match) and is_open(flow_id):
                top = match.score
    order = index.order
    return tuple(sorted(matches.values(), key=lambda match: (-match.score, order[match.flow_id])))


def best(matches: Sequence[FlowMatch]) -> tuple[FlowMatch, ...]:
    """The matches that are good enough and as good as the best: one, or several that tie."""
    telling = [match for match in matches if _is_telling(match)]
    top = telling[0].score if telling else 0.0
    return tuple(m for m in telling if m.score >= max(ENOUGH, top - TIE))


def _is_telling(match: FlowMatch) -> bool:
    """A single word that only a description has is not enough: descriptions mention much."""
    return bool(match.named) or len(match.words) > 1


def _heard(words: Sequence[str], index: FlowIndex) -> list[_Heard]:
    """The words that flows have, those of the fewest flows first."""
    weights = _weights(words)
    total = sum(weights.values())
    heard: list[_Heard] = []
    for word, weight in weights.items():
        spellings = index.spellings(word)
        named = _flows(spellings, index.named)
        described = _flows(spellings, index.described)
        if named or described:
            heard.append(_Heard(word, weight / total, named, described))
    return sorted(heard, key=lambda one: (len(one.named) + len(one.described), one.word))


def _flows(words: Iterable[str], postings: Mapping[str, frozenset[str]]) -> frozenset[str]:
    sets = [postings[word] for word in words if word in postings]
    return sets[0] if len(sets) == 1 else NO_FLOWS.union(*sets)


def _weights(words: Sequence[str]) -> dict[str, float]:
    """A sentence's first word of meaning is its verb, mostly, and tells the most."""
    weights: dict[str, float] = {}
    for word in words:
        is_first = not any(other not in GENERIC_VERBS for other in weights)
        weights[word] = GENERIC_WORD if word in GENERIC_VERBS else FIRST_WORD if is_first else 1.0
    return weights


def _match(flow_id: str, heard: Iterable[_Heard]) -> FlowMatch:
    named: list[str] = []
    described: list[str] = []
    score = 0.0
    for word in heard:
        if flow_id in word.named:
            named.append(word.word)
            score += word.share
        elif flow_id in word.described:
            described.append(word.word)
            score += DESCRIPTION_WORD * word.share
    return FlowMatch(flow_id, min(score, 1.0), frozenset((*named, *described)), frozenset(named))


@record
class Wish:
    """The flows that fit: one, several that tie, or none, and why."""

    best: tuple[FlowMatch, ...]
    reason: str


def wish(assistant: Assistant, slots: Mapping[str, Json], text: str) -> Wish:
    """The flows that the words of `text` fit; flows whose guard fails are no candidates."""

    def is_open(flow_id: str) -> bool:
        return can_start(assistant.flows[flow_id], slots)

    matches = rank(text, assistant.index, is_open)
    open_matches = [match for match in matches if is_open(match.flow_id)]
    fitting = best(open_matches)
    if fitting:
        return Wish(fitting, ", ".join(f"{m.flow_id} {m.score:.2f}" for m in fitting))
    if best(matches):
        return Wish((), f"the condition of flow {matches[0].flow_id!r} does not hold")
    if open_matches:
        top = open_matches[0]
        return Wish((), f"nearest is {top.flow_id!r} with {top.score:.2f} of {ENOUGH}")
    return Wish((), "no word of it belongs to a flow")
