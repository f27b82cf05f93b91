"""All keys on one page, made from the same table as the bindings."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.tui import ink
from inspector.tui.keys import KEYS, shown

_KEY_WIDTH = 12
_MOVING = (
    ("↑ ↓  k j", "Move; the same place is marked in every panel"),
    ("Home End", "To the first, to the newest; there the view follows"),
    ("Space", "Open or close a task or a branch of data"),
    ("Tab", "To the next panel"),
    ("Esc", "One step back; in the composer to the panels"),
)
_WRITING = (
    ("Enter", "Send; the number of a button sends the button"),
    ("Ctrl+J", "Begin a new line"),
    ("↑ ↓", "What was sent before"),
)


class HelpScreen(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1,enter", "dismiss", "Close", show=False),
    ]

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as scroll:
            scroll.border_title = "Keys"
            scroll.border_subtitle = "Esc closes"
            yield Static(help_text(), markup=False)


def help_text() -> Content:
    lines = [_title("Everywhere", "outside · inside the composer")]
    lines += [
        _row(_names(key.letters), key.help, _names(key.controls))
        for key in KEYS
        if key.letters or key.controls
    ]
    lines += [Content(""), _title("Panels", "")] + [_row(name, text) for name, text in _MOVING]
    lines += [_row("p", "In the wire view: pretty or raw")]
    lines += [Content(""), _title("Composer", "")] + [_row(name, text) for name, text in _WRITING]
    return Content("\n").join(lines)


def _title(text: str, note: str) -> Content:
    return Content.assemble((text, "bold"), ("   " + note, ink.DIM))


def _row(name: str, text: str, control: str = "") -> Content:
    keys = Content.assemble((name.ljust(_KEY_WIDTH - 6), ink.KEY), (control.ljust(6), ink.KEY))
    return keys + Content(text)


def _names(keys: str) -> str:
    return shown(keys) if keys else ""
