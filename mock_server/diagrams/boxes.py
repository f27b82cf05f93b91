"""How much room texts take: monospaced letters, wrapped where a reader would break a line."""

import re
from collections.abc import Iterator
from unicodedata import east_asian_width

from mock_server.diagrams.geometry import Size

FONT_SIZE = 12.0
LETTER_WIDTH = 7.23
LINE_HEIGHT = 16.0
MAX_LETTERS = 34

BREAKS = re.compile(r"(?<=[ _./,-])")


def wrap(text: str, limit: int = MAX_LETTERS) -> tuple[str, ...]:
    """The lines of `text`, none longer than `limit` letters; breaks are behind `_` and blanks."""
    return tuple(line for paragraph in text.split("\n") for line in _wrapped(paragraph, limit))


def _wrapped(paragraph: str, limit: int) -> Iterator[str]:
    line = ""
    for piece in _pieces(paragraph, limit):
        if line and letters_in((line + piece).rstrip()) > limit:
            yield line.rstrip()
            line = ""
        line += piece
    yield line.rstrip()


def _pieces(text: str, limit: int) -> Iterator[str]:
    """The words of `text`, with what divides them; one that is too long comes letter by letter."""
    for word in BREAKS.split(text):
        if letters_in(word.rstrip()) > limit:
            yield from word
        else:
            yield word


def letters_in(text: str) -> int:
    """The columns of `text`; wide letters, such as Chinese ones and emoji, take two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def size_of(lines: tuple[str, ...], padding_x: float, padding_y: float) -> Size:
    width = max(letters_in(line) for line in lines) * LETTER_WIDTH
    return Size(width + 2 * padding_x, len(lines) * LINE_HEIGHT + 2 * padding_y)
