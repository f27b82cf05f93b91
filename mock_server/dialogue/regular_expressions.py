"""Regular expressions of projects and clients, of which none can stop the program.

Those of the standard library may search a short text for hours; these give up.
"""

import re
from functools import lru_cache

import regex

from mock_server.errors import SearchTooSlow

# Counted by a clock that is looked at rarely: a tenth of a second in all.
LIMIT_SECONDS = 0.02
CACHED_EXPRESSIONS = 1024


@lru_cache(maxsize=CACHED_EXPRESSIONS)
def compile_expression(expression: str) -> regex.Pattern:
    """`expression`, as Python's `re` spells them.

    Raises:
        ValueError: it is not a regular expression.
    """
    try:
        re.compile(expression)  # Rasa's are no more than these
        return regex.compile(expression)
    except (re.error, regex.error, RecursionError, OverflowError) as error:
        raise ValueError(f"not a regular expression: {error}") from None


def search(expression: str, text: str) -> regex.Match | None:
    """The first place in `text` that `expression` matches.

    Raises:
        SearchTooSlow: it takes too long to tell.
    """
    try:
        return compile_expression(expression).search(text, timeout=LIMIT_SECONDS)
    except TimeoutError:
        raise SearchTooSlow(expression) from None
