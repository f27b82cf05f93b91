"""Tables of names and values in the composer: slots, metadata, headers; a type for each value."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import HorizontalGroup, VerticalGroup, VerticalScroll
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input

from inspector.core.commands import SlotShape
from inspector.core.project import DomainSlot, has_domain, read_slot_domain
from inspector.tui.ask_line import LineInput
from inspector.tui.composing.options import Choices, Toggle
from inspector.tui.drawing.safe_text import value_text
from inspector.wire.json_values import Json, parse_json


class ValueKind(StrEnum):
    AUTO = "auto"
    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "bool"
    NULL = "null"
    JSON = "json"


class BadValue(ValueError):
    """The typed text is not a value of the chosen type."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What is known of a name before it is written: its value now, its type, its choices.

    `kind` AUTO means that the type is unknown.
    """

    now: str = ""
    kind: ValueKind = ValueKind.AUTO
    choices: tuple[str, ...] = ()

    @property
    def placeholder(self) -> str:
        if self.choices:
            return " | ".join(self.choices)
        return f"now {self.now}" if self.now else "value"


NO_HINT = Hint()


def parse_value(typed: str, kind: ValueKind) -> Json:
    """Return the value of `typed`; AUTO takes JSON for what it is and everything else as text.

    Raises:
        BadValue: `typed` is not of `kind`.
    """
    match kind:
        case ValueKind.TEXT:
            return typed
        case ValueKind.NULL:
            return None
        case ValueKind.AUTO:
            return _guess(typed)
        case ValueKind.NUMBER | ValueKind.BOOLEAN | ValueKind.JSON:
            value = _guess(typed)
            if kind is not ValueKind.JSON and kind_of(value) is not kind:
                raise BadValue(f"{typed!r} is not a {kind}")
            if kind is ValueKind.JSON and value == typed:
                raise BadValue(f"{typed!r} is not JSON")
            return value


def hinted_value(typed: str, hint: Hint) -> tuple[Json, bool]:
    """Return the value of `typed` for the type in `hint`, and whether it fits.

    What does not fit is still a value: how the agent takes a wrong one is worth seeing.
    """
    guessed = _guess(typed)
    if guessed is None:
        return None, True
    try:
        value = parse_value(typed, hint.kind)
    except BadValue:
        return guessed, False
    return value, not hint.choices or value in hint.choices


def kind_of(value: Json) -> ValueKind:
    match value:
        case None:
            return ValueKind.NULL
        case bool():
            return ValueKind.BOOLEAN
        case int() | float():
            return ValueKind.NUMBER
        case str():
            return ValueKind.TEXT
        case list() | dict():
            return ValueKind.JSON


def typed_for(value: Json) -> str:
    """Return what to type for `value`: text that would be taken for another type is quoted."""
    text = value_text(value)
    if isinstance(value, str) and _guess(text) != value:
        return json.dumps(value, ensure_ascii=False)
    return text


def _guess(typed: str) -> Json:
    parsed = parse_json(typed.encode(errors="surrogatepass"))
    return typed if parsed.problem or parsed.warning else parsed.value


_KINDS = {
    "text": ValueKind.TEXT,
    "categorical": ValueKind.TEXT,
    "float": ValueKind.NUMBER,
    "bool": ValueKind.BOOLEAN,
    "list": ValueKind.JSON,
}


def hints(domain: Mapping[str, DomainSlot], reported: Mapping[str, Json]) -> Mapping[str, Hint]:
    """Return a hint for each slot: a declared type wins over that of the last value."""
    found = {name: Hint(value_text(value), _kind(value)) for name, value in reported.items()}
    for name, slot in domain.items():
        now = found[name].now if name in found else ""
        found[name] = Hint(now, _KINDS.get(slot.type, ValueKind.AUTO), slot.values)
    return found


def _kind(value: Json) -> ValueKind:
    return ValueKind.AUTO if value is None else kind_of(value)


def read_domain(project: Path | None, target: str) -> Mapping[str, DomainSlot]:
    """Return the slots of the project that was named, or that the target is itself.

    Raises:
        UsageError: its domain cannot be read.
    """
    if project is not None:
        return read_slot_domain(project)
    is_project = "://" not in target and has_domain(Path(target))
    return read_slot_domain(Path(target)) if is_project else {}


class PairLine(HorizontalGroup):
    """A row of text alone has no type. `noun` is what the empty name asks for."""

    @dataclass
    class Edited(Message):
        line: "PairLine"

    def __init__(
        self,
        noun: str,
        hints: Mapping[str, Hint],
        name: str = "",
        typed: str = "",
        *,
        is_text: bool = False,
    ) -> None:
        super().__init__()
        self._noun = noun
        self._hints = hints
        self._first = (name, typed)
        self.is_text = is_text
        self.kind = ValueKind.TEXT if is_text else ValueKind.AUTO

    def compose(self) -> ComposeResult:
        name, typed = self._first
        yield LineInput(name, placeholder=self._noun, classes="name", compact=True)
        yield LineInput(typed, placeholder="value", classes="value", compact=True)
        if not self.is_text:
            yield Toggle("auto", classes="kind")

    def on_mount(self) -> None:
        self.know(self._hints)

    def know(self, hints: Mapping[str, Hint]) -> None:
        """Offer the names of `hints`, and of the row's own its value and type."""
        self._hints = hints
        names = SuggestFromList(list(hints), case_sensitive=False) if hints else None
        self.query_one(".name", Input).suggester = names
        self._hint_value()
        self._show_kind()

    @property
    def pair_name(self) -> str:
        return self.query_one(".name", Input).value.strip()

    @property
    def typed(self) -> str:
        return self.query_one(".value", Input).value

    @property
    def is_filled(self) -> bool:
        """Say whether the row counts: an empty value does once its type says what it is."""
        return bool(self.pair_name) and (bool(self.typed) or self.kind is not ValueKind.AUTO)

    @property
    def is_good(self) -> bool:
        """Say whether the value is of the type that the button has set."""
        try:
            parse_value(self.typed, self.kind)
        except BadValue:
            return False
        return True

    def value(self) -> Json:
        """Return the value as typed.

        Raises:
            BadValue: it is not of the type that was set.
        """
        if self.kind is ValueKind.AUTO:
            return hinted_value(self.typed, self._hint)[0]
        return parse_value(self.typed, self.kind)

    @property
    def _hint(self) -> Hint:
        return self._hints.get(self.pair_name, NO_HINT)

    @on(Input.Changed)
    def report_edit(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.has_class("name"):
            self._hint_value()
        self._report()

    @on(Button.Pressed)
    def turn_kind(self, event: Button.Pressed) -> None:
        event.stop()
        kinds = list(ValueKind)
        self.kind = kinds[(kinds.index(self.kind) + 1) % len(kinds)]
        self._report()

    def _report(self) -> None:
        self._show_kind()
        self.set_class(not self.is_good, "-bad")
        self.post_message(self.Edited(self))

    def _hint_value(self) -> None:
        """Show in the empty field what the slot may be, or is at present."""
        field = self.query_one(".value", Input)
        field.placeholder = self._hint.placeholder
        field.suggester = SuggestFromList(self._hint.choices) if self._hint.choices else None

    def _show_kind(self) -> None:
        if self.is_text:
            return
        label, fits = self._kind_label()
        self.query_one(Button).label = label
        self.set_class(not fits, "-odd")

    def _kind_label(self) -> tuple[str, bool]:
        if self.kind is not ValueKind.AUTO:
            return self.kind.value, True
        hint = self._hint
        kind = "choice" if hint.choices else hint.kind.value
        if not self.typed:
            return kind, True
        value, fits = hinted_value(self.typed, hint)
        if not fits:
            return f"no {kind}!", False
        guess = f"{kind_of(value)}?"
        return (guess if hint.kind is ValueKind.AUTO else kind), True


class PairsTable(VerticalGroup):
    """There is always one empty row; a row without a name is none."""

    @dataclass
    class Edited(Message):
        """Rows changed."""

    def __init__(self, noun: str, *, id: str, is_text: bool = False) -> None:
        super().__init__(id=id, classes="page")
        self._noun = noun
        self._is_text = is_text
        self._hints: Mapping[str, Hint] = {}

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="rows", can_focus=False):
            yield self._line()

    def know(self, hints: Mapping[str, Hint]) -> None:
        """Offer `hints` in all rows."""
        self._hints = hints
        for line in self.query(PairLine):
            line.know(hints)

    async def set_pairs(self, pairs: Mapping[str, Json]) -> None:
        """Replace all rows by those that make `pairs`."""
        await self.set_texts([(name, typed_for(value)) for name, value in pairs.items()])

    async def set_texts(self, texts: Sequence[tuple[str, str]]) -> None:
        """Replace all rows by names and what is typed for them."""
        rows = self.query_one(".rows")
        await rows.remove_children()
        await rows.mount(*(self._line(name, typed) for name, typed in texts), self._line())
        self.post_message(self.Edited())

    def pairs(self) -> dict[str, Json]:
        """Return what the rows hold; rows whose value is not of its type are left out."""
        return {
            line.pair_name: line.value()
            for line in self.query(PairLine)
            if line.is_filled and line.is_good
        }

    def texts(self) -> tuple[tuple[str, str], ...]:
        """Return the rows as typed, in order; a name may stand there twice."""
        return tuple(
            (line.pair_name, line.typed) for line in self.query(PairLine) if line.is_filled
        )

    def focus_first(self) -> None:
        empty = [line for line in self.query(PairLine) if not line.pair_name]
        (empty or list(self.query(PairLine)))[0].query_one(".name", Input).focus()

    @on(PairLine.Edited)
    async def take_edit(self, event: PairLine.Edited) -> None:
        event.stop()
        if all(line.pair_name for line in self.query(PairLine)):
            await self.query_one(".rows").mount(self._line())
        self.post_message(self.Edited())

    @on(Input.Submitted)
    def next_field(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.focus_next(".value" if event.input.has_class("name") else ".name")

    def _line(self, name: str = "", typed: str = "") -> PairLine:
        return PairLine(self._noun, self._hints, name, typed, is_text=self._is_text)


_SHAPE_NAMES = {
    SlotShape.LINE.value: "line",
    SlotShape.FENCE.value: "fence",
    SlotShape.REQUEST.value: "request",
    SlotShape.METADATA.value: "metadata",
    SlotShape.DATA.value: "DataPart",
}


class SlotsTable(PairsTable):
    """Shapes stand in the order of their precedence, the strongest last."""

    @dataclass
    class ShapeToggled(Message):
        shape: SlotShape

    def __init__(self) -> None:
        super().__init__("slot", id="slots")

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield Choices("as", _SHAPE_NAMES, id="shapes")

    def show_shapes(self, shapes: Collection[SlotShape]) -> None:
        self.query_one(Choices).show(shapes)

    @on(Choices.Toggled)
    def take_shape(self, event: Choices.Toggled) -> None:
        event.stop()
        self.post_message(self.ShapeToggled(SlotShape(event.value)))
