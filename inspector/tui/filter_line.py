"""The line in which a filter is typed, and what comes of it."""

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from inspector.tui.drawing import styles

HINT = "text  state:working  task:91c  context:7f3  status:err  lane:push  .result.status.state=x"


class FilterLine(Horizontal):
    """Live while it is typed. Enter keeps the filter and goes back to the panel, Esc drops it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "drop", "Drop the filter", show=False),
        Binding("down,tab", "keep", "Back to the panel", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="filter")

    @dataclass
    class Typed(Message):
        text: str

    @dataclass
    class Left(Message):
        """The user goes back to the panel."""

    def compose(self) -> ComposeResult:
        yield Static("/", id="filter-sign", markup=False)
        yield Input(placeholder=HINT, id="filter-text", compact=True)
        yield Static("", id="filter-told", markup=False)

    def on_mount(self) -> None:
        self.query_one(Input).cursor_blink = False

    @property
    def text(self) -> str:
        return self.query_one(Input).value

    def open(self, text: str) -> None:
        """Take what is typed from here on, beginning with `text`."""
        self.display = True
        field = self.query_one(Input)
        with self.prevent(Input.Changed):
            field.value = text
        self.screen.set_focus(field)

    def tell(self, text: str, told: str, problem: str) -> None:
        """Show the filter in force with `told`, or its `problem`; without a filter, nothing."""
        field = self.query_one(Input)
        self.display = bool(text) or field.has_focus
        if field.value != text:
            with self.prevent(Input.Changed):
                field.value = text
        style = styles.BAD if problem else styles.WARN
        self.query_one("#filter-told", Static).update(Content.styled(problem or told, style))

    def action_drop(self) -> None:
        self.query_one(Input).value = ""
        self.post_message(self.Left())

    def action_keep(self) -> None:
        self.post_message(self.Left())

    @on(Input.Changed)
    def take_change(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(event.value))

    @on(Input.Submitted)
    def take_enter(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()
