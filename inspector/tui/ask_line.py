"""The line at the foot of a screen that asks for something."""

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static


class AskLine(Horizontal):
    """Shown from `ask` until `close` or Esc; the focus then goes back to where it was."""

    DEFAULT_CSS = """
    AskLine {
        height: 1;
        display: none;
        Static { width: auto; padding: 0 1; color: $primary; text-style: bold; }
        Input { width: 1fr; background: $panel; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "drop", "Back", show=False)]

    @dataclass
    class Typed(Message):
        """What stands in the line while it is typed."""

        text: str

    @dataclass
    class Taken(Message):
        """Enter was pressed; the line stays until it is closed."""

        text: str

    class Dropped(Message):
        """Esc was pressed; the line is closed."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._focus_before: Widget | None = None

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)
        yield Input(compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        self.query_one(Input).cursor_blink = False

    @property
    def text(self) -> str:
        return self.query_one(Input).value

    def ask(self, what: str, text: str = "", hint: str = "") -> None:
        """Ask for `what`, with `text` written already; `hint` stands where nothing is."""
        self._focus_before = self.screen.focused
        self.query_one(Static).update(what)
        field = self.query_one(Input)
        with self.prevent(Input.Changed):
            field.value, field.placeholder = text, hint
        field.cursor_position = len(text)
        self.display = True
        field.focus()

    def close(self) -> None:
        self.display = False
        self.screen.set_focus(self._focus_before)

    def action_drop(self) -> None:
        self.close()
        self.post_message(self.Dropped())

    @on(Input.Changed)
    def tell_typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(event.value))

    @on(Input.Submitted)
    def tell_taken(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Taken(event.value.strip()))
