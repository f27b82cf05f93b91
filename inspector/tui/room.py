"""The room that the panels share: columns above, the wire below, borders that a mouse can move."""

from dataclasses import replace

from textual import events
from textual.containers import Container
from textual.geometry import Region

from inspector.tui.dragging import Drag, drag_at, dragged
from inspector.tui.layout import COLUMNS, Layout
from inspector.tui.running_app import app_of

_ALL = 100


class Room(Container):
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
