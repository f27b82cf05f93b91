"""The four panels side by side, or one at a time, with one selection in all of them."""

from datetime import datetime

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from inspector.tui.ask_line import FilterLine, SaveLine
from inspector.tui.board import Board, BoardFilter, FilteredBoard, FoundCount
from inspector.tui.conversation_panel import ConversationPanel
from inspector.tui.data_panel import DataPanel
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.drawing.styles import UNICODE, Symbols
from inspector.tui.layout import PANELS, Layout, SplitLayout, TabBar, panel_of
from inspector.tui.messages import NewsCame, Picked, Place
from inspector.tui.timeline_panel import TimelinePanel
from inspector.tui.wire_panel import WirePanel
from inspector.views.exchanges import find
from inspector.views.exports import curl
from inspector.views.filters import BadFilter, parse_filter


class Panels(Container):
    """`active` is the panel that has the focus, or had it before the composer took it."""

    def __init__(self, started: datetime) -> None:
        super().__init__()
        self.active = "conversation"
        self.selected: Place | None = None
        self.symbols = UNICODE
        self._started = started
        self._board = Board()
        self._filter = BoardFilter()
        self._filtered = FilteredBoard()
        self._problem = ""
        self._is_focus_due = False
        # where the user was before the wire view
        self._panel_before = "conversation"
        self._focus_before: Widget | None = None
        self.found = FoundCount()

    def compose(self) -> ComposeResult:
        yield TabBar()
        with SplitLayout():
            with Container(id="columns"):
                yield ConversationPanel(self._started).add_class("-active")
                yield TimelinePanel()
                yield DataPanel()
            yield WirePanel()
        yield FilterLine()
        yield SaveLine()

    def on_mount(self) -> None:
        layout = self.query_one(SplitLayout).layout_shown
        if self.active in layout.hidden:
            self.activate(layout.shown[0])

    def lay_out(self, layout: Layout) -> None:
        """Give the panels the room that `layout` says; who was in a hidden one goes elsewhere."""
        self.query_one(SplitLayout).lay_out(layout)
        if self.active in layout.hidden:
            self.go_to(layout.shown[0])

    def show(self, board: Board) -> None:
        self._board = board
        self.found = self.found.step(board)
        self._filter, self._filtered = self._filter.apply(board)
        filtered = self._filtered
        conversation = self.query_one(ConversationPanel)
        conversation.is_filtered = bool(filtered.counts)
        conversation.show_chat(filtered.chat, board.card, board.trouble)
        self.query_one(TimelinePanel).show_timeline(filtered.tasks)
        self._tell_filter()
        self._show_selection()

    def select(self, place: Place | None) -> None:
        """Mark `place` in every panel; None is the newest, which the panels then follow."""
        self.selected = place
        self._show_selection()

    def show_place(self, place: Place, panel: str) -> None:
        """Mark `place` in every panel, and go to `panel`, where it can be read."""
        self.select(place)
        if panel != self.active or panel == "wire":
            self.go_to(panel)

    # Filters

    def open_filter(self) -> None:
        """Let the user type what the panels shall be filtered by: the data alone, or all others."""
        self._is_focus_due = False
        self.query_one(FilterLine).open(self._filter_text())

    @on(FilterLine.Typed)
    def take_filter(self, event: FilterLine.Typed) -> None:
        event.stop()
        self.filter_by(event.text)

    @on(FilterLine.Left)
    def leave_filter(self, event: FilterLine.Left) -> None:
        event.stop()
        self.go_to(self.active)
        self.call_after_refresh(self._tell_filter)

    def filter_by(self, text: str) -> None:
        """Show only what passes; a filter that cannot be read leaves the one before in force."""
        if self.active == "data":
            self.query_one(DataPanel).filter_by(text)
            self._tell_filter()
            return
        parsed = parse_filter(text)
        self._problem = parsed.message if isinstance(parsed, BadFilter) else ""
        if isinstance(parsed, BadFilter):
            self._tell_filter()
            return
        self._filter = BoardFilter(parsed)
        self.show(self._board)

    def _filter_text(self) -> str:
        return (
            self.query_one(DataPanel).filter if self.active == "data" else self._filter.filter.text
        )

    def _tell_filter(self) -> None:
        counts = self._filtered.counts
        for number, name in enumerate(PANELS, 1):
            if name != "data":
                told = _how_many(counts.get(name))
                title = f"{number} {name.capitalize()}"
                self.query_one(f"#{name}").border_title = f"{title}  {told}" if told else title
        count = (
            self.query_one(DataPanel).count if self.active == "data" else counts.get(self.active)
        )
        line = self.query_one(FilterLine)
        if not self._problem or self.active == "data":
            line.tell(self._filter_text(), _how_many(count), "")
        else:
            line.tell(line.text, "", self._problem)

    @on(Picked)
    def take_pick(self, event: Picked) -> None:
        event.stop()
        self.select(None if event.at_end else event.place)

    @on(NewsCame)
    def take_news(self, event: NewsCame) -> None:
        event.stop()
        self.query_one(TabBar).tell(event.panel, event.count)

    def activate(self, name: str) -> None:
        """Make `name` the panel that is shown where there is room for one."""
        if name == "wire" != self.active:
            self._panel_before, self._focus_before = self.active, self.screen.focused
        self.active = name
        for other in PANELS:
            self.query_one(f"#{other}").set_class(other == name, "-active")
        self.query_one(TabBar).active = name
        self._tell_filter()
        self.set_class(name == "wire", "-on-wire")

    def reveal(self, name: str) -> None:
        """Activate the panel `name`, opening it where it is closed; the focus stays."""
        if name == "wire":
            self.add_class("-wire")
        room = self.query_one(SplitLayout)
        if name in room.layout_shown.hidden:
            room.lay_out(room.layout_shown.with_shown(name))
        self.activate(name)

    def go_to(self, name: str) -> None:
        """Reveal the panel `name`, and focus it."""
        self.reveal(name)
        self._is_focus_due = True
        if self.query_one(f"#{name}").region:
            self._focus_active()
        else:
            self.call_after_refresh(self._focus_active)

    def toggle_wire(self) -> None:
        """Open the wire view, or close it and go back to where the user was."""
        if not self.has_class("-wire"):
            self.go_to("wire")
            return
        self.remove_class("-wire")
        if self.active != "wire":
            return
        self.go_to(self._panel_before)
        if panel_of(self._focus_before) == "compose":
            self._is_focus_due = False
            self.screen.set_focus(self._focus_before)

    def toggle_zoom(self) -> None:
        self.toggle_class("-zoom")

    def step_back(self) -> None:
        """Drop the filter, else leave the zoom, else the wire view."""
        if self._filter_text():
            self.filter_by("")
        elif self.has_class("-zoom"):
            self.remove_class("-zoom")
        elif self.has_class("-wire"):
            self.toggle_wire()

    def copied_text(self) -> str | None:
        """Return what `y` copies: the cursor's block; of an exchange its request as curl."""
        if self.active == "wire":
            exchange = self.query_one(WirePanel).selected
            return None if exchange is None else curl(exchange.request)
        block = self.query_one(f"#{self.active}", BlockList).current
        return None if block is None else block.plain

    def draw_with(self, symbols: Symbols) -> None:
        self.symbols = symbols
        for panel in (ConversationPanel, TimelinePanel, DataPanel, WirePanel):
            drawn = self.query_one(panel)
            drawn.symbols = symbols
            drawn.redraw_all()

    def _show_selection(self) -> None:
        self.query_one(ConversationPanel).mark(self.selected)
        self.query_one(TimelinePanel).mark(self.selected)
        turn = self._board.turn_at(self.selected)
        spoken = None if turn is None else find(self._board.exchanges, turn.exchange)
        self.query_one(DataPanel).show_turn(turn, None if spoken is None else spoken.answer)
        self.query_one(WirePanel).show_exchanges(self._filtered.exchanges, self.selected)

    def _focus_active(self) -> None:
        # a key pressed meanwhile may have sent the focus elsewhere
        if not self._is_focus_due:
            return
        self._is_focus_due = False
        panel: Widget = self.query_one(f"#{self.active}")
        self.screen.set_focus(
            panel.query_one("#exchanges") if isinstance(panel, WirePanel) else panel
        )


def _how_many(count: tuple[int, int] | None) -> str:
    return "" if count is None else f"{count[0]} of {count[1]}"
