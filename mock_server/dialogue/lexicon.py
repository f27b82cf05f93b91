"""The words that are understood without a model (flows.md §7).

English only, as the default patterns are; `mock.yml: understand` is the way to other languages.
"""

import re
from functools import lru_cache

MIN_STEM = 3
BREAK = re.compile(r"[,.;!?]| - ")
WORD = re.compile(r"[a-z][a-z']*", re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What a boolean slot admits as well as true and false.
TRUE_WORDS = frozenset({"true", "yes", "y", "on", "1"})
FALSE_WORDS = frozenset({"false", "no", "n", "off", "0"})
AFFIRM = TRUE_WORDS | _words("""
    yep yeah yup yea ya aye sure ok okay okey correct right absolutely definitely certainly
    affirmative confirm confirmed indeed agreed exactly perfect fine
""")
DENY = FALSE_WORDS | _words("nope nah neither never negative wrong incorrect not don't dont")
HANDOFF_WORDS = _words("human handoff agent escalation")
GENERIC_VERBS = _words("list check manage handle")

STOP_WORDS = _words("""
    a an the i me my mine myself we us our ours you your yours he him his she her it its they them
    their this that these those am is are was were be been being do does did done have has had
    having want wants wanted would wouldn't like need needs wish please could can can't may might
    must shall should will won't to of in on at by for from with about into onto over as and or but
    if so than then there here just also too very much many some any all one ones someone something
    somebody anything thing things how what when where why not no yes now right today get gets got
    let lets let's i'd i'm i've i'll it's that's what's don't tell give go going think know hey hi
    hello ok okay well sorry wait actually thanks thank user users user's flow allow allows guide
    guides through such various
""")

_SAME_MEANING = (
    "list show view display see who which",
    "transfer send wire remit",
    "remove delete erase",
    "block freeze lock",
    "goodbye bye farewell",
    "add create register",
    "change update modify edit",
    "buy purchase order",
    "book reserve",
    "fee cost charge price",
)
SYNONYMS = {word: row.split()[0] for row in _SAME_MEANING for word in row.split()}


def normalized(text: str) -> str:
    """`text` in lower case, with plain apostrophes, single blanks and no closing punctuation."""
    straight = text.replace("\u2019", "'").replace("\u02bc", "'")
    return " ".join(straight.lower().split()).strip(" .!?,;:")


def clauses(text: str) -> tuple[str, ...]:
    """The parts of a normalized text between its punctuation, the whole of it first."""
    parts = [part.strip() for part in BREAK.split(text)]
    return tuple(dict.fromkeys([text, *(part for part in parts if part)]))


def stem(word: str) -> str:
    """A crude stem: two forms of a word share it, which is all that matching needs."""
    word = word.removesuffix("'s")
    for suffix, instead in (("ies", "y"), ("s", ""), ("ing", ""), ("ed", "")):
        is_ending = word.endswith(suffix) and not word.endswith(("ss", "us", "is"))
        if is_ending and len(word) - len(suffix) >= MIN_STEM:
            word = word.removesuffix(suffix) + instead
    is_doubled = len(word) > MIN_STEM and word[-1] == word[-2] and word[-1] not in "aeiosl"
    return (word[:-1] if is_doubled else word).removesuffix("e") or word


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
