"""The main screen: folds the log for the panels, and turns what the user does into commands."""

from collections.abc import Callable
from datetime import datetime
from time import perf_counter
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.timer import Timer

from inspector.core.commands import CancelTask, Command, FetchCard, SendTurn, Turn
from inspector.core.entries import Entry, Purpose
from inspector.core.session import Session
from inspector.tui.board import Board
from inspector.tui.card import CardScreen
from inspector.tui.command_lines import send_command
from inspector.tui.composer import Composer, waiting_text
from inspector.tui.folds import Folds
from inspector.tui.header import Header, HeaderView, header_view
from inspector.tui.help import HelpScreen
from inspector.tui.key_bar import KeyBar
from inspector.tui.keys import bindings
from inspector.tui.messages import OfferTaken, TurnComposed
from inspector.tui.panels import panel_of
from inspector.tui.running_app import app_of
from inspector.tui.stage import Stage
from inspector.tui.symbols import ASCII, UNICODE

FRAME_SECONDS = 1 / 30
_CLOCK_SECONDS = 0.1


class Workspace(Screen[None]):
    """`now_ms` is on the session's clock, whose zero was at `started`."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(), ("escape", "back", "Back")]
    CSS_PATH = "workspace.tcss"
    AUTO_FOCUS = "#prompt"

    def __init__(
        self,
        target: str,
        session: Session | None,
        *,
        started: datetime,
        now_ms: Callable[[], float],
    ) -> None:
        super().__init__()
        self.target = target
        self.session = session
        self.board = Board()
        self._folds = Folds()
        self._is_frame_asked = False
        self._frame_cost_seconds = 0.0
        self._started = started
        self._now_ms = now_ms
        self._clock: Timer | None = None
        self._is_quit_asked = False
        self._unsubscribe: Callable[[], None] = lambda: None

    def compose(self) -> ComposeResult:
        yield Header(HeaderView(self.target))
        yield Stage(self._started)
        yield Composer()
        yield KeyBar()

    def on_mount(self) -> None:
        self._clock = self.set_interval(_CLOCK_SECONDS, self._show_waiting, pause=True)
        if self.session is not None:
            self._unsubscribe = self.session.subscribe(self.take)
            self.run_command(FetchCard())

    async def on_unmount(self) -> None:
        self._unsubscribe()
        if self.session is not None:
            await self.session.aclose()

    def run_command(self, command: Command) -> None:
        if self.session is not None:
            self.run_worker(self._run(self.session, command), group="commands")

    async def _run(self, session: Session, command: Command) -> None:
        await session.run(command)
        if isinstance(command, SendTurn) and session.endpoint is None:
            self._notice("not sent: no card names where to; ↑ brings it back")

    # Showing

    def take(self, entry: Entry) -> None:
        """Fold `entry` now and draw with the next frame; a slow frame makes frames rarer."""
        self._folds = self._folds.step(entry)
        if not self._is_frame_asked:
            self._is_frame_asked = True
            self.set_timer(max(FRAME_SECONDS, 2 * self._frame_cost_seconds), self.draw_now)

    def draw_now(self) -> None:
        """Draw everything folded so far."""
        began = perf_counter()
        self._is_frame_asked = False
        self.board = self._folds.board()
        self.show_board()
        self._frame_cost_seconds = perf_counter() - began

    def show_board(self) -> None:
        board = self.board
        self.query_one(Stage).show(board)
        composer = self.query_one(Composer)
        composer.options = composer.options.in_context(board.context_id)
        composer.offers = board.offers
        self.query_one(Header).view = header_view(self.target, board)
        self._show_waiting()

    def _show_waiting(self) -> None:
        running = self.board.running
        composer = self.query_one(Composer)
        composer.waiting = waiting_text(running[-1], self._now_ms()) if running else ""
        if self._clock is not None:
            if running:
                self._clock.resume()
            else:
                self._clock.pause()

    # What the user does in panels and composer

    @on(OfferTaken)
    async def take_offer(self, event: OfferTaken) -> None:
        composer = self.query_one(Composer)
        composer.prompt.load_text(event.payload)
        await composer.send()

    @on(TurnComposed)
    def take_turn(self, event: TurnComposed) -> None:
        self._send(event.turn)

    def _send(self, turn: Turn) -> None:
        self.query_one(Stage).select(None)
        self.run_command(SendTurn(turn))

    def on_descendant_focus(self) -> None:
        panel = panel_of(self.focused)
        self.query_one(KeyBar).is_writing = panel == "compose"
        if panel is not None and panel != "compose":
            self.query_one(Stage).activate(panel)

    def on_key(self) -> None:
        self.query_one(KeyBar).notice = ""
        self._is_quit_asked = False

    def _notice(self, text: str) -> None:
        self.query_one(KeyBar).notice = text

    # Actions of keys, footer and palette

    def action_help(self) -> None:
        app_of(self).push_screen(HelpScreen())

    def action_palette(self) -> None:
        app_of(self).action_command_palette()

    def action_panel(self, name: str) -> None:
        if name == "compose":
            self.query_one(Composer).prompt.focus()
        else:
            self.query_one(Stage).go_to(name)

    def action_back(self) -> None:
        """Take one step back: from the slots, the composer, the zoom, the wire."""
        composer = self.query_one(Composer)
        if composer.is_table_open:
            composer.close_table()
        elif panel_of(self.focused) == "compose":
            stage = self.query_one(Stage)
            stage.go_to(stage.active)
        else:
            self.query_one(Stage).step_back()

    async def action_send(self) -> None:
        await self.query_one(Composer).send()

    def action_slots(self) -> None:
        composer = self.query_one(Composer)
        if composer.is_table_open:
            composer.close_table()
        else:
            composer.open_table(self.board.slots())

    def action_shape(self) -> None:
        composer = self.query_one(Composer)
        composer.options = composer.options.next_shape()

    def action_follow(self) -> None:
        composer = self.query_one(Composer)
        composer.options = composer.options.next_follow()

    def action_context(self) -> None:
        composer = self.query_one(Composer)
        composer.options = composer.options.toggled_context()

    async def action_again(self) -> None:
        """Write the last turn back with its message id kept, or give it a new id again."""
        composer = self.query_one(Composer)
        if composer.options.message_id is not None:
            composer.options = composer.options.with_message_id(None)
        elif composer.last_sent is None or self.board.open_task is None:
            self._notice("nothing was sent yet")
        else:
            await composer.recall(composer.last_sent)
            composer.options = composer.options.with_message_id(self.board.open_task.message_id)
            composer.prompt.focus()

    def action_resend(self) -> None:
        composer = self.query_one(Composer)
        if self.board.card is None:
            self.run_command(FetchCard())
            return
        if composer.last_sent is None:
            self._notice("nothing was sent yet")
            return
        turn = composer.options.turn(composer.last_sent.text, composer.last_sent.slots)
        composer.remember(turn)
        self._send(turn)

    def action_stop(self) -> None:
        """Cancel the newest task; hang up where a cancel is already out or no task is known."""
        task, running = self.board.open_task, self.board.running
        is_cancelling = any(one.request.purpose is Purpose.CANCEL for one in running)
        if task is not None and task.task_id is not None and not is_cancelling:
            self.run_command(CancelTask(task.task_id, task.context_id))
        elif running and self.session is not None:
            for exchange in running:
                self.session.stop(exchange.id)
        else:
            self._notice("nothing to cancel")

    def action_wire(self) -> None:
        self.query_one(Stage).toggle_wire()

    def action_card(self) -> None:
        app_of(self).push_screen(CardScreen(self.board.card), self._after_card)

    def _after_card(self, fetch_again: bool | None) -> None:
        if fetch_again:
            self.run_command(FetchCard())

    def action_zoom(self) -> None:
        self.query_one(Stage).toggle_zoom()

    def action_copy(self) -> None:
        text = self.query_one(Stage).copied_text()
        if text is not None:
            app_of(self).copy_to_clipboard(text)
            self._notice("copied")

    def action_copy_command(self) -> None:
        turn = self.query_one(Composer).last_sent
        if turn is None:
            self._notice("nothing was sent yet")
            return
        app_of(self).copy_to_clipboard(send_command(self.target, turn))
        self._notice("copied as a2a-inspect send")

    def action_symbols(self) -> None:
        stage = self.query_one(Stage)
        symbols = ASCII if stage.symbols is UNICODE else UNICODE
        self.query_one(Header).symbols = symbols
        stage.draw_with(symbols)

    def action_theme(self) -> None:
        app_of(self).theme = "calm-light" if app_of(self).current_theme.dark else "calm-dark"

    def action_quit(self) -> None:
        if self.board.running and not self._is_quit_asked:
            self._is_quit_asked = True
            self._notice("still running: q again quits, x cancels")
            return
        app_of(self).exit()
