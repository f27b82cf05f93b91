"""The main screen: folds the log for the panels, and turns what the user does into commands."""

import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import WorkerCancelled, WorkerFailed

from inspector.core.commands import (
    Also,
    CancelTask,
    Command,
    FetchCard,
    GetTask,
    Resubscribe,
    SendTurn,
    Turn,
)
from inspector.core.credentials import fill_headers
from inspector.core.entries import Entry, Purpose
from inspector.core.session import Session
from inspector.errors import UsageError
from inspector.settings import Connection, Mint
from inspector.tui.ask_line import FilterLine, SaveLine
from inspector.tui.card_screen import CardMemory, CardScreen
from inspector.tui.composing.composer import Composer, Prompt, RawBody
from inspector.tui.conversation_panel import ConversationPanel
from inspector.tui.credentials import Credentials, OriginDoubted, Question, SecretHeader
from inspector.tui.data_panel import DataPanel, TraceWanted
from inspector.tui.header import Header
from inspector.tui.keys import BY_NAME, Area, KeyBar, Keymap, bindings
from inspector.tui.layout import Layout
from inspector.tui.live_drawer import LiveDrawer, MockWatcher, SaveProblems
from inspector.tui.log_view import Frames, LogView
from inspector.tui.messages import (
    Notice,
    OfferTaken,
    Place,
    SessionGiven,
    TurnComposed,
    app_of,
)
from inspector.tui.panels import NOTHING_SENT, Panels
from inspector.tui.timeline_panel import TimelinePanel
from inspector.tui.wire_panel import WirePanel
from inspector.wire.dialect import Dialect
from inspector.wire.endpoints import dialect_of
from inspector.wire.urls import mask_url, root

_AREAS = (
    (Prompt, Area.PROMPT),
    (RawBody, Area.RAW),
    (Composer, Area.DRAWER),
    (FilterLine, Area.FILTER),
    (SaveLine, Area.SAVE),
)


class Workspace(Screen[None]):
    """`now_ms` is on the session's clock, whose zero was at `started`.

    `new_id` makes the ids of bodies that are shown before they are sent, and `project` is the
    folder whose domain names slots. `closing` is closed once the session is; `recorded_in` is its
    file, if it has one.
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
        layout: Layout | None = None,
        project: Path | None = None,
        connection: Connection | None = None,
        new_id: Callable[[], str] = lambda: str(uuid4()),
    ) -> None:
        super().__init__()
        self.target = target
        self.session = session
        self.started = started
        self.now_ms = now_ms
        self.new_id = new_id
        self.keymap = keymap or Keymap()
        connection = connection or Connection()
        self.mock = session and MockWatcher(session, connection)
        self.cards = session and CardMemory(session, connection.is_saved, self.notice)
        self.credentials = session and Credentials(session, connection)
        columns = (ConversationPanel(started), TimelinePanel(), DataPanel())
        self.panels = Panels(columns, WirePanel(), layout or Layout(), started)
        self.composer = Composer(
            target, project, dialect=self._dialect, new_id=new_id, now_ms=now_ms
        )
        self._frames = Frames(lambda seconds: self.set_timer(seconds, self.draw_now))
        self._unsubscribe: Callable[[], None] = lambda: None
        self.closing = ExitStack()
        self.recorded_in: Path | None = None

    def compose(self) -> ComposeResult:
        entries = self.session.log.entries if self.session is not None else ()
        # nothing was said yet to who is there now
        yield Header(mask_url(self.target), reopened_to=entries[-1].seq if entries else 0)
        yield SaveProblems()
        yield self.panels
        yield LiveDrawer()
        yield self.composer
        yield KeyBar(self.keymap.keys)

    def on_mount(self) -> None:
        for kind in (Composer, LiveDrawer, SaveProblems, Header, KeyBar):
            shown = self.query_one(kind)
            shown.watch(self.panels, "view", shown.show_view, init=False)
        self.watch(self.panels, "view", self.show_view, init=False)
        self.set_interval(1, self.show_credentials)
        self.show_credentials()
        if self.session is not None:
            if not self.session.log.entries:
                self.run_command(FetchCard())
            self.run_worker(self._follow_log(self.session), group="log")

    async def on_unmount(self) -> None:
        self._unsubscribe()
        self._frames.close()
        await end_workers(self)
        if self.session is not None:
            await self.session.aclose()
        self.closing.close()

    # What the log brings

    async def _follow_log(self, session: Session) -> None:
        """Take what a reopened log holds, then each new entry."""
        await self._frames.catch_up(session.log.entries)
        self._unsubscribe = session.subscribe(self.take)

    def _dialect(self) -> Dialect:
        """Return the dialect that is spoken with the agent by now."""
        return dialect_of(self.session.endpoint if self.session is not None else None)

    def take(self, entry: Entry) -> None:
        self._frames.take(entry)

    def draw_now(self) -> None:
        # no longer shown when its parts go, one by one
        if self.display:
            self._frames.draw(self.panels.show_views)

    @property
    def view(self) -> LogView:
        return self.panels.view

    def is_waiting(self) -> bool:
        """Say whether leaving would break something off."""
        return bool(self.view.running)

    def show_view(self, view: LogView) -> None:
        if self.cards is not None:
            self.cards.take(view)
        self._ask_for_credentials()

    def show_credentials(self) -> None:
        """Show how long the token is valid."""
        if self.credentials is not None:
            self.query_one(Header).credentials = self.credentials.words()

    # What goes out

    def run_command(self, command: Command) -> None:
        if self.session is not None:
            self.run_worker(self._carry_out(self.session, command), group="commands")

    async def _carry_out(self, session: Session, command: Command) -> None:
        """Run `command` to its end; once an agent is known, follow the mock that it may be."""
        try:
            await session.run(command)
        except UsageError as error:
            self.notice(str(error))
        if self.mock is not None and session.endpoint is not None:
            self.run_worker(self.mock.client.attend(), group="mock")
        if isinstance(command, SendTurn) and session.endpoint is None:
            self.composer.history.keep_unsent(command.turn)
            self.notice("not sent: no card names where to; ↑ brings it back")

    def send(self, turn: Turn, times: int = 1) -> None:
        """Send `turn`, its variables filled in; what cannot go out is kept for ↑."""
        try:
            filled, secrets = fill_headers(turn, os.environ)
        except UsageError as error:
            self.composer.history.keep_unsent(turn)
            self.notice(f"not sent: {error}; ↑ brings it back")
            return
        if self.session is not None:
            self.session.conceal(secrets)
        self.panels.select(None)
        for _ in range(times):
            traced = filled if self.mock is None else self.mock.client.traced(filled)
            self.run_command(SendTurn(traced))

    # What widgets report

    @on(OfferTaken)
    async def take_offer(self, event: OfferTaken) -> None:
        await self.composer.send_text(event.payload)

    @on(TurnComposed)
    def take_turn(self, event: TurnComposed) -> None:
        self.send(event.turn)

    @on(TraceWanted)
    def take_trace_wish(self, event: TraceWanted) -> None:
        if self.mock is not None:
            self.run_worker(self.mock.client.fetch_trace(event.trace_id), group="mock")

    @on(Notice)
    def take_notice(self, event: Notice) -> None:
        self.notice(event.text)

    def notice(self, text: str) -> None:
        # a command may end after the screen has gone
        for bar in self.query(KeyBar):
            bar.notice = text

    def on_descendant_focus(self) -> None:
        nodes = () if self.focused is None else self.focused.ancestors_with_self
        areas = (area for kind, area in _AREAS if any(isinstance(node, kind) for node in nodes))
        self.query_one(KeyBar).area = next(areas, Area.PANELS)

    def on_key(self) -> None:
        self.notice("")

    # Keys, footer and palette

    async def action_do(self, name: str) -> None:
        """Carry out the action that the table of keys calls `name`, by the widget that owns it."""
        owners = {
            "composer": self.composer,
            "panels": self.panels,
            "data": self.query_one(DataPanel),
            "live": self.query_one(LiveDrawer),
        }
        await self.run_action(BY_NAME[name].action, owners)

    def action_back(self) -> None:
        """Take one step back: from the drawer, the composer, the zoom, the wire."""
        if self.composer.drawer.is_open:
            self.composer.close_drawer()
        elif self.composer.has_focus_within:
            self.panels.go_back()
        else:
            self.panels.step_back()

    def action_help(self) -> None:
        from inspector.tui.help import HelpScreen

        app_of(self).push_screen(HelpScreen(self.keymap))

    # Turns and their tasks

    def action_resend(self) -> None:
        """Send the selected turn as a new message; where no card came, fetch it first of all."""
        if self.view.card is None:
            self.run_command(FetchCard())
        elif (turn := self.composer.selected_turn()) is not None:
            self.send(replace(turn, message_id=None))

    def action_again(self) -> None:
        """Send the selected turn with the id that it had: an agent answers as it did (TURN-5)."""
        if (turn := self.composer.selected_turn()) is not None:
            self.send(turn)
            self.notice(f"sent again with message id {turn.message_id or 'of its body'}")

    def action_twice(self) -> None:
        """Send the selected turn twice at once with one new id: one of the two meets a 409.

        Without a context each of the two would begin its own.
        """
        if (turn := self.composer.selected_turn()) is not None:
            context_id = turn.context_id or self.new_id()
            self.send(replace(turn, message_id=self.new_id(), context_id=context_id), times=2)

    def action_stop(self) -> None:
        """Cancel the newest task; hang up where that was asked before or no task is known."""
        task, running = self.view.last_task, self.view.running
        # an agent may answer a cancel and go on all the same
        is_asked = bool(running) and any(
            one.purpose is Purpose.CANCEL and one.id >= running[0].id
            for one in self.view.exchanges.up_to(None)
        )
        if task is not None and task.task_id is not None and not is_asked:
            self.run_command(CancelTask(task.task_id, task.context_id))
        elif running and self.session is not None:
            for exchange in running:
                self.session.stop(exchange.id)
        else:
            self.notice("nothing to cancel")

    def action_get_task(self) -> None:
        self._ask_for_task(GetTask)

    def action_resubscribe(self) -> None:
        self._ask_for_task(Resubscribe)

    def _ask_for_task(self, command: Callable[[str, str | None], Command]) -> None:
        exchange = self.view.task_exchange
        if exchange is None or exchange.progress.task_id is None:
            self.notice("no task is known here")
        else:
            self.run_command(command(exchange.progress.task_id, exchange.progress.context_id))

    def action_copy_command(self) -> None:
        """Copy what sends the selected turn again, or asks again what was asked about its task."""
        line = self._task_command() or self._turn_command()
        if line is None:
            self.notice(NOTHING_SENT)
            return
        app_of(self).copy_to_clipboard(line)
        self.notice("copied as a command line")

    def _turn_command(self) -> str | None:
        from inspector.tui.copying import send_command

        turn = self.composer.turn_as_sent(is_masked=True)
        is_rasa = self.view.waiting.is_rasa
        new = turn and replace(turn, message_id=None)
        return new and send_command(mask_url(self.target), new, is_rasa=is_rasa)

    def _task_command(self) -> str | None:
        from inspector.tui.copying import task_command

        exchange = None if self.view.place is None else self.view.exchange
        if exchange is None or exchange.purpose is None or exchange.progress.task_id is None:
            return None
        task_id, context_id = exchange.progress.task_id, exchange.progress.context_id
        return task_command(mask_url(self.target), exchange.purpose, task_id, context_id)

    def action_live(self) -> None:
        """Let each save run the conversation again, or no longer."""
        drawer = self.query_one(LiveDrawer)
        if drawer.is_open:
            drawer.close()
            if self.mock is not None:
                self.run_worker(self.mock.tidy(), group="live", exclusive=True)
        else:
            drawer.open()
            if self.mock is not None:
                self.run_worker(self.mock.live(), group="live")
        self.query_one(Header).is_live = drawer.is_open

    # Other screens: each is imported when it is opened, so that the first frame waits for none

    def action_palette(self) -> None:
        app_of(self).action_command_palette()

    def action_target(self) -> None:
        """Ask which agent to talk to in the place of this one."""
        from inspector.tui.start import StartScreen

        if self.view.running:
            self.notice("still running: x cancels, then N again")
        else:
            app_of(self).push_screen(StartScreen(is_beside=True))

    def action_sessions(self) -> None:
        """Show the saved sessions, and reopen the one that is chosen."""
        from inspector.folders import sessions_folder
        from inspector.tui.sessions_screen import SessionsScreen

        def after(chosen: Path | None) -> None:
            if chosen is None:
                return
            if self.view.running:
                self.notice("still running: x cancels, then S again")
            else:
                self.post_message(SessionGiven(chosen))

        screen = SessionsScreen(sessions_folder(), self.recorded_in)
        app_of(self).push_screen(screen, after)

    def action_card(self) -> None:
        screen = CardScreen(
            self.view,
            fetch=lambda: self.run_command(FetchCard()),
            last=lambda: self.cards.last if self.cards is not None else None,
            started=self.started,
        )

        def after(example: str | None) -> None:
            if example is not None:
                prompt = self.composer.prompt
                prompt.load_text(example)
                prompt.move_cursor(prompt.document.end)
                prompt.focus()

        screen.watch(self.panels, "view", screen.show_view, init=False)
        app_of(self).push_screen(screen, after)

    def action_faults(self) -> None:
        from inspector.tui.faults_screen import FaultsScreen

        screen = FaultsScreen(self.view.mock, self.mock.client if self.mock is not None else None)
        screen.watch(self.panels, "view", screen.show_view, init=False)
        app_of(self).push_screen(screen)

    def action_push(self) -> None:
        """Open the receiver and show what it got; turns register it once the user says so."""
        from inspector.tui.push_screen import PushScreen

        def set_registers(registers: bool) -> None:
            options = self.composer.options
            if (Also.PUSH in options.also) is not registers:
                self.composer.options = options.toggled_also(Also.PUSH)

        def leave(place: Place | None) -> None:
            if place is not None:
                self.panels.show_at_bottom(place)

        screen = PushScreen(
            self.session.receiver if self.session is not None else None,
            self.view,
            started=self.started,
            now_ms=self.now_ms,
            registers=Also.PUSH in self.composer.options.also,
            set_registers=set_registers,
        )
        screen.watch(self.panels, "view", screen.show_view, init=False)
        app_of(self).push_screen(screen, leave)

    # Credentials

    def action_renew(self) -> None:
        """Make another token where one is made here; else ask for other credentials."""
        if self.credentials is not None and self.credentials.mint is not None:
            self._use(self.credentials, self.credentials.mint)
        else:
            self.action_credentials()

    def action_credentials(self) -> None:
        """Ask for credentials that take the place of those that there are."""
        if self.credentials is None:
            self.notice("no agent to give credentials to")
        else:
            self._ask(self.credentials, self.credentials.wanted(self.view))

    def _ask_for_credentials(self) -> None:
        """Ask what has to be asked now; while something else is open, nothing."""
        if self.credentials is not None and self.is_current:
            question = self.credentials.question(self.view)
            if question is not None:
                self._ask(self.credentials, question)

    def _ask(self, credentials: Credentials, question: Question) -> None:
        from inspector.tui.credential_screens import OriginScreen, SecretScreen

        def take_secret(given: SecretHeader | Mint | None) -> None:
            if given is not None:
                self._use(credentials, given)

        def take_origin(is_allowed: bool | None) -> None:
            if is_allowed and isinstance(question, OriginDoubted):
                credentials.session.allow_origin(question.url)
                self.notice(f"credentials go to {root(question.url)}")
            else:
                self.notice("credentials stay with the card's origin")

        if isinstance(question, OriginDoubted):
            app_of(self).push_screen(OriginScreen(question), take_origin)
        else:
            place = root(credentials.place or self.target).rstrip("/")
            screen = SecretScreen(place, question.reason, question.scheme)
            app_of(self).push_screen(screen, take_secret)

    def _use(self, credentials: Credentials, given: SecretHeader | Mint) -> None:
        try:
            said = credentials.use(given)
        except UsageError as error:
            self.notice(error.text)
            return
        self.show_credentials()
        if self.view.card is None:
            self.run_command(FetchCard())
            self.notice(said)
        else:
            self.notice(f"{said}; r resends")
            self._ask_for_credentials()


async def end_workers(widget: Widget) -> None:
    """Cancel the workers of `widget` and await what they do at their end."""
    # Textual leaves the type of a worker's result open
    workers = widget.workers.cancel_node(widget)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    for worker in workers:  # pyright: ignore[reportUnknownVariableType]
        with suppress(WorkerCancelled, WorkerFailed):
            await worker.wait()
