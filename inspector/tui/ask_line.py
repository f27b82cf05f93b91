"""Input lines at the foot of a screen: for a text, a filter, a path to save to."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import Reactive, reactive
from textual.widget import Widget
from textual.widgets import Input, Static

from inspector.folders import typed_path
from inspector.tui.drawing import styles
from inspector.tui.messages import Notice


class LineInput(Input):
    """One line to type in, whose cursor does not blink."""

    cursor_blink: Reactive[bool] = reactive(False, init=False)


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
        yield LineInput(compact=True, select_on_focus=False)

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
    def report_typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(event.value))

    @on(Input.Submitted)
    def report_taken(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Taken(event.value.strip()))


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
        yield LineInput(placeholder=HINT, id="filter-text", compact=True)
        yield Static("", id="filter-note", markup=False)

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

    def show(self, text: str, count: str, problem: str) -> None:
        """Show the filter in force with its `count` or `problem`; without a filter, nothing.

        While the user types, the line is theirs: the filter in force may lag behind it.
        """
        field = self.query_one(Input)
        self.display = bool(text) or field.has_focus
        if field.value != text and not field.has_focus:
            with self.prevent(Input.Changed):
                field.value = text
        style = styles.BAD if problem else styles.WARN
        note, text = self.query_one("#filter-note", Static), problem or count
        if str(note.content) != text:
            # lays the whole screen out again
            note.update(Content.styled(text, style))

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


class SaveLine(AskLine):
    """Enter saves, Esc does not. An existing file is never overwritten."""

    def __init__(self) -> None:
        super().__init__(id="save")
        self._read: Callable[[], bytes] = bytes

    def ask_path(self, name: str, read: Callable[[], bytes]) -> None:
        """Ask for a path, `name` proposed; `read` gives the content once there is one."""
        self._read = read
        self.ask("save as", name)
        self.query_one(Input).select_all()

    @on(AskLine.Taken)
    async def save(self, event: AskLine.Taken) -> None:
        self.close()
        self.post_message(Notice(await asyncio.to_thread(_save, event.text, self._read)))


def _save(written: str, read: Callable[[], bytes]) -> str:
    """Write what `read` gives; returns what came of it."""
    if not written:
        return "not saved: no path"
    path = typed_path(written)
    try:
        content = read()
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        return f"not saved: {path} exists already"
    except (OSError, ValueError) as error:
        return f"not saved: {error}"
    return f"saved {path}, {len(content)} bytes"
