"""What the next turn sends: its slots in each shape, which one wins, what text is left."""

import json
import re

from textual.content import Content

from inspector.core.commands import SlotShape, Turn
from inspector.core.compose import compose_params
from inspector.tui import ink
from inspector.tui.safe_text import safe_line

# Lowest precedence first, as the server applies them (server.md SLOT-1).
_PLACES = {
    SlotShape.LINE: "a SLOTS: line",
    SlotShape.FENCE: "a fenced block",
    SlotShape.REQUEST: "params.metadata.slots",
    SlotShape.METADATA: "message.metadata.slots",
    SlotShape.DATA: "a DataPart",
}
_TYPED_LINE = re.compile(r"^SLOTS:.*$", re.MULTILINE)
_TYPED_FENCE = re.compile(r"```json\s.*?```\s*\Z", re.DOTALL)


def preview(turn: Turn) -> Content:
    """Return what goes out besides the bare text, the winner, and the text the agent reads."""
    if not turn.slots:
        return Content.styled("Name a slot and give it a value; Esc closes the table.", ink.DIM)
    return Content("\n").join(
        [
            _line("goes out", _outgoing(turn)),
            _line("wins", winner(turn)),
            _line("text left", safe_line(remaining_text(turn.text)) or "none: slots alone"),
        ]
    )


def winner(turn: Turn) -> str:
    """Return the place whose value the agent takes, and what it overrides."""
    found = set(turn.slot_shapes) | _typed_shapes(turn.text)
    ordered = [_PLACES[shape] for shape in _PLACES if shape in found]
    over = f" over {', '.join(reversed(ordered[:-1]))}" if len(ordered) > 1 else ""
    return f"{ordered[-1]}{over}"


def remaining_text(text: str) -> str:
    return _TYPED_LINE.sub("", _TYPED_FENCE.sub("", text)).strip()


def _typed_shapes(text: str) -> set[SlotShape]:
    """Return the shapes in which the user has written slots into the text by hand."""
    found = {SlotShape.LINE} if _TYPED_LINE.search(text) else set[SlotShape]()
    return found | ({SlotShape.FENCE} if _TYPED_FENCE.search(text) else set())


def _outgoing(turn: Turn) -> str:
    params = compose_params(turn, "")
    message = params["message"]
    assert isinstance(message, dict)
    shown = {
        "params.metadata": params.get("metadata"),
        "message.metadata": message.get("metadata"),
        "parts": message["parts"],
    }
    return "  ".join(
        f"{name} {safe_line(json.dumps(value, ensure_ascii=False))}"
        for name, value in shown.items()
        if value
    )


def _line(label: str, text: str) -> Content:
    return Content.assemble((label.ljust(11), ink.DIM), text)
