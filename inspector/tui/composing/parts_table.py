"""Files and other parts of the next turn: attached by path or as JSON, shown with their size."""

import os
from dataclasses import dataclass
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import HorizontalGroup, VerticalGroup, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Button, Input, Static

from inspector.core.requests import read_part
from inspector.errors import UsageError
from inspector.folders import typed_path
from inspector.tui.ask_line import LineInput
from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import part_name
from inspector.wire.dialect import Part

# A file that is larger blocks the screen while it is encoded; `send --part` takes it.
MOST_BYTES = 32 * 1024 * 1024
_MOST_NAMES = 2000


class PartLine(HorizontalGroup):
    """One part and the button that takes it off again."""

    def __init__(self, part: Part) -> None:
        super().__init__()
        self.part = part

    def compose(self) -> ComposeResult:
        kind, name, size = part_name(self.part)
        label = Content.assemble((kind.ljust(6), styles.DIM), name, ("  " + size, styles.DIM))
        yield Static(label, classes="part", markup=False)
        yield Button("remove", compact=True)


class PartsTable(VerticalGroup):
    @dataclass
    class Edited(Message):
        """A part was added or removed."""

    def __init__(self) -> None:
        super().__init__(id="parts", classes="page")

    def compose(self) -> ComposeResult:
        yield VerticalScroll(classes="rows", can_focus=False)
        yield LineInput(
            placeholder="path of a file, or a part as JSON; Enter attaches it",
            id="attach",
            compact=True,
            suggester=PathSuggester(),
        )
        yield Static("", id="attach-problem", markup=False)

    def parts(self) -> tuple[Part, ...]:
        return tuple(line.part for line in self.query(PartLine))

    async def set_parts(self, parts: tuple[Part, ...]) -> None:
        rows = self.query_one(".rows")
        await rows.remove_children()
        await rows.mount(*(PartLine(part) for part in parts))
        self.post_message(self.Edited())

    def focus_first(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    async def attach(self, event: Input.Submitted) -> None:
        event.stop()
        try:
            part = _read(event.value)
        except UsageError as error:
            self._tell(str(error))
            return
        self.query_one(Input).clear()
        await self.query_one(".rows").mount(PartLine(part))
        self.post_message(self.Edited())

    @on(Input.Changed)
    def forget_problem(self, event: Input.Changed) -> None:
        event.stop()
        self._tell("")

    @on(Button.Pressed)
    async def take_off(self, event: Button.Pressed) -> None:
        event.stop()
        line = event.button.parent
        if isinstance(line, PartLine):
            await line.remove()
            self.focus_first()
            self.post_message(self.Edited())

    def _tell(self, problem: str) -> None:
        self.query_one("#attach-problem", Static).update(Content.styled(problem, styles.BAD))


class PathSuggester(Suggester):
    """Completes the name of a file or folder after the last slash."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        return complete_path(value)


def complete_path(typed: str) -> str | None:
    """Return `typed` with the first name that goes on from it; None where there is none."""
    if not typed or typed.lstrip().startswith("{"):
        return None
    typed_folder, _, beginning = typed.rpartition("/")
    folder = typed_path(typed_folder + "/" if "/" in typed else ".")
    found = sorted(name for name in _names_in(folder) if name.startswith(beginning))
    shown = [name for name in found if beginning or not name.startswith(".")]
    return typed + shown[0].removeprefix(beginning) if shown else None


def _names_in(folder: Path) -> list[str]:
    """Return the names in `folder`, folders with a slash; none where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            some = [entry for entry, _ in zip(entries, range(_MOST_NAMES), strict=False)]
            return [f"{entry.name}/" if entry.is_dir() else entry.name for entry in some]
    except OSError:
        return []


def _read(source: str) -> Part:
    path = typed_path(source)
    is_json = source.lstrip().startswith("{")
    if not is_json and os.path.isfile(path) and path.stat().st_size > MOST_BYTES:
        raise UsageError(f"{path}: larger than {MOST_BYTES >> 20} MiB; send --part takes it")
    return read_part(source)
