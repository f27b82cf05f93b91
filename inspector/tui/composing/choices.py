"""A row of words of which some are chosen, told by a cross and not by colour alone."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import HorizontalGroup
from textual.content import Content
from textual.message import Message
from textual.widgets import Button, Static


class Choices(HorizontalGroup):
    """`names` are the words by their value. Who holds the choice answers Toggled with `show`."""

    @dataclass
    class Toggled(Message):
        choices: "Choices"
        value: str

        @property
        def control(self) -> "Choices":
            return self.choices

    def __init__(self, label: str, names: Mapping[str, str], *, id: str) -> None:
        super().__init__(id=id)
        self._label = label
        self._names = names

    def compose(self) -> ComposeResult:
        yield Static(self._label, classes="label", markup=False)
        for value, name in self._names.items():
            button = Button(Content(f"[ ] {name}"), name=value, classes="choice", compact=True)
            # the cross tells that it was pressed
            button.active_effect_duration = 0
            yield button

    def show(self, chosen: Collection[str]) -> None:
        for button in self.query(Button):
            value = button.name or ""
            is_chosen = value in chosen
            button.label = Content(f"[{'x' if is_chosen else ' '}] {self._names[value]}")
            button.set_class(is_chosen, "-chosen")

    @on(Button.Pressed)
    def tell(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.Toggled(self, event.button.name or ""))
