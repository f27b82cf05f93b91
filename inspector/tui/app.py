"""The terminal app: its screens, its themes and the palette.

What a session or the main screen needs is imported when it is needed, so that the first frame
comes as fast as an empty app's (inspector.md TUI-3).
"""

import asyncio
import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias, runtime_checkable

from textual import on
from textual.app import App, ComposeResult
from textual.widget import Widget
from textual.widgets import Static

from inspector.errors import InspectorError
from inspector.folders import config_folder, state_folder
from inspector.tui.config import Look, read_config, read_look, write_look
from inspector.tui.drawing.themes import COLOURLESS, DARK, THEMES, AsciiLetters, is_ascii_terminal
from inspector.tui.messages import LayoutChanged, Notice, SessionGiven, TargetGiven
from inspector.tui.notice_line import NOTICE_SECONDS, say
from inspector.tui.start import StartScreen
from inspector.wire.urls import mask_url

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from textual.command import Provider
    from textual.filter import LineFilter

    from inspector.core.recorded_session import RecordedSession
    from inspector.settings import Connection

    # What a target's name stands for, or with True the address that a session recorded
    Resolve: TypeAlias = Callable[[str, bool], tuple[str, Connection]]

# From here on the three columns stand side by side.
WIDE_COLUMNS = 110
_TERMINAL_SECONDS = 1.0


@runtime_checkable
class WaitsForAgent(Protocol):
    """A screen that says whether the user waits for something that leaving would break off."""

    def is_waiting(self) -> bool: ...


def _actions() -> "type[Provider]":
    from inspector.tui.help import Actions

    return Actions


class InspectorApp(App[int]):
    """Without a target it asks for one; a saved `session` has its own. `opened` closes last."""

    TITLE = "a2a-inspect"
    CSS_PATH = "app.tcss"
    # Textual's own annotation puts ClassVar inside the union, which nothing can match
    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]] | None] = [  # pyright: ignore[reportIncompatibleVariableOverride]
        (0, "-narrow"),
        (WIDE_COLUMNS, "-wide"),
    ]
    COMMANDS: ClassVar["set[type[Provider] | Callable[[], type[Provider]]]"] = {_actions}

    def __init__(
        self,
        target: str | None = None,
        connection: "Connection | None" = None,
        session: "Path | None" = None,
        project: "Path | None" = None,
        resolve: "Resolve | None" = None,
    ) -> None:
        super().__init__()
        self.project = project
        self._target = target
        self._connection = connection
        self._resolve = resolve or self._as_typed
        self._session = session
        self._is_leaving_asked = False
        self.opened = ExitStack()
        for theme in THEMES.values():
            self.register_theme(theme)
        self.config = read_config(config_folder())
        self.look = read_look(state_folder())
        self.letters = AsciiLetters(
            enabled=self.config.symbols == "ascii"
            or (self.config.symbols == "auto" and is_ascii_terminal(os.environ))
        )
        wanted = self.config.theme or self.look.theme
        self.theme = COLOURLESS.name if self.no_color else wanted if wanted in THEMES else DARK.name

    def compose(self) -> ComposeResult:
        yield Static(f"a2a-inspect ○ {mask_url(self._target or '')}  connecting", id="connecting")

    def on_mount(self) -> None:
        if not self.is_headless and sys.stdin.isatty():
            self.set_interval(_TERMINAL_SECONDS, self._leave_without_terminal)
        if self._session is not None:
            self.call_after_refresh(self.reopen, self._session, self._target)
        elif self._target is None:
            self.push_screen(StartScreen())
        else:
            self.call_after_refresh(self.connect, self._target)

    def _leave_without_terminal(self) -> None:
        """End once the terminal is gone, also where no SIGHUP reports it."""
        if not sys.stdin.isatty():
            self.exit()

    async def on_unmount(self) -> None:
        await asyncio.to_thread(self.opened.close)

    @on(TargetGiven)
    def take_target(self, event: TargetGiven) -> None:
        if event.target is not None:
            self.connect(event.target)
        else:
            self.run_worker(self._demonstrate(), group="demo", exclusive=True)

    @on(SessionGiven)
    def take_session(self, event: SessionGiven) -> None:
        self.reopen(event.path)

    def connect(self, target: str) -> None:
        """Show the main screen on `target`, or the start screen with what is wrong with it."""
        from inspector.core.recorded_session import open_session

        def open_it() -> "RecordedSession":
            address, connection = self._resolve(target, False)
            return open_session(address, connection, self._warn)

        self._show(open_it, target)

    def reopen(self, path: "Path", target: str | None = None) -> None:
        """Show the main screen as a saved session left it, to go on at its target or `target`."""
        from inspector.core.recorded_session import reopen_session
        from inspector.core.saved.recording import read_header

        def open_it() -> "RecordedSession":
            is_recorded = target is None
            name = read_header(path).target if target is None else target
            address, connection = self._resolve(name, is_recorded)
            return reopen_session(path, connection, self._warn, address)

        self._show(open_it, target or "")

    def _warn(self, text: str) -> None:
        """Say `text` once the screen of the session is there."""
        self.call_later(self.notice, text)

    def _as_typed(self, target: str, _: bool) -> "tuple[str, Connection]":
        from inspector.settings import Connection

        return target, self._connection or Connection()

    def _show(self, open_it: "Callable[[], RecordedSession]", target: str) -> None:
        from inspector.tui.keys import keymap_of
        from inspector.tui.workspace import Workspace

        try:
            opened = open_it()
        except InspectorError as error:
            self._ask_again(str(error), target)
            return
        if isinstance(self.screen, StartScreen) and self.screen.is_beside:
            self.pop_screen()
        before = self.screen
        recording = opened.recording
        workspace = Workspace(
            opened.target,
            opened.session,
            started=recording.started,
            now_ms=opened.now_ms,
            keymap=keymap_of(self.config),
            layout=self.look.layout,
            project=self.project,
            connection=opened.connection,
        )
        self.set_keymap(workspace.keymap.overrides())
        workspace.recorded_in = recording.path
        workspace.closing.callback(recording.close)
        if isinstance(before, Workspace):
            # Textual leaves open what type a screen's result has
            self.switch_screen(workspace)  # pyright: ignore[reportUnknownMemberType]
        else:
            self.push_screen(workspace)
        for remark in (workspace.keymap.remark, opened.remark, *opened.session.target.remarks):
            if remark:
                workspace.call_after_refresh(workspace.notice, remark)

    def get_line_filters(self) -> "Sequence[LineFilter]":
        filters = super().get_line_filters()
        return [*filters, self.letters] if self.letters.enabled else filters

    @on(LayoutChanged)
    def take_layout(self, event: LayoutChanged) -> None:
        self._remember(replace(self.look, layout=event.layout))

    def action_symbols(self) -> None:
        """Draw in ASCII from now on, or no longer."""
        self.letters.enabled = not self.letters.enabled
        for screen in self.screen_stack:
            for widget in screen.walk_children(Widget, with_self=True):
                widget.refresh()

    def action_next_theme(self) -> None:
        """Take the next theme, and remember it."""
        names = list(THEMES)
        self.action_take_theme(names[(names.index(self.theme) + 1) % len(names)])

    def action_take_theme(self, name: str) -> None:
        """Take the theme `name`, and remember it."""
        self.theme = name
        self._remember(replace(self.look, theme=self.theme))
        self.notice(f"theme {self.theme}")

    def action_picture(self) -> None:
        """Write the screen as SVG to the user's folder of pictures."""
        from datetime import datetime

        from inspector.core.saved.session_store import make_private_folder
        from inspector.folders import pictures_folder

        folder = pictures_folder()
        file = folder / f"{datetime.now():%Y%m%dT%H%M%S}.svg"
        try:
            make_private_folder(folder)
            file.write_text(self.export_screenshot(), encoding="utf-8")
        except OSError as error:
            self.notice(f"no picture: {error.strerror}")
            return
        self.notice(f"picture: {file}")

    def _remember(self, look: Look) -> None:
        """Write down how the app looks, for the next start."""
        self.look = look
        problem = write_look(state_folder(), look)
        if problem:
            self.notice(problem)

    def notice(self, text: str) -> None:
        """Say `text` at the foot of the main screen, and of what is open over it."""
        for screen in self.screen_stack:
            screen.post_message(Notice(text))
        say(self.screen, text)

    # Leaving, whichever screen is shown

    async def action_quit(self) -> None:
        """Leave; while something runs, only when asked a second time."""
        waiting = [one for one in self.screen_stack if isinstance(one, WaitsForAgent)]
        if any(one.is_waiting() for one in waiting):
            self._leave_or_ask("still running: ^Q again quits")
        else:
            self.exit()

    def action_help_quit(self) -> None:
        """Say which key quits; asked a second time, leave."""
        self._leave_or_ask("^Q quits, as does ^C again")

    def _leave_or_ask(self, question: str) -> None:
        """Leave if the question asked last is still to be read."""
        if self._is_leaving_asked:
            self.exit()
            return
        self._is_leaving_asked = True
        self.set_timer(NOTICE_SECONDS, self._forget_leaving)
        self.notice(question)

    def _forget_leaving(self) -> None:
        self._is_leaving_asked = False

    async def _demonstrate(self) -> None:
        from inspector.demo import serve_bank

        try:
            url = await asyncio.to_thread(self.opened.enter_context, serve_bank())
        except InspectorError as error:
            self._ask_again(str(error), "")
            return
        self.connect(url)

    def _ask_again(self, problem: str, target: str) -> None:
        if isinstance(self.screen, StartScreen):
            self.screen.tell(problem)
        elif len(self.screen_stack) > 1:
            self.notice(problem)
        else:
            self.push_screen(StartScreen(problem, target))

    def _fatal_error(self) -> None:
        """End with a traceback without variables, which may hold secrets or an agent's text."""
        from rich.segment import Segments
        from rich.traceback import Traceback

        self.bell()
        shown = self.console.render(Traceback(width=None), self.console.options)
        self._exit_renderables.append(Segments(shown))
        self._close_messages_no_wait()


def run(
    target: str | None = None,
    connection: "Connection | None" = None,
    session: "Path | None" = None,
    project: "Path | None" = None,
    resolve: "Resolve | None" = None,
) -> int:
    """Run the app until the user leaves it; returns the exit status."""
    app = InspectorApp(target, connection, session, project, resolve)
    # a user who quits while the bank starts leaves before it is up; it is stopped here
    with app.opened:
        return app.run() or 0
