"""The signs of states and changes; every sign stands beside its name, never for colour alone."""

from dataclasses import dataclass

from inspector.tui.drawing import ink
from inspector.tui.drawing.safe_text import safe_line
from inspector.views.data import SlotChange
from inspector.wire.states import parse_state


@dataclass(frozen=True, slots=True)
class Symbols:
    """One set of signs. `states` is keyed by the spelling of A2A 0.3."""

    states: dict[str, str]
    changes: dict[SlotChange, str]
    unknown: str
    final: str
    artifact: str
    opened: str
    closed: str
    warning: str
    live: str
    none: str


UNICODE = Symbols(
    states={
        "submitted": "○",
        "working": "◌",
        "input-required": "◐",
        "auth-required": "!",
        "completed": "✓",
        "failed": "✗",
        "canceled": "⊘",
        "rejected": "R",
    },
    changes={
        SlotChange.SAME: " ",
        SlotChange.ADDED: "+",
        SlotChange.CHANGED: "~",
        SlotChange.CLEARED: "\N{MINUS SIGN}",
    },
    unknown="?",
    final="■",
    artifact="▤",
    opened="▾",
    closed="▸",
    warning="▲",
    live="⟳",
    none="\N{EN DASH}",
)

ASCII = Symbols(
    states={
        "submitted": "o",
        "working": "*",
        "input-required": ">",
        "auth-required": "!",
        "completed": "v",
        "failed": "x",
        "canceled": "/",
        "rejected": "R",
    },
    changes={
        SlotChange.SAME: " ",
        SlotChange.ADDED: "+",
        SlotChange.CHANGED: "~",
        SlotChange.CLEARED: "-",
    },
    unknown="?",
    final="#",
    artifact="=",
    opened="-",
    closed="+",
    warning="!",
    live="@",
    none="-",
)

_INKS = {
    "submitted": ink.DIM,
    "working": ink.ACCENT,
    "input-required": ink.WARN,
    "auth-required": ink.WARN,
    "completed": ink.GOOD,
    "failed": ink.BAD,
    "canceled": ink.DIM,
    "rejected": ink.BAD,
}


def state_name(state: str) -> str:
    """Return the 0.3 spelling of `state`, whichever version spelt it; a foreign one as it is."""
    return parse_state(state) or safe_line(state)


def state_ink(state: str) -> str:
    return _INKS.get(state_name(state), ink.BAD)


def state_sign(symbols: Symbols, state: str) -> str:
    return symbols.states.get(state_name(state), symbols.unknown)
