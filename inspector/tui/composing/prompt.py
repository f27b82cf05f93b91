"""The field for a turn's text."""

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea


class Prompt(TextArea):
    """Enter sends, Ctrl+J begins a new line; Up in the first line recalls what was sent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,shift+enter", "newline", "New line", show=False),
    ]

    @dataclass
    class Sent(Message):
        pass

    @dataclass
    class Recalled(Message):
        """`by` is -1 for the turn before, 1 for the one after."""

        by: int

    def __init__(self) -> None:
        super().__init__(
            id="prompt",
            compact=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            placeholder="Write to the agent",
        )

    def write(self, text: str) -> None:
        """Put `text` in place of what is written; undo brings that back."""
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def action_newline(self) -> None:
        self.insert("\n")

    def on_key(self, event: events.Key) -> None:
        row, _ = self.cursor_location
        is_last = row == self.document.line_count - 1
        message = {
            "enter": self.Sent(),
            "up": self.Recalled(-1) if row == 0 else None,
            "down": self.Recalled(1) if is_last else None,
        }.get(event.key)
        if message is not None:
            event.stop()
            event.prevent_default()
            self.post_message(message)
