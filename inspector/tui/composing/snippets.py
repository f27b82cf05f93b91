"""Turns and slot sets kept for this target: one field filters them, and names a new one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalGroup
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from inspector.core.commands import Turn
from inspector.core.saved.targets import (
    Targets,
    change_targets,
    decode_turn,
    encode_turn,
    read_targets,
)
from inspector.errors import UsageError
from inspector.tui.ask_line import LineInput
from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import safe_line, value_text
from inspector.tui.key_line import QUIT_ANYWHERE
from inspector.wire.json_values import Json

Slots = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Snippet:
    """A turn, or a set of slots alone, under its name. `is_new`: it would be kept so."""

    name: str
    turn: Turn | None = None
    slots: Slots | None = None
    is_new: bool = False

    @property
    def key(self) -> tuple[str, bool]:
        return self.name, self.turn is None

    @property
    def summary(self) -> str:
        if self.turn is None:
            return _pairs(self.slots or {})
        if self.turn.raw is not None:
            return f"raw {safe_line(self.turn.raw.decode(errors='replace'))}"
        carried = [
            safe_line(self.turn.text),
            _pairs(self.turn.slots),
            f"metadata {len(self.turn.metadata)}" if self.turn.metadata else "",
            f"parts {len(self.turn.parts)}" if self.turn.parts else "",
        ]
        return "  ·  ".join(word for word in carried if word)


def snippets_for(targets: Targets, target: str) -> list[Snippet]:
    """Return what is kept for `target`, turns first, each in the order of their names."""
    turns = sorted(targets.snippets(target).items())
    sets = sorted(targets.slot_sets(target).items())
    found = [Snippet(name, turn=decode_turn(turn)) for name, turn in turns]
    return found + [Snippet(name, slots=slots) for name, slots in sets]


def matching(kept: list[Snippet], typed: str, written: Turn) -> list[Snippet]:
    """Return those with each word of `typed` in name or summary, then what `typed` could name."""
    words = typed.lower().split()
    found = [
        one for one in kept if all(word in f"{one.name} {one.summary}".lower() for word in words)
    ]
    name = typed.strip()
    if not name:
        return found
    new = [Snippet(name, turn=written, is_new=True)] if is_written(written) else []
    if written.slots:
        new.append(Snippet(name, slots=written.slots, is_new=True))
    return found + new


def is_written(turn: Turn) -> bool:
    return bool(turn.text or turn.slots or turn.parts or turn.raw)


def keep(targets: Targets, target: str, one: Snippet) -> Targets:
    """Return `targets` with `one` kept for `target`."""
    if one.turn is None:
        return targets.with_slot_set(target, one.name, one.slots or {})
    return targets.with_snippet(target, one.name, encode_turn(one.turn))


def forget(targets: Targets, target: str, one: Snippet) -> Targets:
    if one.turn is None:
        return targets.with_slot_set(target, one.name, None)
    return targets.with_snippet(target, one.name, None)


def _pairs(slots: Slots) -> str:
    return "  ".join(f"{safe_line(name)}={value_text(value)}" for name, value in slots.items())


_NAME_WIDTH = 20
_NOTHING = "Nothing kept yet: write a turn, then a name for it here."


class SnippetsScreen(ModalScreen[Snippet | None]):
    """Dismisses with what was chosen, or kept. The file is read again before each change."""

    CSS_PATH = "snippets.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f12", "dismiss(None)", "Back", show=False),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("ctrl+d", "forget", show=False, priority=True),
    ]

    def __init__(self, path: Path, target: str, written: Turn) -> None:
        super().__init__()
        self._path = path
        self._target = target
        self._written = written
        self._targets = Targets()
        self._shown: list[Snippet] = []
        self._problem = ""

    def compose(self) -> ComposeResult:
        with VerticalGroup(id="snippets") as group:
            group.border_title = "Snippets and slot sets"
            group.border_subtitle = (
                f"Enter takes or keeps   ^D forgets   Esc back   {QUIT_ANYWHERE} quits"
            )
            yield LineInput(placeholder="filter, or a name for what is written", compact=True)
            yield OptionList(compact=True, markup=False)
            yield Static("", id="snippets-note", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        try:
            self._targets = read_targets(self._path)
        except UsageError as error:
            self._problem = str(error)
        self._fill()

    def action_move(self, by: int) -> None:
        options = self.query_one(OptionList)
        if by < 0:
            options.action_cursor_up()
        else:
            options.action_cursor_down()

    def action_forget(self) -> None:
        one = self._chosen()
        if one is None or one.is_new:
            return
        self._change(lambda targets: forget(targets, self._target, one))
        self._fill()

    @on(Input.Changed)
    def take_filter(self, event: Input.Changed) -> None:
        event.stop()
        self._fill()

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def choose(self, event: Input.Submitted | OptionList.OptionSelected) -> None:
        event.stop()
        one = self._chosen()
        if one is None:
            return
        if not one.is_new or self._change(lambda targets: keep(targets, self._target, one)):
            self.dismiss(one)

    def _chosen(self) -> Snippet | None:
        at = self.query_one(OptionList).highlighted
        return None if at is None else self._shown[at]

    def _change(self, change: Callable[[Targets], Targets]) -> bool:
        """Change the file, and say whether that went well."""
        try:
            self._targets = change_targets(self._path, change)
        except UsageError as error:
            self._tell(str(error))
            return False
        return True

    def _fill(self) -> None:
        options = self.query_one(OptionList)
        typed = self.query_one(Input).value
        self._shown = matching(snippets_for(self._targets, self._target), typed, self._written)
        options.clear_options()
        options.add_options([Option(_line(one)) for one in self._shown])
        options.highlighted = 0 if self._shown else None
        empty = "nothing matches" if typed else _NOTHING
        self._tell(self._problem or ("" if self._shown else empty))

    def _tell(self, text: str) -> None:
        self.query_one("#snippets-note", Static).update(Content.styled(text, styles.DIM))


def _line(one: Snippet) -> Content:
    what = "turn" if one.turn is not None else "slots"
    if one.is_new:
        return Content.assemble(
            ("+ ", styles.GOOD), f"keep the {what} as ", (safe_line(one.name), "bold")
        )
    name = safe_line(one.name).ljust(_NAME_WIDTH)
    return Content.assemble("  ", (name, "bold"), (what.ljust(7), styles.DIM), one.summary)
