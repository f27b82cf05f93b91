"""The panels, and how they share the screen: columns above one at the bottom, or tabs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from inspector.tui.drawing import styles

if TYPE_CHECKING:
    from inspector.wire.json_values import Json


@dataclass(frozen=True, slots=True)
class PanelEntry:
    """A panel by the id of its widget. Its number is its key; `help` says what that key does."""

    id: str
    number: int
    title: str
    help: str
    is_bottom: bool = False

    @property
    def heading(self) -> str:
        return f"{self.number} {self.title}"


PANELS = (
    PanelEntry("conversation", 1, "Conversation", "Go to the conversation"),
    PanelEntry("timeline", 2, "Timeline", "Go to the timeline"),
    PanelEntry("data", 3, "Data", "Go to the data and slots"),
    PanelEntry("wire", 4, "Wire", "Go to the wire view", is_bottom=True),
)
PANEL_BY_ID = {panel.id: panel for panel in PANELS}
COLUMNS = tuple(panel.id for panel in PANELS if not panel.is_bottom)
STEP = 10
LEAST, MOST = 10, 80
EVEN = 33
_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Layout:
    """`widths` are shares of the columns; `wire` the wire's share of the height, in percent."""

    widths: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(COLUMNS, EVEN))
    wire: int = 50
    hidden: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(name for name in COLUMNS if name not in self.hidden)

    def resized(self, panel: str, by: int) -> "Layout":
        """Return this layout with the column `panel` wider, or the wire higher, by `by` steps."""
        if panel not in self.widths:
            return self.with_wire(self.wire + by * STEP)
        width = _bounded(self.widths[panel] + by * STEP)
        return replace(self, widths={**self.widths, panel: width})

    def with_wire(self, share: int) -> "Layout":
        return replace(self, wire=_bounded(share))

    def with_widths(self, widths: Mapping[str, int]) -> "Layout":
        bounded = {name: _bounded(width) for name, width in widths.items()}
        return replace(self, widths={**self.widths, **bounded})

    def without(self, panel: str) -> "Layout":
        """Return this layout with `panel` hidden; the last one stays."""
        if panel not in self.shown or len(self.shown) == 1:
            return self
        return replace(self, hidden=(*self.hidden, panel))

    def with_shown(self, panel: str) -> "Layout":
        return replace(self, hidden=tuple(name for name in self.hidden if name != panel))


def parse_layout(written: "Json") -> Layout:
    """Return the layout that was written down; what makes no sense in it is left out."""
    if not isinstance(written, dict):
        return Layout()
    widths, hidden, wire = written.get("widths"), written.get("hidden"), written.get("wire")
    layout = Layout()
    if isinstance(widths, dict):
        layout = layout.with_widths(
            {name: share for name in COLUMNS if isinstance(share := widths.get(name), int)}
        )
    if isinstance(wire, int):
        layout = layout.with_wire(wire)
    for name in hidden if isinstance(hidden, list) else ():
        if isinstance(name, str):
            layout = layout.without(name)
    return layout


def _bounded(share: int) -> int:
    return min(max(share, LEAST), MOST)


@dataclass(frozen=True, slots=True)
class Drag:
    """What is moved: the border after `column`, or where that is None the one above the bottom."""

    column: str | None


@dataclass(frozen=True, slots=True)
class Regions:
    """Where the panels are that are on the screen."""

    columns: Mapping[str, Region]
    bottom: Region | None

    def drag_at(self, x: int, y: int) -> Drag | None:
        """Return what a mouse button pressed there moves."""
        if self.bottom is not None and y == self.bottom.y and self.bottom.contains(x, y):
            return Drag(None)
        for (name, region), (_, after) in pairwise(self.columns.items()):
            if x in (region.right - 1, after.x) and region.y <= y < region.bottom:
                return Drag(name)
        return None

    def dragged(self, layout: Layout, drag: Drag, x: int, y: int) -> Layout:
        """Return `layout` with the border at `x` or `y`."""
        area = Region.from_union(list(self.columns.values()))
        if drag.column is None:
            bottom = area.bottom if self.bottom is None else self.bottom.bottom
            return layout.with_wire(round(_PERCENT * (bottom - y) / (bottom - area.y)))
        names = list(self.columns)
        after = names[names.index(drag.column) + 1]
        cells = {name: region.width for name, region in self.columns.items()}
        cells[drag.column] = x - self.columns[drag.column].x
        cells[after] = self.columns[after].right - x
        return layout.with_widths({n: round(_PERCENT * c / area.width) for n, c in cells.items()})


class SplitLayout(Container):
    """Columns side by side above a panel at the bottom, with borders that a mouse can move."""

    @dataclass
    class Changed(Message):
        """The panels share the screen otherwise now."""

        layout: Layout

    def __init__(self, columns: Sequence[Widget], bottom: Widget, layout: Layout) -> None:
        super().__init__()
        for panel in (*columns, bottom):
            panel.add_class("panel")
        bottom.add_class("bottom")
        self._columns = {column.id or "": column for column in columns}
        self._bottom = bottom
        self.layout_shown = layout
        self._drag: Drag | None = None

    def compose(self) -> ComposeResult:
        with Container(id="columns"):
            yield from self._columns.values()
        yield self._bottom

    def on_mount(self) -> None:
        self._apply(self.layout_shown)

    def lay_out(self, layout: Layout) -> None:
        """Share the screen as `layout` says, and have it remembered."""
        self._apply(layout)
        self.post_message(self.Changed(layout))

    def _apply(self, layout: Layout) -> None:
        self.layout_shown = layout
        for name, column in self._columns.items():
            column.styles.width = f"{layout.widths[name]}fr"
            column.set_class(name in layout.hidden, "-hidden")
        self.query_one("#columns").styles.height = f"{_PERCENT - layout.wire}fr"
        self._bottom.styles.height = f"{layout.wire}fr"

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._drag = self._regions().drag_at(int(event.screen_x), int(event.screen_y))
        if self._drag is not None:
            event.stop()
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._drag is not None:
            x, y = int(event.screen_x), int(event.screen_y)
            self._apply(self._regions().dragged(self.layout_shown, self._drag, x, y))

    def on_mouse_up(self) -> None:
        if self._drag is not None:
            self._drag = None
            self.release_mouse()
            self.lay_out(self.layout_shown)

    def _regions(self) -> Regions:
        """Return where the panels are; zoomed, there is nothing to move."""
        columns = {name: one.region for name, one in self._columns.items() if one.region}
        return Regions(columns, self._bottom.region or None)


class TabBar(Widget):
    """Titles by name, each with its key's action: one is active, a number says what it holds."""

    active: reactive[str] = reactive("")
    counts: reactive[tuple[tuple[str, int], ...]] = reactive(())

    def __init__(
        self, tabs: Mapping[str, tuple[str, str]], *, sign: str = "", note: str = ""
    ) -> None:
        super().__init__()
        self.auto_links = False
        self._tabs = tabs
        self._sign = sign
        self._note = Content.styled(note, styles.DIM)

    def count(self, name: str, count: int) -> None:
        self.counts = tuple({**dict(self.counts), name: count}.items())

    def render(self) -> Content:
        bar, counts = Content(""), dict(self.counts)
        for name, (title, action) in self._tabs.items():
            style = f"{styles.KEY} bold reverse" if name == self.active else styles.DIM
            badge = f" {self._sign}{counts[name]}" if counts.get(name) else ""
            tab = Content.styled(f" {title}{badge} ", style)
            bar += styles.clickable(tab, f"screen.do('{action}')") + " "
        gap = self.content_size.width - bar.cell_length - self._note.cell_length
        return bar + " " * gap + self._note if self._note and gap > 0 else bar
