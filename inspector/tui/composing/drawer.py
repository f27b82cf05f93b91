"""The drawer above the prompt: everything of a turn but its text, one page at a time."""

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalGroup, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from inspector.core.commands import Turn
from inspector.tui.composing.options_form import OptionsForm
from inspector.tui.composing.pairs_table import PairsTable
from inspector.tui.composing.parts_table import PartsTable
from inspector.tui.composing.preview import preview
from inspector.tui.composing.slots_table import SlotsTable
from inspector.tui.composing.turn_options import TurnOptions
from inspector.tui.drawing import styles

# Each page by its id, with its tab's word and the name of the key that opens it.
PAGES = {
    "slots": ("Slots", "slots"),
    "metadata": ("Metadata", "metadata"),
    "parts": ("Parts", "attach"),
    "headers": ("Headers", "headers"),
    "turn-options": ("Options", "options"),
}


class DrawerTabs(Widget):
    """The pages' names with how much each holds; a click opens one."""

    page: reactive[str] = reactive("slots")
    counts: reactive[tuple[int, ...]] = reactive((0,) * len(PAGES))

    def render(self) -> Content:
        bar = Content("")
        for (page, (title, action)), count in zip(PAGES.items(), self.counts, strict=True):
            style = f"{styles.KEY} bold reverse" if page == self.page else styles.DIM
            tab = Content.styled(f" {title}{f' {count}' if count else ''} ", style)
            bar += tab.stylize(Style.from_meta({"@click": f"screen.do('{action}')"})) + " "
        note = Content.styled("^PgDn next page  Esc back", styles.DIM)
        gap = self.content_size.width - bar.cell_length - note.cell_length
        return bar + " " * gap + note if gap > 0 else bar


class Drawer(VerticalGroup):
    """Closed unless it has the class -open. `page` is the one shown, or shown when last open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+pagedown", "turn_page(1)", show=False),
        Binding("ctrl+pageup", "turn_page(-1)", show=False),
        Binding("down", "step(0, 1)", show=False),
        Binding("up", "step(0, -1)", show=False),
        Binding("right", "step(1, 0)", show=False),
        Binding("left", "step(-1, 0)", show=False),
    ]

    @dataclass
    class Turned(Message):
        """Another page was asked for."""

        page: str

    def __init__(self) -> None:
        super().__init__(id="drawer")
        self.page = "slots"

    def compose(self) -> ComposeResult:
        yield DrawerTabs()
        yield SlotsTable()
        yield PairsTable("metadata key", id="metadata")
        yield PartsTable()
        yield PairsTable("header", id="headers", is_text=True)
        yield OptionsForm()
        with VerticalScroll(id="preview-rows", can_focus=False):
            yield Static("", id="preview", markup=False)

    def on_mount(self) -> None:
        self.query_one(DrawerTabs).auto_links = False

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    @property
    def slots(self) -> SlotsTable:
        return self.query_one(SlotsTable)

    @property
    def metadata(self) -> PairsTable:
        return self.query_one("#metadata", PairsTable)

    @property
    def headers(self) -> PairsTable:
        return self.query_one("#headers", PairsTable)

    @property
    def parts(self) -> PartsTable:
        return self.query_one(PartsTable)

    def open(self, page: str) -> None:
        """Show `page` and focus its first field."""
        self.page = page
        self.add_class("-open")
        for one in self.query(".page"):
            one.set_class(one.id == page, "-shown")
        self.query_one(DrawerTabs).page = page
        self.call_after_refresh(self._focus_first)

    def close(self) -> None:
        self.remove_class("-open")

    def show(self, turn: Turn, options: TurnOptions) -> None:
        """Show what `turn` holds on each page and what goes out of it."""
        self.slots.show_shapes(options.shapes)
        self.query_one(OptionsForm).show(options)
        counts = (len(turn.slots), len(turn.metadata), len(turn.parts), len(turn.headers), 0)
        self.query_one(DrawerTabs).counts = counts
        self.query_one("#preview", Static).update(preview(turn))

    def action_turn_page(self, by: int) -> None:
        pages = list(PAGES)
        self.post_message(self.Turned(pages[(pages.index(self.page) + by) % len(pages)]))

    def action_step(self, across: int, down: int) -> None:
        """Focus the nearest field in that direction; in a field, left and right are its own."""
        focused = self.screen.focused
        if focused is None:
            return
        found: list[tuple[int, int, Widget]] = []
        for field in self.query_one(f"#{self.page}").query("Input, Button"):
            to = field.region.offset - focused.region.offset
            if to.y * down > 0 or (to.y == 0 and to.x * across > 0):
                found.append((abs(to.y), abs(to.x), field))
        if found:
            min(found, key=lambda one: one[:2])[2].focus()

    def _focus_first(self) -> None:
        page = self.query_one(f"#{self.page}")
        if isinstance(page, PairsTable | PartsTable | OptionsForm):
            page.focus_first()
