"""Which flow a sentence asks for: overlap of its words with a flow's id, name and description."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from mock_server.dialogue.lexicon import GENERIC_VERBS, STOP_WORDS, SYNONYMS, stem
from mock_server.dialogue.model import Flow

ENOUGH = 0.5
TIE = 0.05
FIRST_WORD = 1.5
GENERIC_WORD = 0.5
DESCRIPTION_WORD = 0.6
FUZZY = 85
FUZZY_LENGTH = 5
# Nobody wishes for a flow in a longer text, and likeness costs words times flows.
MAX_WISH = 1000

WORD = re.compile(r"[a-z][a-z']*", re.IGNORECASE)
VALUE = re.compile(r"(?<=\w )[A-Z]\w*|[@#€$£]\S+|\S*\d\S*|\"[^\"]*\"")


@dataclass(frozen=True, slots=True)
class FlowMatch:
    """`score` is the share of the sentence's weight that `words` of the flow cover."""

    flow: Flow
    score: float
    words: frozenset[str]
    named: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    named: frozenset[str]
    described: frozenset[str]


def rank(text: str, flows: Iterable[Flow]) -> tuple[FlowMatch, ...]:
    """The flows that `text` may ask for, best first; flows without a common word are left out."""
    if len(text) > MAX_WISH:
        return ()
    wanted = _weights(content_words(VALUE.sub(" ", text)))
    if not wanted:
        return ()
    matches = (_match(flow, wanted) for flow in flows)
    return tuple(sorted((m for m in matches if m.score), key=lambda m: -m.score))


def best(matches: Sequence[FlowMatch]) -> tuple[FlowMatch, ...]:
    """The matches that are good enough and as good as the best: one, or several that tie.

    A single word that only a description has is not enough: descriptions mention much.
    """
    telling = [m for m in matches if m.named or len(m.words) > 1]
    top = telling[0].score if telling else 0.0
    return tuple(m for m in telling if m.score >= max(ENOUGH, top - TIE))


def content_words(text: str) -> tuple[str, ...]:
    """The words that carry meaning, as stems of their canonical synonym, in order."""
    straight = text.replace("\u2019", "'").replace("_", " ").replace("-", " ")
    words = (word.lower().strip("'") for word in WORD.findall(straight))
    return tuple(dict.fromkeys(_canonical(w) for w in words if w not in STOP_WORDS and len(w) > 1))


@lru_cache(maxsize=4096)
def _canonical(word: str) -> str:
    if word in SYNONYMS:
        return SYNONYMS[word]
    stemmed = stem(word)
    return _STEMMED_SYNONYMS.get(stemmed, stemmed)


_STEMMED_SYNONYMS = {stem(word): canonical for word, canonical in SYNONYMS.items()}


@lru_cache(maxsize=4096)
def _vocabulary(id: str, name: str, description: str) -> _Vocabulary:
    named = frozenset((*content_words(id), *content_words(name)))
    return _Vocabulary(named, frozenset(content_words(description)) - named)


def _weights(words: Sequence[str]) -> dict[str, float]:
    """A sentence's first word of meaning is its verb, mostly, and tells the most."""
    weights: dict[str, float] = {}
    for word in words:
        is_first = not any(other not in GENERIC_VERBS for other in weights)
        weights[word] = GENERIC_WORD if word in GENERIC_VERBS else FIRST_WORD if is_first else 1.0
    return weights


def _match(flow: Flow, wanted: dict[str, float]) -> FlowMatch:
    vocabulary = _vocabulary(flow.id, flow.name, flow.description)
    named = frozenset(word for word in wanted if _has(vocabulary.named, word))
    described = frozenset(w for w in wanted if w not in named and _has(vocabulary.described, w))
    weight = sum(wanted[w] for w in named) + DESCRIPTION_WORD * sum(wanted[w] for w in described)
    return FlowMatch(flow, weight / sum(wanted.values()), named | described, named)


def _has(vocabulary: frozenset[str], word: str) -> bool:
    if word in vocabulary:
        return True
    if len(word) < FUZZY_LENGTH:
        return False
    return any(
        len(known) >= FUZZY_LENGTH and fuzz.ratio(word, known, score_cutoff=FUZZY)
        for known in vocabulary
    )
