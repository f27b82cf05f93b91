"""How the panels share the screen: columns above, the wire below, tabs where there is no room."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from textual import events
from textual.containers import Container
from textual.content import Content
from textual.geometry import Region
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from inspector.tui.drawing import styles
from inspector.tui.running_app import app_of

if TYPE_CHECKING:
    from inspector.wire.json_values import Json


COLUMNS = ("conversation", "timeline", "data")
STEP = 10
LEAST, MOST = 10, 80
EVEN = 33


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
        """Return this layout with `panel` wider, or the wire higher, by `by` steps."""
        if panel == "wire":
            return self.with_wire(self.wire + by * STEP)
        if panel not in self.widths:
            return self
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


_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Drag:
    """What is moved: the border after `column`, or where that is None the one above the wire."""

    column: str | None


def drag_at(regions: Mapping[str, Region], x: int, y: int) -> Drag | None:
    """Return what a mouse button pressed there moves; `regions` are those of panels on screen."""
    wire = regions.get("wire")
    if wire is not None and y == wire.y and wire.contains(x, y):
        return Drag(None)
    columns = [name for name in COLUMNS if name in regions]
    for name, after in pairwise(columns):
        is_between = x in (regions[name].right - 1, regions[after].x)
        if is_between and regions[name].y <= y < regions[name].bottom:
            return Drag(name)
    return None


def dragged(layout: Layout, regions: Mapping[str, Region], drag: Drag, x: int, y: int) -> Layout:
    """Return `layout` with the border at `x` or `y`."""
    columns = [name for name in COLUMNS if name in regions]
    area = Region.from_union([regions[name] for name in columns])
    if drag.column is None:
        bottom = regions["wire"].bottom
        return layout.with_wire(round(_PERCENT * (bottom - y) / (bottom - area.y)))
    after = columns[columns.index(drag.column) + 1]
    left, right = regions[drag.column].x, regions[after].right
    cells = {name: regions[name].width for name in columns}
    cells |= {drag.column: x - left, after: right - x}
    return layout.with_widths({n: round(_PERCENT * c / area.width) for n, c in cells.items()})


_ALL = 100


class SplitLayout(Container):
    """`layout_shown` is remembered from one start to the next."""

    def __init__(self) -> None:
        super().__init__()
        self.layout_shown = Layout()
        self._drag: Drag | None = None

    def on_mount(self) -> None:
        self._apply(app_of(self).look.layout)

    def lay_out(self, layout: Layout) -> None:
        """Give the panels the room that `layout` says, and remember it."""
        self._apply(layout)
        app = app_of(self)
        app.remember(replace(app.look, layout=layout))

    def _apply(self, layout: Layout) -> None:
        self.layout_shown = layout
        for name in COLUMNS:
            panel = self.query_one(f"#{name}")
            panel.styles.width = f"{layout.widths[name]}fr"
            panel.set_class(name in layout.hidden, "-hidden")
        self.query_one("#columns").styles.height = f"{_ALL - layout.wire}fr"
        self.query_one("#wire").styles.height = f"{layout.wire}fr"

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._drag = drag_at(self._regions(), int(event.screen_x), int(event.screen_y))
        if self._drag is not None:
            event.stop()
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._drag is not None:
            x, y = int(event.screen_x), int(event.screen_y)
            self._apply(dragged(self.layout_shown, self._regions(), self._drag, x, y))

    def on_mouse_up(self) -> None:
        if self._drag is not None:
            self._drag = None
            self.release_mouse()
            self.lay_out(self.layout_shown)

    def _regions(self) -> dict[str, Region]:
        """Return where the panels are that are on the screen; zoomed, there is nothing to move."""
        shown = {name: self.query_one(f"#{name}") for name in (*COLUMNS, "wire")}
        return {name: panel.region for name, panel in shown.items() if panel.region}


PANELS = ("conversation", "timeline", "data", "wire")
_AREAS = (*PANELS, "compose", "filter", "save")


def panel_of(widget: Widget | None) -> str | None:
    """Return the name of the panel that `widget` is or is inside."""
    if widget is None:
        return None
    return next((node.id for node in widget.ancestors_with_self if node.id in _AREAS), None)


class TabBar(Widget):
    """The active panel's tab is marked; a count tells what came unseen."""

    active: reactive[str] = reactive("conversation")
    news: reactive[tuple[tuple[str, int], ...]] = reactive(())

    def __init__(self) -> None:
        super().__init__()
        self.auto_links = False

    def tell(self, panel: str, count: int) -> None:
        self.news = tuple({**dict(self.news), panel: count}.items())

    def render(self) -> Content:
        bar = Content("")
        for number, name in enumerate(PANELS, 1):
            style = f"{styles.KEY} bold reverse" if name == self.active else styles.DIM
            count = dict(self.news).get(name, 0)
            badge = f" +{count}" if count else ""
            tab = Content.styled(f" {number} {name.capitalize()}{badge} ", style)
            click = Style.from_meta({"@click": f"screen.do('go_{name}')"})
            bar += tab.stylize(click) + " "
        return bar
