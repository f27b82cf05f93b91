"""The panels side by side, or one at a time: what they show, and what their keys do."""

import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import PurePath

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.geometry import Region
from textual.reactive import reactive, var
from textual.widget import Widget

from inspector.errors import UsageError
from inspector.tui.ask_line import FilterLine, SaveLine
from inspector.tui.drawing import styles
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.drawing.safe_text import safe_line
from inspector.tui.layout import PANEL_BY_ID, Layout
from inspector.tui.log_view import LogView
from inspector.tui.messages import (
    LayoutChanged,
    NewsCame,
    Notice,
    PanelWanted,
    Picked,
    Place,
    app_of,
)
from inspector.tui.panel import OwnFilter, Panel
from inspector.views.filters import BadFilter, parse_filter
from inspector.views.log_views import Views

NOTHING = "nothing is selected"
NOTHING_SENT = "nothing was sent yet"
_MOST_CHARACTERS = 100
_PERCENT = 100


class Panels(Container):
    """Panels by name, in columns and one at the `bottom`, which opens and closes.

    `view` is what all of them show. `active` is the one that has the focus, or had it before the
    composer took it. `started` is the zero of the log.
    """

    view: var[LogView] = var(LogView(), init=False)

    def __init__(
        self, columns: Sequence[Widget], bottom: Widget, layout: Layout, started: datetime
    ) -> None:
        super().__init__()
        self._panels = {one.id or "": one for one in (*columns, bottom) if isinstance(one, Panel)}
        self._bottom = bottom.id or ""
        self._split = SplitLayout(columns, bottom, layout)
        self._started = started
        self.active = layout.shown[0]
        self._problem = ""
        self._is_focus_due = False
        # where the user was before the bottom panel opened
        self._panel_before = self.active
        self._focus_before: Widget | None = None

    def compose(self) -> ComposeResult:
        tabs = {name: (panel.title, f"go_{name}") for name, panel in self._panels.items()}
        yield TabBar(tabs, sign="+")
        yield self._split
        yield FilterLine()
        yield SaveLine()

    def on_mount(self) -> None:
        for panel in self._panels.values():
            panel.watch(self, "view", panel.show_view, init=False)
        # after the panels, which count what passes
        self.watch(self, "view", self._show_filter, init=False)
        self.activate(self.active)

    # What they show

    def show_views(self, views: Views) -> None:
        self.view = self.view.with_views(views)

    def select(self, place: Place | None) -> None:
        """Mark `place` in every panel; None is the newest, which the panels then follow."""
        self.view = self.view.at(place)

    def show_place(self, place: Place, panel: str) -> None:
        """Mark `place` in every panel, and go to `panel`, where it can be read."""
        self.select(place)
        if panel != self.active:
            self.go_to(panel)

    def show_at_bottom(self, place: Place) -> None:
        self.select(place)
        self.go_to(self._bottom)

    @on(Picked)
    def take_pick(self, event: Picked) -> None:
        event.stop()
        self.select(None if event.at_end else event.place)

    @on(NewsCame)
    def take_news(self, event: NewsCame) -> None:
        event.stop()
        self.query_one(TabBar).count(event.panel, event.count)

    # Which one is active

    def on_descendant_focus(self) -> None:
        focused = self.screen.focused
        nodes = () if focused is None else focused.ancestors_with_self
        name = next((node.id for node in nodes if node.id in self._panels), None)
        if name is not None:
            self.activate(name)

    def activate(self, name: str) -> None:
        """Make `name` the panel that is shown where there is space for one."""
        if name == self._bottom != self.active:
            self._panel_before, self._focus_before = self.active, self.screen.focused
        self.active = name
        for other, panel in self._panels.items():
            panel.set_class(other == name, "-active")
        self.query_one(TabBar).active = name
        self._show_filter()
        self.set_class(name == self._bottom, "-on-wire")

    def reveal(self, name: str) -> None:
        """Activate the panel `name`, opening it where it is closed; the focus stays."""
        if name == self._bottom:
            self.add_class("-wire")
        if name in self._split.layout_shown.hidden:
            self._split.lay_out(self._split.layout_shown.with_shown(name))
        self.activate(name)

    def go_to(self, name: str) -> None:
        """Reveal the panel `name`, and focus it."""
        self.reveal(name)
        self._is_focus_due = True
        if self._panels[name].region:
            self._focus_active()
        else:
            self.call_after_refresh(self._focus_active)

    def go_back(self) -> None:
        self.go_to(self.active)

    def step_back(self) -> None:
        """Drop the filter, else leave the zoom, else the wire view."""
        if self._filter_text():
            self.filter_by("")
        elif self.has_class("-zoom"):
            self.remove_class("-zoom")
        elif self.has_class("-wire"):
            self.action_wire()

    def _focus_active(self) -> None:
        # a key pressed meanwhile may have sent the focus elsewhere
        if not self._is_focus_due:
            return
        self._is_focus_due = False
        panel = self._panels[self.active]
        self.screen.set_focus(panel if panel.can_focus else panel.query(BlockList).first())

    @on(PanelWanted)
    def take_wish(self, event: PanelWanted) -> None:
        event.stop()
        (self.go_to if self.has_focus_within else self.reveal)(event.name)

    def action_go(self, name: str) -> None:
        self.go_to(name)

    def action_wire(self) -> None:
        """Open the wire view, or close it and go back to where the user was."""
        if not self.has_class("-wire"):
            self.go_to(self._bottom)
            return
        self.remove_class("-wire")
        if self.active != self._bottom:
            return
        self.go_to(self._panel_before)
        if self._focus_before is not None and self not in self._focus_before.ancestors:
            self._is_focus_due = False
            self.screen.set_focus(self._focus_before)

    # How they share the screen

    def action_zoom(self) -> None:
        self.toggle_class("-zoom")

    def action_resize(self, by: int) -> None:
        """Make the active panel wider, or the wire higher, by `by` steps."""
        self._lay_out(self._split.layout_shown.resized(self.active, by))

    def action_even(self) -> None:
        self._lay_out(Layout())

    def action_hide(self) -> None:
        """Hide the active panel; its number brings it back."""
        if self.active == self._bottom:
            self.action_wire()
            return
        layout, hidden = self._split.layout_shown, self.active
        if len(layout.shown) == 1:
            self._notice("one panel stays")
            return
        self._lay_out(layout.without(hidden))
        self._notice(f"{PANEL_BY_ID[hidden].number} brings it back")

    def _lay_out(self, layout: Layout) -> None:
        """Share the screen as `layout` says; the focus leaves a panel that is hidden."""
        self._split.lay_out(layout)
        if self.active in layout.hidden:
            self.go_to(layout.shown[0])

    # Filters

    def action_filter(self) -> None:
        """Let the user type a filter: the active panel's own, or the one that the others share."""
        self._is_focus_due = False
        self.query_one(FilterLine).open(self._filter_text())

    @on(FilterLine.Typed)
    def take_filter(self, event: FilterLine.Typed) -> None:
        event.stop()
        self.filter_by(event.text)

    @on(FilterLine.Left)
    def leave_filter(self, event: FilterLine.Left) -> None:
        event.stop()
        self.go_back()
        self.call_after_refresh(self._show_filter)

    def filter_by(self, text: str) -> None:
        """Show only what matches; an invalid filter leaves the previous one in force."""
        panel = self._panels[self.active]
        if isinstance(panel, OwnFilter):
            panel.filter_by(text)
            self._show_filter()
            return
        parsed = parse_filter(text)
        self._problem = parsed.message if isinstance(parsed, BadFilter) else ""
        if isinstance(parsed, BadFilter):
            self._show_filter()
        else:
            self.view = self.view.filtered(parsed)

    def _filter_text(self) -> str:
        panel = self._panels[self.active]
        return panel.filter if isinstance(panel, OwnFilter) else self.view.passing.filter.text

    def _show_filter(self) -> None:
        """Show in the titles and below how many of how many match."""
        for panel in self._panels.values():
            count = "" if isinstance(panel, OwnFilter) else _how_many(panel.count)
            panel.border_title = f"{panel.title}  {count}" if count else panel.title
        panel, line = self._panels[self.active], self.query_one(FilterLine)
        if not self._problem or isinstance(panel, OwnFilter):
            line.show(self._filter_text(), _how_many(panel.count), "")
        else:
            line.show(line.text, "", self._problem)

    # Where something is

    def action_trouble(self, by: int) -> None:
        """Go to the next error or finding, or the previous one."""
        found = self.view.troubles()
        if not found:
            self._notice("no error or finding")
            return
        index = _next([one.place for one in found], self.view.place, by)
        place = found[index].place
        # in the wire view, stay in the wire view
        names = [self.active, *self._panels]
        panel = next(name for name in names if self._panels[name].shows_trouble_at(place))
        self.show_place(place, panel)
        text = safe_line(found[index].text)[:_MOST_CHARACTERS]
        self._notice(f"{index + 1} of {len(found)}: {text}")

    def action_task(self, by: int) -> None:
        """Go to the next task, or the previous one."""
        tasks = [Place(row.exchange, row.exchange) for row in self.view.tasks]
        if not tasks:
            self._notice("no task yet")
            return
        selected = self.view.place
        here = None if selected is None else Place(selected.exchange, selected.exchange)
        place = tasks[_next(tasks, here, by)]
        self.show_place(Place(place.exchange, 0), self.active)

    # Copying, reading and saving

    def action_copy(self) -> None:
        """Copy the selected block; in the wire view the request as curl."""
        text = self._panels[self.active].copied()
        if text is not None:
            app_of(self).copy_to_clipboard(text)
            self._notice("copied")

    def action_copy_as(self) -> None:
        """Copy the selected exchange in the form that is chosen."""
        from inspector.tui.copying import CopyMenu, exchange_as

        exchange = self._panels[self.active].pointed_exchange()
        if exchange is None:
            self._notice(NOTHING_SENT)
            return

        def after(form: str | None) -> None:
            if form is not None:
                app_of(self).copy_to_clipboard(exchange_as(form, exchange, self._started))
                self._notice(f"copied as {form}")

        app_of(self).push_screen(CopyMenu(), after)

    async def action_pager(self) -> None:
        from inspector.tui.external_programs import pager_of

        await self._read_outside(lambda: pager_of(os.environ))

    async def action_editor(self) -> None:
        from inspector.tui.external_programs import editor_of

        await self._read_outside(lambda: editor_of(os.environ))

    async def _read_outside(self, command: Callable[[], list[str]]) -> None:
        from inspector.tui.external_programs import view_outside, visible

        payload = self._panels[self.active].payload()
        if payload is None:
            self._notice(NOTHING)
            return
        suffix = PurePath(payload.name).suffix
        try:
            await view_outside(app_of(self), visible(payload.read()), suffix, command())
        except UsageError as error:
            self._notice(str(error))

    def action_save(self) -> None:
        """Ask where to save the file under the cursor, or what came over the wire."""
        try:
            payload = self._panels[self.active].saved()
        except UsageError as error:
            self._notice(str(error))
            return
        if payload is None:
            self._notice(NOTHING)
        else:
            self.query_one(SaveLine).ask_path(payload.name, payload.read)

    def _notice(self, text: str) -> None:
        self.post_message(Notice(text))


def _how_many(count: tuple[int, int] | None) -> str:
    return "" if count is None else f"{count[0]} of {count[1]}"


def _next(places: Sequence[Place], here: Place | None, by: int) -> int:
    """Return the place after `here`, or the one before; beyond the last comes the first again."""
    seqs = [place.seq for place in places]
    if here is None:
        return 0 if by > 0 else len(places) - 1
    index = bisect_right(seqs, here.seq) if by > 0 else bisect_left(seqs, here.seq) - 1
    return index % len(places)


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
        self.post_message(LayoutChanged(layout))

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
