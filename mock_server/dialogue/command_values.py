"""Values as they are written in commands."""

from mock_server.dialogue.model import Json

NULL_WORDS = frozenset({"null", "none", "undefined"})
TRUTH_VALUES = {"true": True, "True": True, "false": False, "False": False}


def value_of(text: str) -> Json:
    """The value that `text` in a command stands for: a text, without its quotes if it has any.

    Null words stand for None; true and false for themselves.
    """
    stripped = text.strip()
    if stripped.lower() in NULL_WORDS:
        return None
    if stripped in TRUTH_VALUES:
        return TRUTH_VALUES[stripped]
    is_quoted = len(stripped) > 1 and stripped[0] == stripped[-1] and stripped[0] in "\"'"
    return stripped[1:-1] if is_quoted else stripped
