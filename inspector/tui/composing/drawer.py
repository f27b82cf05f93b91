"""The drawer above the prompt: everything of a turn but its text, one page at a time."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalGroup, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from inspector.core.commands import SlotShape, Turn
from inspector.core.requests import compose
from inspector.tui.composing.options import OptionsForm, TurnOptions
from inspector.tui.composing.pairs_table import PairsTable, SlotsTable
from inspector.tui.composing.parts_table import PartsTable
from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import abridged, safe_line, value_text
from inspector.tui.panels import TabBar
from inspector.wire.dialect import Ask, texts
from inspector.wire.endpoints import DEFAULT
from inspector.wire.json_values import Json
from inspector.wire.slots import Seeding, seedings, strip_markers

# Each page by its id, with its tab's word and the name of the key that opens it.
PAGES = {
    "slots": ("Slots", "slots"),
    "metadata": ("Metadata", "metadata"),
    "parts": ("Parts", "attach"),
    "headers": ("Headers", "headers"),
    "turn-options": ("Options", "options"),
}


class Drawer(VerticalGroup):
    """Closed unless it has the class -open. `page` is the one shown, or shown when last open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+pagedown", "turn_page(1)", show=False),
        Binding("ctrl+pageup", "turn_page(-1)", show=False),
        Binding("down", "step(0, 1)", show=False),
        Binding("up", "step(0, -1)", show=False),
        Binding("right", "step(1, 0)", show=False),
        Binding("left", "step(-1, 0)", show=False),
    ]

    @dataclass
    class Turned(Message):
        """Another page was asked for."""

        page: str

    def __init__(self) -> None:
        super().__init__(id="drawer")
        self.page = "slots"

    def compose(self) -> ComposeResult:
        yield TabBar(PAGES, note="^PgDn next page  Esc back")
        yield SlotsTable()
        yield PairsTable("metadata key", id="metadata")
        yield PartsTable()
        yield PairsTable("header", id="headers", is_text=True)
        yield OptionsForm()
        with VerticalScroll(id="preview-rows", can_focus=False):
            yield Static("", id="preview", markup=False)

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    @property
    def slots(self) -> SlotsTable:
        return self.query_one(SlotsTable)

    @property
    def metadata(self) -> PairsTable:
        return self.query_one("#metadata", PairsTable)

    @property
    def headers(self) -> PairsTable:
        return self.query_one("#headers", PairsTable)

    @property
    def parts(self) -> PartsTable:
        return self.query_one(PartsTable)

    def open(self, page: str) -> None:
        """Show `page` and focus its first field."""
        self.page = page
        self.add_class("-open")
        for one in self.query(".page"):
            one.set_class(one.id == page, "-shown")
        self.query_one(TabBar).active = page
        self.call_after_refresh(self._focus_first)

    def close(self) -> None:
        self.remove_class("-open")

    def show(self, turn: Turn, options: TurnOptions) -> None:
        """Show what `turn` holds on each page and what goes out of it."""
        self.slots.show_shapes(options.shapes)
        self.query_one(OptionsForm).show(options)
        held = (turn.slots, turn.metadata, turn.parts, turn.headers)
        self.query_one(TabBar).counts = tuple(zip(PAGES, map(len, held), strict=False))
        self.query_one("#preview", Static).update(preview(turn))

    def action_turn_page(self, by: int) -> None:
        pages = list(PAGES)
        self.post_message(self.Turned(pages[(pages.index(self.page) + by) % len(pages)]))

    def action_step(self, across: int, down: int) -> None:
        """Focus the nearest field in that direction; in a field, left and right are its own."""
        focused = self.screen.focused
        if focused is None:
            return
        found: list[tuple[int, int, Widget]] = []
        for field in self.query_one(f"#{self.page}").query("Input, Button"):
            to = field.region.offset - focused.region.offset
            if to.y * down > 0 or (to.y == 0 and to.x * across > 0):
                found.append((abs(to.y), abs(to.x), field))
        if found:
            min(found, key=lambda one: one[:2])[2].focus()

    def _focus_first(self) -> None:
        page = self.query_one(f"#{self.page}")
        if isinstance(page, PairsTable | PartsTable | OptionsForm):
            page.focus_first()


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
    ask = compose(turn)
    lines: list[Content] = []
    if found := [seeding for seeding in seedings(ask) if seeding.slots]:
        lines = [
            _preview_line("" if at else "wins", text) for at, text in enumerate(verdicts(found))
        ]
        left = safe_line(remaining_text(ask))
        lines.append(_preview_line("agent reads", left or "no text: slots alone"))
    lines += [_preview_line(place, _compact(value)) for place, value in _places(ask) if value]
    lines += [
        _preview_line("header", safe_line(f"{name}: {value}")) for name, value in turn.headers
    ]
    return Content("\n").join(lines) if lines else Content.styled("nothing yet", styles.DIM)


def verdicts(found: Sequence[Seeding]) -> list[str]:
    """Return which place each slot is taken from, and over what; weakest of `found` first."""
    slots: dict[str, Json] = {}
    for seeding in found:
        slots |= seeding.slots
    words = {name: _verdict(name, found) for name in slots}
    if len(set(words.values())) == 1:
        return [f"{'all' if len(slots) > 1 else safe_line(next(iter(slots)))} {words.popitem()[1]}"]
    return [f"{safe_line(name)} {value_text(slots[name])} {text}" for name, text in words.items()]


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


def remaining_text(ask: Ask) -> str:
    """Return the text that is left to the agent once the markers are stripped (SLOT-4)."""
    parts = ask.message.parts if ask.message is not None else ()
    return "\n".join(left for text in texts(parts) if (left := strip_markers(text)))


def _places(ask: Ask) -> Iterator[tuple[str, Json]]:
    """Return what goes out, by place; the long contents of files by their size."""
    files = [part.file for part in ask.message.parts if part.file] if ask.message else []
    for place, value in DEFAULT.describe(ask).items():
        yield place, abridged(value, files)


def _compact(value: Json) -> str:
    return safe_line(json.dumps(value, ensure_ascii=False))


def _preview_line(label: str, text: str) -> Content:
    return Content.assemble((label.ljust(_LABEL_WIDTH), styles.DIM), text)
