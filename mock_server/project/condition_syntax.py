"""What pypred cannot read in a condition, in words of ours: its own count tokens from nowhere."""

import re
from collections.abc import Mapping

PLACE = re.compile(r" at line:? \d+, col \d+")
WORDS = (
    (re.compile(r"Failed to parse characters (?P<what>.+)", re.DOTALL), "{what} cannot be read"),
    (re.compile(r"Syntax error with (?P<what>.+)", re.DOTALL), "{what} is not expected there"),
    (re.compile(r"Unexpected end of predicate!"), "it ends too early"),
    (re.compile(r"Compilation failed for Regex (?P<what>.+)"), "{what} is no regular expression"),
)
# What people bring along from other languages.
MENDS: Mapping[str, re.Pattern[str]] = {
    "write `and`": re.compile(r"&"),
    "write `or`": re.compile(r"\|\|"),
    "write `not`": re.compile(r"!(?!=)"),
    "write {'a' 'b'} contains slots.x": re.compile(r"\bin\b"),
    "put blanks between the members of a set: {'a' 'b'}": re.compile(r"\{[^}]*,"),
    'use plain quotes: "…"': re.compile("[\u2018-\u201d]"),
    "write a regular expression in quotes, flags as (?i)": re.compile(r"matches\s*/"),
    "write `!=`": re.compile(r"<>"),
    "write `=`": re.compile(r"==="),
}
QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")


def explain(source: str, reason: str) -> tuple[str, str]:
    """The first thing that is wrong with `source`, and how to mend it, empty where unknown."""
    first = PLACE.sub("", reason.partition("; ")[0])
    unquoted = QUOTED.sub("''", source)
    mends = (mend for mend, sign in MENDS.items() if sign.search(unquoted))
    return _worded(first), next(mends, "")


def _worded(error: str) -> str:
    for sign, words in WORDS:
        found = sign.fullmatch(error)
        if found is not None:
            return words.format(**found.groupdict())
    return error
