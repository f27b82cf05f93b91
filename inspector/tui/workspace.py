"""The main screen: folds the log for the panels, and turns what the user does into commands."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.timer import Timer

from inspector.core.commands import Command, FetchCard, SendTurn, Turn
from inspector.core.credentials import fill_headers
from inspector.core.entries import Entry
from inspector.core.session import Session
from inspector.errors import UsageError
from inspector.settings import Connection
from inspector.tui.ask_line import SaveLine
from inspector.tui.board import Board
from inspector.tui.board_drawing import draw_board
from inspector.tui.card_screen import CardMemory
from inspector.tui.composing.composer import Composer, Prompt, RawBody, waiting_text
from inspector.tui.credentials import CredentialDesk
from inspector.tui.data_panel import TraceWanted
from inspector.tui.footer import Area, KeyBar
from inspector.tui.frames import Frames
from inspector.tui.header import Header, HeaderView
from inspector.tui.keys import BY_NAME, Keymap, bindings
from inspector.tui.layout import PANELS, panel_of
from inspector.tui.live_drawer import LiveDrawer, MockWatcher, SaveProblems
from inspector.tui.messages import OfferTaken, TurnComposed
from inspector.tui.panels import Panels
from inspector.tui.running_app import end_workers
from inspector.wire.dialect import Dialect
from inspector.wire.endpoints import dialect_of

_CLOCK_SECONDS = 0.1


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
        entries = session.log.entries if session is not None else ()
        # nothing was said yet to who is there now
        self.reopened_to = entries[-1].seq if entries else 0
        connection = connection or Connection()
        self.desk = None if session is None else MockWatcher(session, connection)
        self.watchers: set[Callable[[Board], None]] = set()
        self.board = Board()
        self._frames = Frames(lambda seconds: self.set_timer(seconds, self.draw_now))
        self.started = started
        self.now_ms = now_ms
        self._clock: Timer | None = None
        self.cards = session and CardMemory(session, connection.is_saved, self.notice)
        self.credentials = session and CredentialDesk(session, connection)
        self.is_quit_asked = False
        self._unsubscribe: Callable[[], None] = lambda: None
        self.closing = ExitStack()
        self.recorded_in: Path | None = None

    def compose(self) -> ComposeResult:
        yield Header(HeaderView(self.target))
        yield SaveProblems()
        yield Panels(self.started)
        yield LiveDrawer()
        yield Composer(self.new_id, self._dialect)
        yield KeyBar(self.keymap.keys)

    def on_mount(self) -> None:
        self._clock = self.set_interval(_CLOCK_SECONDS, self.show_waiting, pause=True)
        self.set_interval(1, self.show_credentials)
        if self.cards is not None:
            self.watchers.add(self.cards.take)
        self.show_credentials()
        if self.session is not None:
            if not self.session.log.entries:
                self.run_command(FetchCard())
            self.run_worker(self._follow_log(self.session), group="log")

    async def on_unmount(self) -> None:
        self._unsubscribe()
        await end_workers(self)
        if self.session is not None:
            await self.session.aclose()
        self.closing.close()

    async def _follow_log(self, session: Session) -> None:
        """Take what a reopened log holds, then each new entry."""
        await self._frames.catch_up(session.log.entries)
        self._unsubscribe = session.subscribe(self.take)

    def run_command(self, command: Command) -> None:
        if self.session is not None:
            self.run_worker(carry_out(self, self.session, command), group="commands")

    def _dialect(self) -> Dialect:
        """The dialect that is spoken with the agent by now."""
        return dialect_of(self.session.endpoint if self.session is not None else None)

    def take(self, entry: Entry) -> None:
        self._frames.take(entry)

    def draw_now(self) -> None:
        # no longer shown when its parts go, one by one
        if self.display:
            self._frames.draw(partial(draw_board, self))

    def show_credentials(self) -> None:
        """Tell how long the token is valid."""
        if self.credentials is not None:
            self.query_one(Header).credentials = self.credentials.words()

    def show_waiting(self) -> None:
        """Tell what is outstanding and since when; the clock runs only then."""
        running = self.board.running
        waiting = waiting_text(running[-1], self.now_ms()) if running else ""
        self.query_one(Composer).waiting = waiting
        if self._clock is not None:
            (self._clock.resume if running else self._clock.pause)()

    # What the user does in panels and composer

    @on(OfferTaken)
    async def take_offer(self, event: OfferTaken) -> None:
        await self.query_one(Composer).send_text(event.payload)

    @on(TurnComposed)
    def take_turn(self, event: TurnComposed) -> None:
        self.send(event.turn)

    def send(self, turn: Turn, times: int = 1) -> None:
        """Send `turn`; what cannot go out is kept for ↑."""
        send_turn(self, turn, times)

    @on(SaveLine.Left)
    def leave_save(self, event: SaveLine.Left) -> None:
        stage = self.query_one(Panels)
        stage.go_to(stage.active)
        if event.told:
            self.notice(event.told)

    @on(TraceWanted)
    def take_trace_wish(self, event: TraceWanted) -> None:
        if self.desk is not None:
            self.run_worker(self.desk.client.fetch_trace(event.trace_id), group="mock")

    def on_descendant_focus(self) -> None:
        panel = panel_of(self.focused)
        self.query_one(KeyBar).area = self._area(panel)
        if panel in PANELS:
            self.query_one(Panels).activate(panel)

    def _area(self, panel: str | None) -> Area:
        match self.focused:
            case Prompt():
                return Area.PROMPT
            case RawBody():
                return Area.RAW
            case _:
                areas = {"compose": Area.DRAWER, "filter": Area.FILTER, "save": Area.SAVE}
                return areas.get(panel or "", Area.PANELS)

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
        composer, stage = self.query_one(Composer), self.query_one(Panels)
        if composer.drawer.is_open:
            composer.close_drawer()
        elif panel_of(self.focused) == "compose":
            stage.go_to(stage.active)
        else:
            stage.step_back()


def send_turn(workspace: "Workspace", turn: Turn, times: int) -> None:
    """Send `turn`, its variables filled in; what cannot go out is kept for ↑."""
    try:
        filled, secrets = fill_headers(turn, os.environ)
    except UsageError as error:
        workspace.query_one(Composer).history.keep_unsent(turn)
        workspace.notice(f"not sent: {error}; ↑ brings it back")
        return
    if workspace.session is not None:
        workspace.session.conceal(secrets)
    workspace.query_one(Panels).select(None)
    desk = workspace.desk
    for _ in range(times):
        workspace.run_command(SendTurn(filled if desk is None else desk.client.traced(filled)))


async def carry_out(workspace: "Workspace", session: Session, command: Command) -> None:
    """Run `command` to its end; once an agent is known, follow the mock that it may be."""
    try:
        await session.run(command)
    except UsageError as error:
        workspace.notice(str(error))
    if workspace.desk is not None and session.endpoint is not None:
        workspace.run_worker(workspace.desk.client.attend(), group="mock")
    if isinstance(command, SendTurn) and session.endpoint is None:
        workspace.query_one(Composer).history.keep_unsent(command.turn)
        workspace.notice("not sent: no card names where to; ↑ brings it back")
