"""The words and phrases that are understood without a model (flows.md §7).

English only, as the default patterns are; `mock.yml: understand` is the way to other languages.
"""

import re
from functools import lru_cache

from mock_server.records import record

MIN_STEM = 3
BREAK = re.compile(r"[,.;!?]| - ")
WORD = re.compile(r"[A-Za-z][A-Za-z']*")
# Tests and load repeat the same sentences; to remember them saves 8 % of a turn.
REMEMBERED_SENTENCES = 512
LONGEST_REMEMBERED = 1000


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
    return tuple(dict.fromkeys([text, *filter(None, parts)])) if len(parts) > 1 else (text,)


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
    words = [word.lower().strip("'") for word in WORD.findall(straight)]
    telling = [_canonical(word) for word in words if word not in STOP_WORDS and len(word) > 1]
    return tuple(dict.fromkeys(telling))


@lru_cache(maxsize=4096)
def _canonical(word: str) -> str:
    if word in SYNONYMS:
        return SYNONYMS[word]
    stemmed = stem(word)
    return _STEMMED_SYNONYMS.get(stemmed, stemmed)


_STEMMED_SYNONYMS = {stem(word): canonical for word, canonical in SYNONYMS.items()}


def _any(*alternatives: str) -> str:
    return f"(?:{'|'.join(alternatives)})"


def _whole(*alternatives: str) -> re.Pattern[str]:
    """One of the phrases and nothing else, but for polite words around it."""
    return re.compile(_OPENERS + _WANTED + _any(*alternatives) + _CLOSERS)


_OPENERS = r"(?:(?:please|sorry|okay|ok|well|oh|hey|actually|no|wait|um|hmm|and|but|then)[ ,]+)*"
_WANTED = _any(
    r"(?:i|we)(?:'d| would)? (?:want|like|need|wish) to ",
    r"(?:can|could|may) (?:you|we|i) ",
    r"let'?s ",
    "",
)
_CLOSERS = r"(?: (?:please|now|here|then|thanks|instead))*"
_IT = r"(?: (?:it|that|this|everything|all|(?:the|this|that|my) \w+(?: \w+)?))?"
_DO_NOT_WANT = r"(?:i )?(?:do not|don'?t) want (?:to|this|that|it)"

AFFIRMING = re.compile(
    _any(
        "please do", "go ahead", "do it", "of course", "sounds good", r"that'?s (?:right|correct)",
        "i do", "i am", "all good",
    )
    + r"\b"
)  # fmt: skip
DENYING = re.compile(
    _any("please don'?t", "rather not", "i do ?n[o']t", "i'm good", r"that'?s (?:all|it)") + r"\b"
)
CANCEL = _whole(
    _any("cancel", "abort", "quit", "exit", "stop", "drop") + _IT,
    "never ?mind",
    "forget (?:about )?(?:it|that|this)",
    "(?:i|i've|i have) changed my mind",
    _DO_NOT_WANT + "(?: (?:continue|go on|do (?:this|that|it)))?(?: any ?more)?",
)
SKIP = _whole(
    r"skip(?: (?:it|this|that|(?:this|the) question|(?:this|that) one))?",
    "next question",
    "pass",
    "(?:i'd |i would )?rather not (?:say|tell|answer)",
    "(?:i )?(?:don'?t|do not) want to (?:say|answer)",
    "leave (?:it|that) (?:out|empty|blank)",
)
REPEAT = _whole(
    "repeat(?: (?:it|that|the question|yourself))?",
    "say (?:that|it) again",
    "come again",
    "pardon(?: me)?",
    "what did you (?:just )?say",
    "what was that",
    "once more",
    "again",
)
HUMAN = re.compile(
    _any(
        r"\b(?:human|real person|live agent|representative|operator|support agent)\b",
        r"\b(?:talk|speak|connect|transfer)\b.{0,60}\b(?:human|person|agent|someone|somebody)\b",
    )
)
CORRECTION = re.compile(
    r"\b"
    + _any(
        r"i (?:actually )?mea?nt", "actually", "wait", "correction", "rather", "instead", "sorry",
        "i said", "(?:change|make|correct|update) (?:it|that|this|the|my)", "not that",
    )
    + r"\b"
)  # fmt: skip
CHITCHAT = re.compile(
    _any(
        "hi", "hello", "hey", "hiya", "howdy", "greetings",
        "good (?:morning|afternoon|evening|day)",
        "how (?:are|r) you(?: doing)?(?: today)?", "how do you do", "how'?s it going",
        "what'?s up", "nice to meet you",
        "thanks?(?: you)?(?: (?:very|so) much| a lot)?", "thx", "cheers",
        "cool", "great", "awesome", "nice", "lol", "haha+",
        "bye(?: bye)?", "goodbye", "see (?:you|ya)(?: later| soon)?",
        "tell me a joke", "(?:who|what) are you", r"are you (?:a |an )?\w+", "what can you do",
        "(?:who|what) am i (?:talking|speaking) (?:to|with)",
    )
    + "(?: there| everyone| bot)?"
)  # fmt: skip
REQUEST = re.compile(
    r"(?:^|[,.;] *|\b(?:and|but|no|yes|ok|okay|wait|sorry|actually|please|first|hey) )"
    + _any(
        "(?:i|we)(?:'d| would)? (?:want|like|need|wish|have to)",
        "(?:can|could|may|will|would) (?:you|we|i)",
        "how (?:much|many|do|can|to)",
        "(?:what|who)(?:'s| is| are)",
        "which",
        "where",
        "when (?:is|do)",
        "(?:show|tell|give|help) me",
        "show",
        "list",
        "let(?:'s| me)",
        "please",
        "is (?:it|there)",
        "do (?:i|you)",
        "are there",
    )
    + r"\b"
)
LEAD_IN = re.compile(
    _OPENERS
    + _any(
        "(?:it|that|this|he|she)(?:'s| is| should be| was)",
        r"(?:the|my|his|her|their|our) [\w ]{1,30}? (?:is|are)",
        "i(?:'m| am)",
        "i (?:actually )?mea?nt(?: to say)?",
        "i said",
        "just",
        "call (?:it|him|her)",
        "make (?:it|that)",
        "for",
        "to",
        r"(?:change|set|correct|update) (?:it|that|(?:the|my) [\w ]{1,30}?) to",
    )
    + "(?: just)? +",
    re.IGNORECASE,
)
ONLY_OPENERS = re.compile(
    r"(?:(?:(?:sorry|wait|actually|oh|correction)[ ,:]|no,)\s*)+", re.IGNORECASE
)
CORRECTION_CUES = re.compile(
    _any(
        r"^(?:(?:oh|ah|no|sorry|wait|actually|hold on|correction|um|please)[ ,.:!]+)+",
        r"\bi (?:actually )?mea?nt(?: to say)?\b",
        r"\bi said\b",
        r"\bit should be\b",
    ),
    re.IGNORECASE,
)
CORRECTION_TAIL = re.compile(
    r",? (?:instead|actually|please|sorry|not [\w.]+)[.!]?$", re.IGNORECASE
)


@record
class Sentence:
    """A text in plain spelling, its clauses, and the phrases that it has."""

    plain: str
    clauses: tuple[str, ...]
    cancels: bool
    corrects: bool
    skips: bool
    asks_to_repeat: bool
    mentions_human: bool
    requests: bool
    is_small_talk: bool


def read_sentence(text: str) -> Sentence:
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _read_sentence(text)


def _read_sentence(text: str) -> Sentence:
    plain = normalized(text)
    parts = clauses(plain)
    return Sentence(
        plain,
        parts,
        cancels=any(CANCEL.fullmatch(part) for part in parts),
        corrects=CORRECTION.search(plain) is not None,
        skips=SKIP.fullmatch(plain) is not None,
        asks_to_repeat=REPEAT.fullmatch(plain) is not None,
        mentions_human=HUMAN.search(plain) is not None,
        requests=REQUEST.search(plain) is not None,
        is_small_talk=any(CHITCHAT.fullmatch(part) for part in parts),
    )


_remembered = lru_cache(REMEMBERED_SENTENCES)(_read_sentence)
