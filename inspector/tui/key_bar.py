"""The footer: the keys that act where the focus is, each a button for the mouse too."""

from collections.abc import Sequence

from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from inspector.tui.drawing import ink
from inspector.tui.keys import KEYS, Key, action_of, shown


class KeyBar(Widget):
    """One line; a notice at its right end stays until the next key."""

    is_writing: reactive[bool] = reactive(True)
    notice: reactive[str] = reactive("")
    found: reactive[int] = reactive(0)
    is_filtering: reactive[bool] = reactive(False)

    def __init__(self, keys: Sequence[Key] = KEYS) -> None:
        super().__init__()
        self.keys = keys
        self.auto_links = False

    def render(self) -> Content:
        width = self.content_size.width
        notice = Content.styled(f" {self.notice} ", "reverse") if self.notice else Content("")
        right = self._found() + notice
        room = max(0, width - right.cell_length)
        return self._keys(room).truncate(room, pad=True) + right

    def _found(self) -> Content:
        """Return how many places have something wrong, and the key that goes to the next."""
        if not self.found:
            return Content("")
        key = next(key for key in self.keys if key.name == "next_trouble")
        badge = Content.assemble(
            (f" {shown(key.letters)}", f"{ink.KEY} bold"), (f" {self.found} wrong ", ink.BAD)
        )
        return badge.stylize(Style.from_meta({"@click": action_of(key.name)}))

    def _keys(self, room: int) -> Content:
        """Return as many keys as have room, in the order of the table."""
        if self.is_filtering:
            return Content.assemble(
                *((" Enter ", f"{ink.KEY} bold"), ("keep the filter  ", ink.DIM)),
                *((" Esc ", f"{ink.KEY} bold"), ("drop it", ink.DIM)),
            )
        entries = [("i", "write", action_of("write"))]
        if self.is_writing:
            entries = [("Enter", "send", action_of("send")), ("Esc", "panels", "screen.back")]
        entries += [
            (
                shown(key.controls if self.is_writing else key.letters),
                key.label,
                action_of(key.name),
            )
            for key in self.keys
            if key.label and (key.controls if self.is_writing else key.letters)
        ]
        bar = Content("")
        for name, label, action in entries:
            entry = Content.assemble(" ", (name, f"{ink.KEY} bold"), " ", (label, ink.DIM), " ")
            if bar.cell_length + entry.cell_length > room:
                break
            bar += entry.stylize(Style.from_meta({"@click": action}))
        return bar
