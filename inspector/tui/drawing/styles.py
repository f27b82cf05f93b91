"""How things look: styles and signs."""

from textual.content import Content
from textual.style import Style

from inspector.views.text import plain_line
from inspector.wire.findings import Severity
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
_STATES = {
    "submitted": ("○", DIM),
    "working": ("◌", ACCENT),
    "input-required": ("◐", WARN),
    "auth-required": ("!", WARN),
    "completed": ("✓", GOOD),
    "failed": ("✗", BAD),
    "canceled": ("⊘", DIM),
    "rejected": ("R", BAD),
}
STATE_SIGNS = {state: sign for state, (sign, _) in _STATES.items()}
DONE, FAILED = STATE_SIGNS["completed"], STATE_SIGNS["failed"]
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

SEVERITIES = {Severity.ERROR: BAD, Severity.WARNING: WARN, Severity.HINT: DIM}


def state_name(state: str) -> str:
    """Return the 0.3 spelling of `state`, whichever version spelt it; a foreign one as it is."""
    return parse_state(state) or plain_line(state)


def state_style(state: str) -> str:
    return _STATES.get(state_name(state), (UNKNOWN, BAD))[1]


def state_sign(state: str) -> str:
    return STATE_SIGNS.get(state_name(state), UNKNOWN)


def state_text(state: str, width: int = 0) -> Content:
    """Return sign and name of `state`, at least `width` cells of them."""
    text = f"{state_sign(state)} {state_name(state)}".ljust(width)
    return Content.styled(text, state_style(state))


def clickable(text: Content, action: str) -> Content:
    """Return `text`, on which a click does `action`."""
    return text.stylize(Style.from_meta({"@click": action}))
