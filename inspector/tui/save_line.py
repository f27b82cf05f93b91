"""The line that asks where something shall be saved."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static


class SaveLine(Horizontal):
    """Enter saves, Esc does not. A file that is there is never written over."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Back", show=False)]

    class Left(Message):
        """The user goes back to the panel; `told` says what was saved, or why nothing was."""

        def __init__(self, told: str) -> None:
            super().__init__()
            self.told = told

    def __init__(self) -> None:
        super().__init__(id="save")
        self._read: Callable[[], bytes] = bytes

    def compose(self) -> ComposeResult:
        yield Static("save as", id="save-sign", markup=False)
        yield Input(id="save-path", compact=True)

    def on_mount(self) -> None:
        self.query_one(Input).cursor_blink = False

    def ask(self, name: str, read: Callable[[], bytes]) -> None:
        """Ask for a path, `name` proposed; `read` gives the content once there is one."""
        self._read = read
        self.display = True
        field = self.query_one(Input)
        field.value = name
        self.screen.set_focus(field)

    def action_close(self) -> None:
        self._leave("")

    @on(Input.Submitted)
    async def save(self, event: Input.Submitted) -> None:
        event.stop()
        self._leave(await asyncio.to_thread(_write, event.value.strip(), self._read))

    def _leave(self, told: str) -> None:
        self.display = False
        self.post_message(self.Left(told))


def _write(written: str, read: Callable[[], bytes]) -> str:
    """Write what `read` gives; returns what to tell."""
    if not written:
        return "not saved: no path"
    path = Path(written).expanduser()
    try:
        content = read()
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        return f"not saved: {path} is there already"
    except (OSError, ValueError) as error:
        return f"not saved: {error}"
    return f"saved {path}, {len(content)} bytes"
