"""Every letter that is drawn as ASCII, for terminals and fonts that know no others."""

import unicodedata
from collections.abc import Mapping

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_LOOKALIKES = {
    "▌│┃║▏▎▍▊▐": "|",
    "─━═▔": "-",
    "╭╮╰╯┌┐└┘├┤┬┴┼": "+",
    "▁▂▃▄": "_",
    "▅▆▇█■": "#",
    "←": "<",
    "→▸": ">",
    "↑▲": "^",
    "↓▾": "v",
    "…·•": ".",
    "–—−": "-",  # noqa: RUF001
    "“”„": '"',
    "‘’": "'",  # noqa: RUF001
    "○": "o",
    "●◌": "*",
    "✓": "v",
    "✗": "x",
    "⊘": "/",
    "▤": "=",
    "€": "E",
}
_LETTERS = {letter: plain for letters, plain in _LOOKALIKES.items() for letter in letters}


class AsciiLetters(LineFilter):
    """Draws lookalikes; a letter that has none becomes `?`, as wide as it was."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment
            if segment.text.isascii()
            else Segment(to_ascii(segment.text), segment.style, segment.control)
            for segment in segments
        ]


def to_ascii(text: str) -> str:
    return "".join(letter if letter.isascii() else _plain(letter) for letter in text)


def is_ascii_terminal(environment: Mapping[str, str]) -> bool:
    """Say whether the locale, or the console of Linux itself, knows no other letters."""
    if environment.get("TERM") == "linux":
        return True
    named = (environment.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    charset = next((value for value in named if value), "UTF-8")
    return "utf" not in charset.lower()


def _plain(letter: str) -> str:
    width = cell_len(letter)
    if letter in _LETTERS:
        return _LETTERS[letter].ljust(width)
    bare = unicodedata.normalize("NFKD", letter)[:1]
    return bare if bare.isascii() and width == 1 else "?" * width
