"""Phrases that are understood without a model, as patterns over normalized text (flows.md §7)."""

import re


def _any(*alternatives: str) -> str:
    return f"(?:{'|'.join(alternatives)})"


def _whole(*alternatives: str) -> re.Pattern[str]:
    """One of the phrases and nothing else, but for polite words around it."""
    return re.compile(_OPENERS + _WISH + _any(*alternatives) + _CLOSERS)


_OPENERS = r"(?:(?:please|sorry|okay|ok|well|oh|hey|actually|no|wait|um|hmm|and|but|then)[ ,]+)*"
_WISH = _any(
    r"(?:i|we)(?:'d| would)? (?:want|like|need|wish) to ",
    r"(?:can|could|may) (?:you|we|i) ",
    r"let'?s ",
    "",
)
_CLOSERS = r"(?: (?:please|now|here|then|thanks|instead))*"
_IT = r"(?: (?:it|that|this|everything|all|(?:the|this|that|my) \w+(?: \w+)?))?"
_DO_NOT_WANT = r"(?:i )?(?:do not|don'?t) want (?:to|this|that|it)"

AFFIRM = re.compile(
    _any(
        "please do", "go ahead", "do it", "of course", "sounds good", r"that'?s (?:right|correct)",
        "i do", "i am", "all good",
    )
    + r"\b"
)  # fmt: skip
DENY = re.compile(
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
