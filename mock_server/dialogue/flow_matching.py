"""Which flow a sentence asks for: overlap of its words with a flow's id, name and description."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from mock_server.dialogue.assistant import Assistant, FlowIndex
from mock_server.dialogue.conditions import can_start
from mock_server.dialogue.lexicon import GENERIC_VERBS, REMEMBERED_SENTENCES, content_words
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
# A name, an amount or a quotation belongs to no flow. A text without a digit is searched faster.
DIGIT = re.compile(r"\d")
SIGN = re.compile(r"(?<=\w )[A-Z]\w*|[@#€$£]\S+|\"[^\"]*\"")
VALUE = re.compile(r"(?<=\w )[A-Z]\w*|[@#€$£]\S+|\S*\d\S*|\"[^\"]*\"")

_FoundWord: TypeAlias = tuple[int, str, float, frozenset[str], frozenset[str]]
"""How many flows have a word, the word, its share of the weight, and the flows by name and text."""


@record
class FlowMatch:
    """`score` is the share of the sentence's weight that `words` of the flow cover."""

    flow_id: str
    score: float
    words: frozenset[str]
    named: frozenset[str]


def rank(
    text: str, index: FlowIndex, is_open: Callable[[str], bool] = lambda _: True
) -> tuple[FlowMatch, ...]:
    """The flows that `text` may ask for, best first; flows without a common word are left out.

    So are flows that have only common words, once an open flow is found that they cannot come near:
    rare words are looked up first.
    """
    if len(text) > MAX_WISH:
        return ()
    found = _find_words(_words(text), index)
    matches: dict[str, FlowMatch] = {}
    top = 0.0
    rest = sum([_most(word) for word in found])
    for word in found:
        if rest < top - TIE:
            break
        rest -= _most(word)
        _, _, _, named, described = word
        for flow_id in named | described:
            if flow_id in matches:
                continue
            match = matches[flow_id] = _match(flow_id, found)
            if match.score >= max(ENOUGH, top) and _is_telling(match) and is_open(flow_id):
                top = match.score
    if len(matches) <= 1:
        return tuple(matches.values())
    order = index.order
    return tuple(sorted(matches.values(), key=lambda match: (-match.score, order[match.flow_id])))


@lru_cache(REMEMBERED_SENTENCES)  # 9 % of a turn, where the same is said again
def _words(text: str) -> tuple[str, ...]:
    values = VALUE if DIGIT.search(text) else SIGN
    return content_words(values.sub(" ", text))


def _most(word: _FoundWord) -> float:
    """The most that the word can add to a flow's score."""
    _, _, share, named, _ = word
    return share if named else share * DESCRIPTION_WORD


def best(matches: Sequence[FlowMatch]) -> tuple[FlowMatch, ...]:
    """The matches that are good enough and as good as the best: one, or several that tie."""
    telling = [match for match in matches if _is_telling(match)]
    if not telling:
        return ()
    least = max(ENOUGH, telling[0].score - TIE)
    return tuple([match for match in telling if match.score >= least])


def _is_telling(match: FlowMatch) -> bool:
    """A single word that only a description has is not enough: descriptions mention much."""
    return bool(match.named) or len(match.words) > 1


def _find_words(words: Sequence[str], index: FlowIndex) -> list[_FoundWord]:
    """The words that flows have, those of the fewest flows first."""
    weights = _weights(words)
    total = sum(weights.values())
    found: list[_FoundWord] = []
    for word, weight in weights.items():
        spellings = index.spellings(word)
        named = _flows(spellings, index.named)
        described = _flows(spellings, index.described)
        if named or described:
            found.append((len(named) + len(described), word, weight / total, named, described))
    found.sort()
    return found


def _flows(words: Sequence[str], postings: Mapping[str, frozenset[str]]) -> frozenset[str]:
    if len(words) == 1:
        return postings.get(words[0], NO_FLOWS)
    return NO_FLOWS.union(*[postings[word] for word in words if word in postings])


def _weights(words: Sequence[str]) -> dict[str, float]:
    """A sentence's first word of meaning is mostly its verb, and weighs the most."""
    weights: dict[str, float] = {}
    weight = FIRST_WORD
    for word in words:
        if word in GENERIC_VERBS:
            weights[word] = GENERIC_WORD
        else:
            weights[word] = weight
            weight = 1.0
    return weights


def _match(flow_id: str, found: Iterable[_FoundWord]) -> FlowMatch:
    named: list[str] = []
    described: list[str] = []
    score = 0.0
    for _, word, share, having, mentioning in found:
        if flow_id in having:
            named.append(word)
            score += share
        elif flow_id in mentioning:
            described.append(word)
            score += DESCRIPTION_WORD * share
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
