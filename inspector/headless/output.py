"""Colours, symbols and units of what is printed for people."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from inspector.views.data import SlotChange
from inspector.wire.states import parse_state

_RESET = "\x1b[0m"
BOLD, DIM, RED, GREEN, YELLOW, CYAN = "1", "2", "31", "32", "33", "36"

SYMBOLS = {
    "submitted": ("○", DIM),
    "working": ("◌", CYAN),
    "input-required": ("◐", YELLOW),
    "auth-required": ("!", YELLOW),
    "completed": ("✓", GREEN),
    "failed": ("✗", RED),
    "canceled": ("⊘", DIM),
    "rejected": ("R", RED),
}
CHANGES = {
    SlotChange.SAME: (" ", ""),
    SlotChange.ADDED: ("+", GREEN),
    SlotChange.CHANGED: ("~", YELLOW),
    SlotChange.CLEARED: ("\N{MINUS SIGN}", RED),
}


@dataclass(frozen=True, slots=True)
class Ink:
    """Colours text, or leaves it as it is."""

    is_coloured: bool

    def __call__(self, text: str, *styles: str) -> str:
        codes = ";".join(style for style in styles if style)
        return f"\x1b[{codes}m{text}{_RESET}" if self.is_coloured and codes else text

    def state(self, state: str) -> str:
        """The symbol and name of `state`, whichever version spelt it."""
        known = parse_state(state) or ""
        symbol, style = SYMBOLS.get(known, ("?", RED))
        return self(f"{symbol} {known or state}", style)


def ink_for(stream: TextIO, environment: Mapping[str, str] = os.environ) -> Ink:
    """Colours on a terminal only, and not where NO_COLOR is set (no-color.org)."""
    is_plain = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
    return Ink(stream.isatty() and not is_plain)


def milliseconds(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.2f} s"  # noqa: PLR2004
