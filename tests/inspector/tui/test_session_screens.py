"""The screens of saved sessions, of two compared, of the copy menu and of known targets, drawn."""

import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest
from record_session import decode_entries
from textual.pilot import Pilot

from inspector.core.saved.recording import SessionHeader, encode_header, encode_name
from inspector.core.saved.session_store import file_name
from inspector.core.saved.targets import SavedTarget, Targets, targets_file, write_targets
from inspector.folders import sessions_folder
from inspector.tui.copying import CopyMenu
from inspector.tui.sessions_screen import ComparedScreen, SessionsScreen, compared_blocks
from inspector.tui.start import StartScreen
from inspector.tui.workspace import Workspace

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Until


Drawn: TypeAlias = Callable[[Callable[[Pilot[int]], Awaitable[None]]], None]

LOG = Path(__file__).parent / "logs" / "transfer.jsonl"
STARTED = datetime.fromisoformat("2026-11-20T10:02:10+00:00")


@pytest.fixture(autouse=True)
def greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times on the screen are those of the reader's clock; here they are UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def saved() -> list[Path]:
    """Three sessions, the oldest first: whole, named and cut off."""
    lines = LOG.read_text().splitlines()
    return [
        add("aaaa0001", 0, lines),
        add("bbbb0002", 26, [*lines, encode_name("the refund bug")]),
        add("cccc0003", 27, lines[:15]),
    ]


def add(id: str, hours: int, lines: list[str]) -> Path:
    header = SessionHeader(id, "localhost:5005", STARTED + timedelta(hours=hours), "0.1.0")
    path = sessions_folder() / file_name(header)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in [encode_header(header), *lines]))
    return path


@pytest.mark.req("TUI-1", "SESS-1")
def test_sessions(saved: list[Path], drawn_as_before: Drawn, until: "Until") -> None:
    async def arrange(pilot: Pilot[int]) -> None:
        screen = SessionsScreen(sessions_folder(), saved[0])
        await pilot.app.push_screen(screen)
        await until(pilot, lambda: "3 of 3" in str(screen.query_one("#sessions").border_title))
        await pilot.press("space", "down", "D")

    drawn_as_before(arrange)


@pytest.mark.req("TUI-1", "SESS-1")
def test_compared(saved: list[Path], drawn_as_before: Drawn) -> None:
    async def arrange(pilot: Pilot[int]) -> None:
        blocks = compared_blocks(saved[1], saved[2])
        await pilot.app.push_screen(ComparedScreen(blocks))

    drawn_as_before(arrange)


@pytest.mark.req("TUI-1", "WIRE-1")
def test_copy_menu(drawn_as_before: Drawn) -> None:
    async def arrange(pilot: Pilot[int]) -> None:
        with LOG.open(encoding="utf-8") as lines:
            entries = list(decode_entries(lines))
        workspace = Workspace("localhost:5005", None, started=STARTED, now_ms=lambda: 0)
        await pilot.app.push_screen(workspace)
        await pilot.pause()
        for entry in entries:
            workspace.take(entry)
        workspace.draw_now()
        await pilot.press("escape", "C")
        assert isinstance(pilot.app.screen, CopyMenu)

    drawn_as_before(arrange)


@pytest.mark.req("TUI-2")
def test_known_targets(saved: list[Path], drawn_as_before: Drawn, until: "Until") -> None:
    write_targets(targets_file(), Targets().with_target("bank", SavedTarget("https://bank.test")))

    async def arrange(pilot: Pilot[int]) -> None:
        screen = pilot.app.screen
        assert isinstance(screen, StartScreen)
        await until(pilot, lambda: len(screen.query(".known")) == 2)

    drawn_as_before(arrange)
