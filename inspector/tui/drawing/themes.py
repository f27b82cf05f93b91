"""Themes, and what is drawn where only ASCII can be: all that the first frame needs of looks."""

import unicodedata
from collections.abc import Mapping

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme


def _theme(name: str, is_dark: bool, *colours: str) -> Theme:
    """Return the theme of `colours`, which stand in the order of the table's heading."""
    strong, weak, accent, warning, error, success, text, ground, panel, dim, border = colours
    return Theme(
        name=name,
        primary=strong,
        secondary=weak,
        accent=accent,
        warning=warning,
        error=error,
        success=success,
        foreground=text,
        background=ground,
        surface=ground,
        panel=panel,
        dark=is_dark,
        variables={"dim": dim, "border": border, "border-blurred": border},
    )


# Clear is the palette of Okabe and Ito (2008): sky blue, bluish green, orange and vermillion stay
# apart for protanopes, deuteranopes and tritanopes. Plain is without colour: signs, names, bold
# text and bars carry everything.
# fmt: off
_PALETTES = (
    # name, dark    primary    secondary  accent     warning    error      success
    #               foreground background panel      dim        border
    _theme("calm-dark", True, "#7aa2d6", "#5b7ea8", "#8fb8c8", "#d9b25f", "#e0707a", "#8fc49a",
           "#d4d8de", "#16191e", "#20252c", "#8a929e", "#3a424d"),
    _theme("calm-light", False, "#2a5d9c", "#4a7ab0", "#1f6a80", "#8a5a00", "#b02a37", "#1f6b34",
           "#22262c", "#f7f7f5", "#e9e9e4", "#666b73", "#c4c4bc"),
    _theme("clear", True, "#56b4e9", "#0072b2", "#cc79a7", "#f0e442", "#e67a2e", "#1fb68a",
           "#e4e4e4", "#141414", "#222222", "#9a9a9a", "#4a4a4a"),
    _theme("contrast", True, "#7cc4ff", "#7cc4ff", "#a8e6ff", "#ffe14d", "#ff8a80", "#7dff9b",
           "#ffffff", "#000000", "#1c1c1c", "#d0d0d0", "#9a9a9a"),
    _theme("plain", True, "#ffffff", "#d0d0d0", "#d8d8d8", "#ececec", "#ffffff", "#d8d8d8",
           "#d8d8d8", "#101010", "#262626", "#9a9a9a", "#565656"),
)
# fmt: on
THEMES = {theme.name: theme for theme in _PALETTES}
DARK, COLOURLESS = THEMES["calm-dark"], THEMES["plain"]


# ASCII replacements; signs that differ stay different.
_LOOKALIKES = {
    "▌│┃║▏▎▍▊▐": "|",
    "─━═▔": "-",
    "╭╮╰╯┌┐└┘├┤┬┴┼": "+",
    "▁▂▃▄": "_",
    "▅▆▇█■": "#",
    "▸": "+",
    "▾": "-",
    "▲": "!",
    "⟳": "@",
    "←": "<",
    "→◐": ">",
    "↑": "^",
    "↓": "v",
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
    """Whether the locale, or the Linux console itself, has ASCII letters only."""
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
