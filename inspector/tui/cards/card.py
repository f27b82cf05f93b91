"""The agent's card as a screen that stays true: fetched again by a key or every few seconds."""

from collections.abc import Callable
from datetime import datetime
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

from inspector.core.saved.cards import SeenCard
from inspector.tui.ask_line import AskLine
from inspector.tui.board import Board
from inspector.tui.cards.card_blocks import EXAMPLE, Difference, card_lines, marked, raw_lines
from inspector.tui.drawing import ink
from inspector.tui.drawing.block import Block
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.drawing.quantities import wall_clock
from inspector.tui.drawing.safe_text import safe_line
from inspector.tui.drawing.symbols import UNICODE, Symbols
from inspector.tui.running_app import app_of
from inspector.views.card import CardView, card_changes

INTERVAL_SECONDS = 5.0
KEYS = "Esc back  r fetch  a every 5 s  p raw  / search  y copy  Enter writes “…”"


class CardScreen(Screen["str | None"]):
    """Dismisses with an example to write, or None. `fetch` asks for the card again.

    `last` gives the card seen before this session; `started` is the log's zero.
    """

    CSS_PATH = "card.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,c,f3,q", "dismiss(None)", "Back", show=False),
        Binding("r,f,f5", "fetch", "Fetch again", show=False),
        Binding("a", "watch", "Fetch every few seconds, or no longer", show=False),
        Binding("p", "raw", "Raw or rendered", show=False),
        Binding("slash", "search", "Search", show=False),
        Binding("n", "next(1)", "Next place found", show=False),
        Binding("N", "next(-1)", "Place found before", show=False),
        Binding("y", "copy", "Copy the card", show=False),
        Binding("enter", "take", "Write the example", show=False),
        Binding("ctrl+q", "app.quit", "Quit", show=False),
    ]

    def __init__(
        self,
        board: Board,
        *,
        fetch: Callable[[], None] = lambda: None,
        last: Callable[[], SeenCard | None] = lambda: None,
        started: datetime,
        symbols: Symbols = UNICODE,
    ) -> None:
        super().__init__()
        self._board = board
        self._fetch = fetch
        self._last = last
        self._started = started
        self._symbols = symbols
        self._is_raw = False
        self._is_watching = False
        self._timer: Timer | None = None
        self._lines: list[Block] = []
        self._found: list[int] = []
        self._needle = ""

    def compose(self) -> ComposeResult:
        yield BlockList(
            wraps=True, follows=False, id="card", empty="No card has come yet: r fetches it."
        )
        yield AskLine(id="search")
        yield Static("", id="note", markup=False)
        yield Static(KEYS, id="keys", markup=False)

    def on_mount(self) -> None:
        self.query_one(BlockList).border_title = "Card"
        self._timer = self.set_interval(INTERVAL_SECONDS, self._fetch, pause=True)
        self._draw(from_start=True)

    def show_board(self, board: Board) -> None:
        """Draw what came, where the reader is; before the screen stands, keep it for then."""
        is_new = board.card is not self._board.card
        self._board = board
        if not self.is_mounted:
            return
        if is_new:
            self._draw(from_start=False)
        self._tell()

    @property
    def _card(self) -> CardView | None:
        return self._board.card

    def _draw(self, *, from_start: bool) -> None:
        card = self._card
        if card is None:
            return
        difference = self._difference(card)
        self._lines = (
            raw_lines(card) if self._is_raw else card_lines(card, difference, self._symbols)
        )
        self._mark(from_start=from_start)
        self._tell()

    def _difference(self, card: CardView) -> Difference:
        """Against the last other card of this session, else against the one kept before it."""
        if card.before is not None:
            since = wall_clock(self._started, card.before.until_ms)
            return Difference(card_changes(card.before.card, card.card), since)
        last = self._last()
        if last is None:
            return Difference()
        since = f"{last.seen_at.astimezone():%Y-%m-%d %H:%M}"
        return Difference(card_changes(last.card, card.card), since)

    def _mark(self, *, from_start: bool = False) -> None:
        shown, self._found = marked(self._lines, self._needle)
        pane = self.query_one(BlockList)
        if from_start:
            pane.open_at_start(shown)
        else:
            pane.show(shown)

    def _tell(self) -> None:
        """Say below what is watched, found, or wrong with the last attempt."""
        parts: list[tuple[str, str]] = []
        if self._is_watching:
            parts.append((f"fetched every {INTERVAL_SECONDS:g} s   ", ink.ACCENT))
        if needle := self._needle:
            place = self._place_found()
            style = ink.PLAIN if self._found else ink.WARN
            parts.append(
                (f"{place} of {len(self._found)} lines with “{safe_line(needle)}”   ", style)
            )
        if trouble := self._board.trouble:
            parts.append((safe_line(trouble.problem.partition("\n")[0]), ink.BAD))
        note = self.query_one("#note", Static)
        note.update(Content.assemble(*parts))
        note.set_class(bool(parts), "-told")

    def _place_found(self) -> int:
        cursor = self.query_one(BlockList).cursor
        return sum(1 for index in self._found if index <= cursor)

    def action_fetch(self) -> None:
        self._fetch()

    def action_watch(self) -> None:
        self._is_watching = not self._is_watching
        if self._timer is not None and self._is_watching:
            self._fetch()
            self._timer.resume()
        elif self._timer is not None:
            self._timer.pause()
        self._tell()

    def action_raw(self) -> None:
        self._is_raw = not self._is_raw
        self._draw(from_start=True)

    def action_search(self) -> None:
        self.query_one(AskLine).ask("/", self._needle, "search")

    def action_next(self, by: int) -> None:
        """Go to the next line found, around the end."""
        if not self._found:
            return
        pane = self.query_one(BlockList)
        after = [index for index in self._found if (index - pane.cursor) * by > 0]
        around = self._found[0 if by > 0 else -1]
        pane.go((after[0] if by > 0 else after[-1]) if after else around)
        self._tell()

    def action_copy(self) -> None:
        if self._card is not None:
            app_of(self).copy_to_clipboard(self._card.raw.decode(errors="replace"))

    def action_take(self) -> None:
        block = self.query_one(BlockList).current
        if block is not None and block.name.startswith(EXAMPLE):
            self.dismiss(block.name.removeprefix(EXAMPLE))

    @on(AskLine.Typed)
    def take_needle(self, event: AskLine.Typed) -> None:
        self._seek(event.text)

    @on(AskLine.Dropped)
    def drop_needle(self) -> None:
        self._seek("")

    @on(AskLine.Taken)
    def keep_needle(self) -> None:
        self.query_one(AskLine).close()

    def _seek(self, needle: str) -> None:
        """Mark the lines that have `needle`, and go to the next of them."""
        self._needle = needle
        self._mark()
        pane = self.query_one(BlockList)
        if self._found and pane.cursor not in self._found:
            pane.go(next((index for index in self._found if index > pane.cursor), self._found[0]))
        self._tell()
