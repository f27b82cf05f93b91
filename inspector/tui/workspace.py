"""The main screen: folds the log for the panels, and turns what the user does into commands."""

import asyncio
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import ClassVar
from uuid import uuid4

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import WorkerCancelled, WorkerFailed

from inspector.core.commands import Command, FetchCard, SendTurn, Turn
from inspector.core.entries import Entry
from inspector.core.session import Session
from inspector.core.turn_headers import fill_headers
from inspector.errors import UsageError
from inspector.settings import Connection
from inspector.tui.actions.credentials import look_after
from inspector.tui.board import Board
from inspector.tui.card_memory import CardMemory
from inspector.tui.composer import Composer, waiting_text
from inspector.tui.credential_desk import CredentialDesk
from inspector.tui.data import Data
from inspector.tui.folds import Folds
from inspector.tui.header import Header, HeaderView, header_view
from inspector.tui.key_bar import KeyBar
from inspector.tui.keymap import Keymap
from inspector.tui.keys import BY_NAME, bindings
from inspector.tui.live import LiveDrawer, SaveProblems
from inspector.tui.messages import OfferTaken, TurnComposed
from inspector.tui.mock_desk import MockDesk
from inspector.tui.panels import PANELS, panel_of
from inspector.tui.save_line import SaveLine
from inspector.tui.stage import Stage
from inspector.tui.timeline import Timeline
from inspector.tui.trace import TraceWanted

FRAME_SECONDS = 1 / 30
_CLOCK_SECONDS = 0.1
_CHUNK = 500


class Workspace(Screen[None]):
    """`now_ms` is on the session's clock, whose zero was at `started`.

    `new_id` makes the ids of bodies that are shown before they are sent.
    `closing` is closed once the session is; `recorded_in` is its file, if it has one.
    """

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
        keymap: Keymap | None = None,
        connection: Connection | None = None,
        new_id: Callable[[], str] = lambda: str(uuid4()),
    ) -> None:
        super().__init__()
        self.target = target
        self.new_id = new_id
        self.keymap = keymap or Keymap()
        self.session = session
        self.desk = None if session is None else MockDesk(session, connection or Connection())
        self.watchers: set[Callable[[Board], None]] = set()
        self.board = Board()
        self._folds = Folds()
        self._is_frame_asked = False
        self._frame_cost_seconds = 0.0
        self.started = started
        self.now_ms = now_ms
        self._clock: Timer | None = None
        saves = (connection or Connection()).is_saved
        self.cards = session and CardMemory(session, saves, self.notice)
        self.credentials = session and CredentialDesk(session, connection or Connection())
        self.is_quit_asked = False
        self._unsubscribe: Callable[[], None] = lambda: None
        self.closing = ExitStack()
        self.recorded_in: Path | None = None

    def compose(self) -> ComposeResult:
        yield Header(HeaderView(self.target))
        yield SaveProblems()
        yield Stage(self.started)
        yield LiveDrawer()
        yield Composer(self.new_id)
        yield KeyBar(self.keymap.keys)

    def on_mount(self) -> None:
        self._clock = self.set_interval(_CLOCK_SECONDS, self._show_waiting, pause=True)
        self.set_interval(1, self.show_credentials)
        if self.cards is not None:
            self.watchers.add(self.cards.take)
        self.show_credentials()
        if self.session is not None:
            is_reopened = bool(self.session.log.entries)
            self.run_worker(self._follow_log(self.session), group="log")
            if not is_reopened:
                self.run_command(FetchCard())

    async def on_unmount(self) -> None:
        self._unsubscribe()
        # what they end is written down before the session's file is closed
        # Textual leaves the type of a worker's result open
        workers = self.workers.cancel_node(self)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        for worker in workers:  # pyright: ignore[reportUnknownVariableType]
            with suppress(WorkerCancelled, WorkerFailed):
                await worker.wait()
        if self.session is not None:
            await self.session.aclose()
        self.closing.close()

    async def _follow_log(self, session: Session) -> None:
        """Take what a reopened log holds, then each new entry; keys work meanwhile."""
        entries, taken = session.log.entries, 0
        while taken < len(entries):
            chunk = entries[taken : taken + _CHUNK]
            for entry in chunk:
                self.take(entry)
            taken += len(chunk)
            await asyncio.sleep(0)
        self._unsubscribe = session.subscribe(self.take)

    def run_command(self, command: Command) -> None:
        if self.session is not None:
            self.run_worker(self._run(self.session, command), group="commands")

    async def _run(self, session: Session, command: Command) -> None:
        try:
            await session.run(command)
        except UsageError as error:
            self.notice(str(error))
        if self.desk is not None and session.endpoint is not None:
            self.run_worker(self.desk.client.attend(), group="mock")
        if isinstance(command, SendTurn) and session.endpoint is None:
            self.query_one(Composer).history.keep_unsent(command.turn)
            self.notice("not sent: no card names where to; ↑ brings it back")

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
        self.query_one(Data).know_mock(board.mock)
        self.query_one(Timeline).know_marks(board.mock.marks)
        stage = self.query_one(Stage)
        stage.show(board)
        self.query_one(KeyBar).found = stage.found.total
        composer = self.query_one(Composer)
        composer.options = composer.options.in_context(board.context_id)
        composer.offers = board.offers
        composer.exchanges = board.exchanges
        self.query_one(LiveDrawer).show_live(board.live)
        self.query_one(SaveProblems).reload = board.mock.reload
        for show in tuple(self.watchers):
            show(board)
        self.query_one(Header).view = header_view(self.target, board)
        self._show_waiting()
        look_after(self)

    def show_credentials(self) -> None:
        """Tell how long the token is valid."""
        if self.credentials is not None:
            self.query_one(Header).credentials = self.credentials.words()

    def _show_waiting(self) -> None:
        running = self.board.running
        composer = self.query_one(Composer)
        composer.waiting = waiting_text(running[-1], self.now_ms()) if running else ""
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
        self.send(event.turn)

    def send(self, turn: Turn, times: int = 1) -> None:
        """Send `turn`, its variables filled in; what cannot go out is kept for ↑."""
        try:
            filled, secrets = fill_headers(turn, os.environ)
        except UsageError as error:
            self.query_one(Composer).history.keep_unsent(turn)
            self.notice(f"not sent: {error}; ↑ brings it back")
            return
        if self.session is not None:
            self.session.conceal(secrets)
        self.query_one(Stage).select(None)
        for _ in range(times):
            self.run_command(
                SendTurn(filled if self.desk is None else self.desk.client.traced(filled))
            )

    @on(SaveLine.Left)
    def leave_save(self, event: SaveLine.Left) -> None:
        stage = self.query_one(Stage)
        stage.go_to(stage.active)
        if event.told:
            self.notice(event.told)

    @on(TraceWanted)
    def take_trace_wish(self, event: TraceWanted) -> None:
        if self.desk is not None:
            self.run_worker(self.desk.client.fetch_trace(event.trace_id), group="mock")

    def on_descendant_focus(self) -> None:
        panel = panel_of(self.focused)
        self.query_one(KeyBar).is_writing = panel == "compose"
        self.query_one(KeyBar).is_filtering = panel == "filter"
        if panel in PANELS:
            self.query_one(Stage).activate(panel)

    def on_key(self) -> None:
        self.query_one(KeyBar).notice = ""
        self.is_quit_asked = False

    def notice(self, text: str) -> None:
        # a command may end after the screen has gone
        for bar in self.query(KeyBar):
            bar.notice = text

    # Keys, footer and palette

    async def action_do(self, name: str) -> None:
        """Carry out the action that the table of keys calls `name`."""
        pending = BY_NAME[name].run(self)
        if pending is not None:
            await pending

    def action_back(self) -> None:
        """Take one step back: from the drawer, the composer, the zoom, the wire."""
        composer = self.query_one(Composer)
        if composer.drawer.is_open:
            composer.close_drawer()
        elif panel_of(self.focused) == "compose":
            stage = self.query_one(Stage)
            stage.go_to(stage.active)
        else:
            self.query_one(Stage).step_back()
