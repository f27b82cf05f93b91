"""The terminal app: its screens, themes and the palette's commands."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime
from time import perf_counter
from typing import ClassVar
from uuid import uuid4

from textual import on
from textual.app import App
from textual.command import Provider

from inspector.core.log import Log
from inspector.core.session import Session
from inspector.core.target import parse_target
from inspector.errors import InspectorError
from inspector.settings import Connection
from inspector.tui.messages import TargetGiven
from inspector.tui.palette import Actions
from inspector.tui.start import StartScreen
from inspector.tui.theme import DARK, LIGHT
from inspector.tui.workspace import Workspace

# From here on the three columns stand side by side.
WIDE_COLUMNS = 110


class InspectorApp(App[int]):
    """Without a target it asks for one."""

    TITLE = "a2a-inspect"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    # Textual's own annotation puts ClassVar inside the union, which nothing can match
    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]] | None] = [  # pyright: ignore[reportIncompatibleVariableOverride]
        (0, "-narrow"),
        (WIDE_COLUMNS, "-wide"),
    ]
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Actions}

    def __init__(self, target: str | None = None, connection: Connection | None = None) -> None:
        super().__init__()
        self._target = target
        self._connection = connection or Connection()
        self._open = AsyncExitStack()
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = DARK.name

    def on_mount(self) -> None:
        if self._target is None:
            self.push_screen(StartScreen())
        else:
            self.connect(self._target)

    @on(TargetGiven)
    def take_target(self, event: TargetGiven) -> None:
        if event.target is not None:
            self.connect(event.target)
        else:
            self.run_worker(self._demonstrate(), group="demo", exclusive=True)

    async def _demonstrate(self) -> None:
        from inspector.tui.demo import serve_bank

        start = self.screen
        try:
            url = await self._open.enter_async_context(serve_bank())
        except InspectorError as error:
            if isinstance(start, StartScreen):
                start.tell(str(error))
            return
        self.connect(url)

    async def on_unmount(self) -> None:
        await self._open.aclose()

    def connect(self, target: str) -> None:
        try:
            session, now_ms = open_session(target, self._connection)
        except InspectorError as error:
            self._ask_again(str(error), target)
            return
        self.push_screen(Workspace(target, session, started=datetime.now(), now_ms=now_ms))

    def _ask_again(self, problem: str, target: str) -> None:
        if isinstance(self.screen, StartScreen):
            self.screen.tell(problem)
        else:
            self.push_screen(StartScreen(problem, target))


def open_session(target: str, connection: Connection) -> tuple[Session, Callable[[], float]]:
    """Return a session on `target` and its clock in ms; nothing is sent yet.

    Raises:
        UsageError: `target` is neither a URL nor a file.
    """
    # httpx takes longer to import than the first frame may take
    from inspector.net.http import HttpTransport

    began = perf_counter()
    session = Session(
        parse_target(target),
        HttpTransport(connection),
        Log(perf_counter),
        new_id=lambda: str(uuid4()),
        credentials=connection.headers,
        timeout_seconds=connection.timeout_seconds,
    )
    return session, lambda: (perf_counter() - began) * 1000


def run(target: str | None = None, connection: Connection | None = None) -> int:
    """Run the app until the user leaves it; returns the exit status."""
    return InspectorApp(target, connection).run() or 0
