"""Which value of a slot wins and what text is left; what the next turn sends, place by place."""

import json
from collections.abc import Iterator, Sequence

from textual.content import Content

from inspector.core.commands import SlotShape, Turn
from inspector.core.requests import compose_params
from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import abridged, safe_line, value_text
from inspector.wire.json_values import Json, list_at, object_at
from inspector.wire.slots import Seeding, seedings, strip_markers
from inspector.wire.v0_3 import texts

_PLACES = {
    SlotShape.LINE: "a SLOTS: line",
    SlotShape.FENCE: "a fenced block",
    SlotShape.REQUEST: "params.metadata",
    SlotShape.METADATA: "message.metadata",
    SlotShape.DATA: "a DataPart",
}
_LABEL_WIDTH = 18


def preview(turn: Turn) -> Content:
    """Return what the agent makes of slots and text, then what goes out, field by field."""
    params = compose_params(turn, "")
    lines: list[Content] = []
    if found := [seeding for seeding in seedings(params) if seeding.slots]:
        lines = [_line("" if at else "wins", text) for at, text in enumerate(verdicts(found))]
        left = safe_line(remaining_text(params))
        lines.append(_line("agent reads", left or "no text: slots alone"))
    lines += [_line(place, _compact(value)) for place, value in _places(params) if value]
    lines += [_line("header", safe_line(f"{name}: {value}")) for name, value in turn.headers]
    return Content("\n").join(lines) if lines else Content.styled("nothing yet", styles.DIM)


def verdicts(found: Sequence[Seeding]) -> list[str]:
    """Return which place each slot is taken from, and over what; weakest of `found` first."""
    slots: dict[str, Json] = {}
    for seeding in found:
        slots |= seeding.slots
    told = {name: _verdict(name, found) for name in slots}
    if len(set(told.values())) == 1:
        return [f"{'all' if len(slots) > 1 else safe_line(next(iter(slots)))} {told.popitem()[1]}"]
    return [f"{safe_line(name)} {value_text(slots[name])} {text}" for name, text in told.items()]


def _verdict(name: str, found: Sequence[Seeding]) -> str:
    """Return `by` the place that wins, `over` the others with their values where they differ."""
    *losers, winner = [seeding for seeding in found if name in seeding.slots]
    value = _compact(winner.slots[name])
    over = [
        ("the same" if _compact(loser.slots[name]) == value else value_text(loser.slots[name]))
        + f" in {_PLACES[SlotShape(loser.shape)]}"
        for loser in reversed(losers)
    ]
    place = _PLACES[SlotShape(winner.shape)]
    return f"by {place}, over {', '.join(over)}" if over else f"by {place}"


def remaining_text(params: Json) -> str:
    """Return the text that is left to the agent once the markers are stripped (SLOT-4)."""
    parts = tuple(list_at(params, "message", "parts"))
    return "\n".join(left for text in texts(parts) if (left := strip_markers(text)))


def _places(params: Json) -> Iterator[tuple[str, Json]]:
    yield "parts", [abridged(part) for part in list_at(params, "message", "parts")]
    yield "message.metadata", object_at(params, "message", "metadata")
    yield "params.metadata", object_at(params, "metadata")
    yield "configuration", object_at(params, "configuration")


def _compact(value: Json) -> str:
    return safe_line(json.dumps(value, ensure_ascii=False))


def _line(label: str, text: str) -> Content:
    return Content.assemble((label.ljust(_LABEL_WIDTH), styles.DIM), text)
