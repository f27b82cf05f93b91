"""One row of a table of names and values; its type is guessed until somebody sets it."""

from collections.abc import Mapping
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import HorizontalGroup
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input

from inspector.tui.composing.slot_values import (
    NO_HINT,
    BadValue,
    Hint,
    ValueKind,
    hinted_value,
    kind_of,
    parse_value,
)
from inspector.wire.json_values import Json


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
        yield Input(name, placeholder=self._noun, classes="name", compact=True)
        yield Input(typed, placeholder="value", classes="value", compact=True)
        if not self.is_text:
            kind = Button("auto", classes="kind", compact=True)
            # its word tells that it was pressed
            kind.active_effect_duration = 0
            yield kind

    def on_mount(self) -> None:
        for field in self.query(Input):
            field.cursor_blink = False
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
    def tell_edit(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.has_class("name"):
            self._hint_value()
        self._tell()

    @on(Button.Pressed)
    def turn_kind(self, event: Button.Pressed) -> None:
        event.stop()
        kinds = list(ValueKind)
        self.kind = kinds[(kinds.index(self.kind) + 1) % len(kinds)]
        self._tell()

    def _tell(self) -> None:
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
        told = "choice" if hint.choices else hint.kind.value
        if not self.typed:
            return told, True
        value, fits = hinted_value(self.typed, hint)
        if not fits:
            return f"no {told}!", False
        guess = f"{kind_of(value)}?"
        return (guess if hint.kind is ValueKind.AUTO else told), True
