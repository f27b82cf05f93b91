"""All keys on one page, made from the same table as the bindings."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import safe_line
from inspector.tui.keymap import Keymap
from inspector.tui.keys import GROUPS, group_of, shown

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

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as scroll:
            scroll.border_title = "Keys"
            scroll.border_subtitle = "Esc closes"
            yield Static(help_text(self._keymap), markup=False)


def help_text(keymap: Keymap) -> Content:
    """Return all keys by group, after what is wrong in the user's own."""
    lines = [Content.styled(safe_line(problem), styles.WARN) for problem in keymap.problems]
    lines += [Content("")] if lines else []
    lines += [
        Content.styled("outside · inside the composer; all of them in the palette", styles.DIM)
    ]
    for group in dict.fromkeys(GROUPS.values()):
        keys = [key for key in keymap.keys if group_of(key) == group]
        rows = [
            _row(_names(key.letters), key.help, _names(key.controls))
            for key in keys
            if key.letters or key.controls
        ]
        lines += [_title(group), *rows, Content("")]
    lines += [_title("In a panel"), *(_row(name, text) for name, text in _MOVING)]
    lines += [_row("p", "In the wire view: pretty or raw")]
    lines += [Content(""), _title("In the composer"), *(_row(*row) for row in _WRITING)]
    return Content("\n").join(lines)


def _title(text: str) -> Content:
    return Content.styled(text, "bold")


def _row(name: str, text: str, control: str = "") -> Content:
    keys = Content.assemble(
        (name.ljust(_KEY_WIDTH - 6), styles.KEY), (control.ljust(6), styles.KEY)
    )
    return keys + Content(text)


def _names(keys: str) -> str:
    return shown(keys) if keys else ""
