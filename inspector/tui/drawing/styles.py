"""How things look: styles, signs, themes, and what is drawn where only ASCII can be."""

import unicodedata
from collections.abc import Mapping

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from inspector.views.text import plain_line
from inspector.wire.states import parse_state

PLAIN = ""
DIM = "$dim"
STRONG = "bold"
ACCENT = "$accent"
GOOD = "$success"
WARN = "$warning"
BAD = "$error"
KEY = "$primary"


# Every sign stands beside its name, never for its colour alone.
# By state as A2A 0.3 spells it.
STATE_SIGNS = {
    "submitted": "○",
    "working": "◌",
    "input-required": "◐",
    "auth-required": "!",
    "completed": "✓",
    "failed": "✗",
    "canceled": "⊘",
    "rejected": "R",
}
CHANGE_SIGNS = {
    "same": " ",
    "added": "+",
    "changed": "~",
    "cleared": "\N{MINUS SIGN}",
}
UNKNOWN = "?"
FINAL = "■"
ARTIFACT = "▤"
OPENED = "▾"
CLOSED = "▸"
WARNING = "▲"
LIVE = "⟳"
NONE = "\N{EN DASH}"

_STATE_STYLES = {
    "submitted": DIM,
    "working": ACCENT,
    "input-required": WARN,
    "auth-required": WARN,
    "completed": GOOD,
    "failed": BAD,
    "canceled": DIM,
    "rejected": BAD,
}


def state_name(state: str) -> str:
    """Return the 0.3 spelling of `state`, whichever version spelt it; a foreign one as it is."""
    return parse_state(state) or plain_line(state)


def state_style(state: str) -> str:
    return _STATE_STYLES.get(state_name(state), BAD)


def state_sign(state: str) -> str:
    return STATE_SIGNS.get(state_name(state), UNKNOWN)


DARK = Theme(
    name="calm-dark",
    primary="#7aa2d6",
    secondary="#5b7ea8",
    accent="#8fb8c8",
    warning="#d9b25f",
    error="#e0707a",
    success="#8fc49a",
    foreground="#d4d8de",
    background="#16191e",
    surface="#16191e",
    panel="#20252c",
    dark=True,
    variables={"dim": "#8a929e", "border": "#3a424d", "border-blurred": "#3a424d"},
)
LIGHT = Theme(
    name="calm-light",
    primary="#2a5d9c",
    secondary="#4a7ab0",
    accent="#1f6a80",
    warning="#8a5a00",
    error="#b02a37",
    success="#1f6b34",
    foreground="#22262c",
    background="#f7f7f5",
    surface="#f7f7f5",
    panel="#e9e9e4",
    dark=False,
    variables={"dim": "#666b73", "border": "#c4c4bc", "border-blurred": "#c4c4bc"},
)
# Okabe and Ito's palette (2008): sky blue, bluish green, orange and vermillion stay apart for
# protanopes, deuteranopes and tritanopes.
CLEAR = Theme(
    name="clear",
    primary="#56b4e9",
    secondary="#0072b2",
    accent="#cc79a7",
    warning="#f0e442",
    error="#e67a2e",
    success="#1fb68a",
    foreground="#e4e4e4",
    background="#141414",
    surface="#141414",
    panel="#222222",
    dark=True,
    variables={"dim": "#9a9a9a", "border": "#4a4a4a", "border-blurred": "#4a4a4a"},
)
CONTRAST = Theme(
    name="contrast",
    primary="#7cc4ff",
    secondary="#7cc4ff",
    accent="#a8e6ff",
    warning="#ffe14d",
    error="#ff8a80",
    success="#7dff9b",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    dark=True,
    variables={"dim": "#d0d0d0", "border": "#9a9a9a", "border-blurred": "#9a9a9a"},
)
# Without colour: signs, names, bold text and bars carry everything.
COLOURLESS = Theme(
    name="plain",
    primary="#ffffff",
    secondary="#d0d0d0",
    accent="#d8d8d8",
    warning="#ececec",
    error="#ffffff",
    success="#d8d8d8",
    foreground="#d8d8d8",
    background="#101010",
    surface="#101010",
    panel="#262626",
    dark=True,
    variables={"dim": "#9a9a9a", "border": "#565656", "border-blurred": "#565656"},
)
THEMES = {theme.name: theme for theme in (DARK, LIGHT, CLEAR, CONTRAST, COLOURLESS)}


# What stands for a letter in ASCII; signs that differ stay different.
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
