"""The footer: the keys that act where the focus is, each a button for the mouse too."""

from collections.abc import Iterator, Sequence
from enum import Enum, auto

from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from inspector.tui.drawing import styles
from inspector.tui.keys import KEYS, Key, action_of, shown


class Area(Enum):
    """Where the focus is; Enter, Esc and letters do something else in each."""

    PANELS = auto()
    PROMPT = auto()
    RAW = auto()
    DRAWER = auto()
    FILTER = auto()
    SAVE = auto()


_OWN_KEYS = {
    Area.PANELS: (("i", "write", action_of("write")),),
    Area.PROMPT: (("Enter", "send", action_of("send")), ("Esc", "panels", "screen.back")),
    Area.RAW: (("Esc", "panels", "screen.back"),),
    Area.DRAWER: (("Esc", "back", "screen.back"),),
    Area.FILTER: (("Enter", "keep the filter", ""), ("Esc", "drop it", "")),
    Area.SAVE: (("Enter", "save", ""), ("Esc", "back", "")),
}


class KeyBar(Widget):
    """One line; a notice at its right end stays until the next key."""

    area: reactive[Area] = reactive(Area.PROMPT)
    notice: reactive[str] = reactive("")
    found: reactive[int] = reactive(0)

    def __init__(self, keys: Sequence[Key] = KEYS) -> None:
        super().__init__()
        self.keys = keys
        self.auto_links = False

    def render(self) -> Content:
        width = self.content_size.width
        found = self._found()
        notice = Content.styled(f" {self.notice} ", "reverse") if self.notice else Content("")
        right = found + notice.truncate(max(1, width - found.cell_length), ellipsis=True)
        room = max(0, width - right.cell_length)
        return self._keys(room).truncate(room, pad=True) + right

    def _found(self) -> Content:
        """Return how many places have something wrong, and the key that goes to the next."""
        if not self.found:
            return Content("")
        key = self._key("next_trouble")
        badge = Content.assemble(
            (f" {shown(key.letters)}", f"{styles.KEY} bold"), (f" {self.found} wrong ", styles.BAD)
        )
        return badge.stylize(Style.from_meta({"@click": action_of(key.name)}))

    def _keys(self, room: int) -> Content:
        """Return as many keys as have room, in the order of the table."""
        bar = Content("")
        for name, label, action in self._entries():
            entry = Content.assemble(
                " ", (name, f"{styles.KEY} bold"), " ", (label, styles.DIM), " "
            )
            if bar.cell_length + entry.cell_length > room:
                break
            bar += entry.stylize(Style.from_meta({"@click": action})) if action else entry
        return bar

    def _entries(self) -> Iterator[tuple[str, str, str]]:
        """Yield each key's name, its word and its action."""
        if self.area in (Area.RAW, Area.DRAWER):
            yield shown(self._key("send").controls), "send", action_of("send")
        yield from _OWN_KEYS[self.area]
        if self.area in (Area.FILTER, Area.SAVE):
            return
        for key in self.keys:
            acting = key.letters if self.area is Area.PANELS else key.controls
            if key.label and acting:
                yield shown(acting), key.label, action_of(key.name)

    def _key(self, name: str) -> Key:
        return next(key for key in self.keys if key.name == name)
