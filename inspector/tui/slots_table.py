"""The slots of the next turn: name, value and type a row, the shapes, and what will go out."""

from collections.abc import Mapping
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import HorizontalGroup, VerticalGroup, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Static

from inspector.core.commands import Json, SlotShape
from inspector.tui.conversation import value_text
from inspector.tui.slot_values import BadValue, ValueKind, kind_of, parse_value

_SHAPE_NAMES = {
    SlotShape.LINE: "line",
    SlotShape.FENCE: "fence",
    SlotShape.REQUEST: "request",
    SlotShape.METADATA: "metadata",
    SlotShape.DATA: "DataPart",
}


class SlotLine(HorizontalGroup):
    """One slot. Its type is guessed from the value until the button sets it."""

    @dataclass
    class Edited(Message):
        line: "SlotLine"

    def __init__(self, known: Mapping[str, Json], name: str = "", typed: str = "") -> None:
        super().__init__()
        self._known = known
        self._name, self._typed = name, typed
        self.kind = ValueKind.AUTO

    def compose(self) -> ComposeResult:
        suggester = SuggestFromList(list(self._known), case_sensitive=False)
        yield Input(
            self._name, placeholder="slot", classes="name", compact=True, suggester=suggester
        )
        yield Input(self._typed, placeholder="value", classes="value", compact=True)
        yield Button(self._kind_label(), classes="kind", compact=True)

    def on_mount(self) -> None:
        for field in self.query(Input):
            field.cursor_blink = False

    @property
    def slot_name(self) -> str:
        return self.query_one(".name", Input).value.strip()

    @property
    def is_filled(self) -> bool:
        """Say whether the row is a slot: an empty value counts once its type says what it is."""
        typed = self.query_one(".value", Input).value
        return bool(self.slot_name) and (bool(typed) or self.kind is not ValueKind.AUTO)

    def slot_value(self) -> Json:
        """Return the value as typed.

        Raises:
            BadValue: it is not of the type that was set.
        """
        return parse_value(self.query_one(".value", Input).value, self.kind)

    @on(Input.Changed)
    def tell_edit(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.has_class("name"):
            self._hint_value()
        self.query_one(Button).label = self._kind_label()
        self.post_message(self.Edited(self))

    @on(Button.Pressed)
    def turn_kind(self, event: Button.Pressed) -> None:
        event.stop()
        kinds = list(ValueKind)
        self.kind = kinds[(kinds.index(self.kind) + 1) % len(kinds)]
        event.button.label = self._kind_label()
        self.post_message(self.Edited(self))

    def _hint_value(self) -> None:
        """Show the slot's present value in the empty field."""
        known = self.slot_name in self._known
        hint = f"now {value_text(self._known[self.slot_name])}" if known else "value"
        self.query_one(".value", Input).placeholder = hint

    def _kind_label(self) -> str:
        if self.kind is not ValueKind.AUTO:
            return self.kind.value
        typed = self.query_one(".value", Input).value if self.is_mounted else self._typed
        return f"{kind_of(parse_value(typed, ValueKind.AUTO))}?" if typed else "auto"


class SlotsTable(VerticalGroup):
    """Open above the composer. There is always one empty row; a row without a name is none."""

    @dataclass
    class Edited(Message):
        """Rows or shapes changed."""

    @dataclass
    class ShapeToggled(Message):
        shape: SlotShape

    def __init__(self) -> None:
        super().__init__(id="slots")
        self.border_title = "Slots of the next turn"
        self._known: Mapping[str, Json] = {}

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="slot-rows", can_focus=False):
            yield SlotLine(self._known)
        with HorizontalGroup(id="shapes"):
            yield Static("as ", markup=False)
            for shape, name in _SHAPE_NAMES.items():
                yield Button(name, id=f"shape-{shape.value}", classes="shape", compact=True)
        yield Static("", id="preview", markup=False)

    def know(self, slots: Mapping[str, Json]) -> None:
        """Offer the names and present values of `slots` in rows made from now on."""
        self._known = slots

    async def set_slots(self, slots: Mapping[str, Json]) -> None:
        """Replace all rows."""
        rows = self.query_one("#slot-rows")
        await rows.remove_children()
        lines = [SlotLine(self._known, name, _typed(value)) for name, value in slots.items()]
        await rows.mount(*lines, SlotLine(self._known))
        self.post_message(self.Edited())

    def slots(self) -> dict[str, Json]:
        """Return what the rows hold; rows whose value is not of its type are left out."""
        found: dict[str, Json] = {}
        for line in self.query(SlotLine):
            if line.is_filled and not line.has_class("-bad"):
                found[line.slot_name] = line.slot_value()
        return found

    def show_preview(self, shapes: tuple[SlotShape, ...], preview: Content) -> None:
        for shape, name in _SHAPE_NAMES.items():
            chosen = shape in shapes
            button = self.query_one(f"#shape-{shape.value}", Button)
            button.label = Content(f"[{'x' if chosen else ' '}] {name}")
            button.set_class(chosen, "-chosen")
        self.query_one("#preview", Static).update(preview)

    def focus_first(self) -> None:
        empty = [line for line in self.query(SlotLine) if not line.slot_name]
        (empty or list(self.query(SlotLine)))[0].query_one(".name", Input).focus()

    @on(SlotLine.Edited)
    async def take_edit(self, event: SlotLine.Edited) -> None:
        event.stop()
        event.line.set_class(not _is_good(event.line), "-bad")
        if all(line.slot_name for line in self.query(SlotLine)):
            await self.query_one("#slot-rows").mount(SlotLine(self._known))
        self.post_message(self.Edited())

    @on(Button.Pressed, ".shape")
    def take_shape(self, event: Button.Pressed) -> None:
        event.stop()
        shape = (event.button.id or "").removeprefix("shape-")
        self.post_message(self.ShapeToggled(SlotShape(shape)))

    @on(Input.Submitted)
    def next_field(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input.has_class("name"):
            self.screen.focus_next(".value")
        else:
            self.screen.focus_next(".name")


def _is_good(line: SlotLine) -> bool:
    try:
        line.slot_value()
    except BadValue:
        return False
    return True


def _typed(value: Json) -> str:
    """Return what to type for `value`: text that would be taken for another type is quoted."""
    text = value_text(value)
    if isinstance(value, str) and parse_value(text, ValueKind.AUTO) != value:
        return f'"{text}"'
    return text
