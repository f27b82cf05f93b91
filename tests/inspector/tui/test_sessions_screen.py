"""The screen of saved sessions: reopen, filter, name, export, compare, delete; pictures, copies."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from inspector.core.saved.recording import SessionHeader, encode_header, encode_name
from inspector.core.saved.session_store import file_name, read_name, session_paths
from inspector.folders import pictures_folder, sessions_folder
from inspector.settings import Connection
from inspector.tui.app import InspectorApp
from inspector.tui.copying import FORMS, CopyMenu
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.keys import KeyBar
from inspector.tui.sessions_screen import ComparedScreen, SessionsScreen
from inspector.tui.workspace import Workspace

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Agent, Until

pytestmark = pytest.mark.anyio

WIDE = (160, 48)
STARTED = datetime.fromisoformat("2026-11-20T10:02:10+01:00")
LOG = Path(__file__).parent / "logs" / "transfer.jsonl"


def add(id: str, number: int, *, name: str = "", lines: int | None = None) -> Path:
    """Save a session of the bank that began `number` hours after the first."""
    header = SessionHeader(id, "localhost:5005", STARTED + timedelta(hours=number), "0.1.0")
    recorded = LOG.read_text().splitlines()[:lines]
    named = [encode_name(name)] if name else []
    path = sessions_folder() / file_name(header)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in [encode_header(header), *recorded, *named]))
    return path


@pytest.fixture
def saved() -> list[Path]:
    """Three sessions, the newest last."""
    return [
        add("aaaa0001", 0),
        add("bbbb0002", 1, name="the refund bug"),
        add("cccc0003", 2, lines=8),
    ]


def rows(pilot: Pilot[int]) -> list[str]:
    listing = pilot.app.screen.query_one("#sessions", BlockList)
    return [block.plain for block in listing.blocks]


def note(pilot: Pilot[int]) -> str:
    return str(pilot.app.screen.query_one("#session-note", Static).content)


def written_below(folder: Path) -> dict[Path, str]:
    return {path: path.read_text() for path in folder.rglob("*") if path.is_file()}


async def open_sessions(pilot: Pilot[int], until: "Until", count: int) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, Workspace))
    await until(pilot, lambda: pilot.app.screen.query(KeyBar))
    await pilot.press("f9")
    await until(pilot, lambda: isinstance(pilot.app.screen, SessionsScreen))
    await until(pilot, lambda: len(rows(pilot)) == count)


@pytest.fixture
def app(saved: list[Path]) -> InspectorApp:
    """The app on the oldest session; nothing has to answer for that."""
    return InspectorApp(session=saved[0])


@pytest.mark.req("SESS-1")
async def test_sessions_are_listed_the_newest_first(app: InspectorApp, until: "Until") -> None:
    async with app.run_test(size=WIDE) as pilot:
        await open_sessions(pilot, until, 3)
        newest, named, oldest = rows(pilot)
        assert "the refund bug  localhost:5005" in named
        assert "this one" in oldest
        assert newest.endswith("1 turn ")
        assert "✓" in oldest


@pytest.mark.req("SESS-1")
async def test_filter_leaves_what_has_the_words(app: InspectorApp, until: "Until") -> None:
    async with app.run_test(size=WIDE) as pilot:
        await open_sessions(pilot, until, 3)
        await pilot.press("slash", *"refund", "space", *"completed")
        await until(pilot, lambda: len(rows(pilot)) == 1)
        await pilot.press("enter")
        assert "the refund bug" in rows(pilot)[0]
        await pilot.press("escape")
        await until(pilot, lambda: len(rows(pilot)) == 3)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, Workspace))


@pytest.mark.req("SESS-1")
async def test_chosen_session_takes_the_place_of_the_open_one(
    app: InspectorApp, saved: list[Path], until: "Until"
) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await open_sessions(pilot, until, 3)
        before = app.screen_stack[-2]
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, Workspace) and app.screen is not before)
        assert isinstance(app.screen, Workspace)
        assert app.screen.recorded_in == saved[1]
        # the first one is closed: another may open it
        await open_sessions(pilot, until, 3)
        await pilot.press("end", "enter")
        await until(pilot, lambda: getattr(app.screen, "recorded_in", None) == saved[0])


@pytest.mark.req("SESS-1")
async def test_session_is_named(app: InspectorApp, saved: list[Path], until: "Until") -> None:
    async with app.run_test(size=WIDE) as pilot:
        await open_sessions(pilot, until, 3)
        await pilot.press("n", *"fees", "enter")
        await until(pilot, lambda: "fees" in rows(pilot)[0])
        assert read_name(saved[2]) == "fees"
        await pilot.press("n", *"last")
        for _ in "fees":
            await pilot.press("home", "delete")
        await pilot.press("enter")
        await until(pilot, lambda: "cannot be a session's name" in note(pilot))
        assert read_name(saved[2]) == "fees"


@pytest.mark.req("SESS-1", "WIRE-3")
async def test_session_is_exported_by_its_suffix(
    app: InspectorApp, until: "Until", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await open_sessions(pilot, until, 3)
        await pilot.press("down", "e", "enter")
        await until(pilot, lambda: "written:" in note(pilot))
        assert (tmp_path / "bbbb0002.md").read_text().startswith("# the refund bug\n")
        await pilot.press("e", "backspace", "backspace", *"har", "enter")
        await until(pilot, lambda: ".har" in note(pilot))
        assert json.loads((tmp_path / "bbbb0002.har").read_text())["log"]["version"] == "1.2"
        await pilot.press("e", "x", "enter")
        await until(pilot, lambda: "unknown format" in note(pilot))


@pytest.mark.req("SESS-1")
async def test_two_sessions_are_compared(app: InspectorApp, until: "Until") -> None:
    async with app.run_test(size=WIDE) as pilot:
        await open_sessions(pilot, until, 3)
        await pilot.press("c")
        await until(pilot, lambda: "mark two" in note(pilot))
        await pilot.press("space", "down", "c")
        await until(pilot, lambda: isinstance(app.screen, ComparedScreen))
        await until(pilot, lambda: app.screen.query("#compared"))
        shown = "\n".join(one.plain for one in app.screen.query_one(BlockList).blocks)
        assert "the refund bug → cccc0003" in shown
        assert "turns differ" in shown
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen))


@pytest.mark.req("SESS-1")
async def test_session_is_deleted_at_the_second_press(
    app: InspectorApp, saved: list[Path], until: "Until"
) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await open_sessions(pilot, until, 3)
        await pilot.press("D")
        await until(pilot, lambda: "D again deletes cccc0003" in note(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: note(pilot) == "")
        await pilot.press("D", "D")
        await until(pilot, lambda: len(rows(pilot)) == 2)
        assert session_paths(sessions_folder()) == [saved[1], saved[0]]
        await pilot.press("end", "D", "D")
        await until(pilot, lambda: "is open in an a2a-inspect" in note(pilot))
        assert saved[0].exists()


async def test_no_session_says_how_one_comes(agent: "Agent", until: "Until") -> None:
    app = InspectorApp(session=add("aaaa0001", 0))
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Workspace))
        session_paths(sessions_folder())[0].unlink()
        await open_sessions(pilot, until, 0)


@pytest.mark.req("WIRE-3")
async def test_picture_of_the_screen_is_written(app: InspectorApp, until: "Until") -> None:
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Workspace))
        await until(pilot, lambda: app.screen.query(KeyBar))
        await until(pilot, lambda: "reopened" in app.screen.query_one(KeyBar).notice)
        await pilot.press("f11")
        await until(pilot, lambda: "picture: " in app.screen.query_one(KeyBar).notice)
    (picture,) = pictures_folder().iterdir()
    assert picture.read_text().startswith("<svg")


@pytest.mark.req("WIRE-1", "WIRE-3")
@pytest.mark.parametrize(
    ("key", "begins"),
    [
        ("c", "curl -X POST "),
        ("p", "import sys\n"),
        ("j", '{\n  "exchange": '),
        ("h", '{\n  "startedDateTime": '),
        ("a", '{\n  "log": '),
    ],
)
async def test_exchange_is_copied_in_each_form(
    key: str, begins: str, app: InspectorApp, until: "Until"
) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Workspace))
        screen = app.screen
        assert isinstance(screen, Workspace)
        await until(pilot, lambda: len(screen.view.tasks) > 1)
        await pilot.press("escape", "C")
        await until(pilot, lambda: isinstance(app.screen, CopyMenu))
        await pilot.press(key)
        await until(pilot, lambda: app.clipboard.startswith(begins))
        assert "message/" in app.clipboard


@pytest.mark.req("CONN-3", "SESS-1", "WIRE-3")
async def test_secret_is_in_no_picture_copy_or_file(
    agent: "Agent", until: "Until", tmp_path: Path, secret: Callable[[str], str]
) -> None:
    key = secret("hunter2-of-the-bank")
    agent.gate.set()
    app = InspectorApp(agent.url, Connection(headers=(("X-Api-Key", key),)))
    copies: list[str] = []
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Workspace))
        screen = app.screen
        assert isinstance(screen, Workspace)
        await until(pilot, lambda: screen.view.card)
        await pilot.press(*"key-", *key, "enter")
        await until(pilot, lambda: screen.view.offers or screen.view.last_task)
        await until(pilot, lambda: not screen.view.running)
        await pilot.press("f2", "escape", "escape", "I")
        await until(pilot, lambda: "picture: " in screen.query_one(KeyBar).notice)
        for form in FORMS:
            await pilot.press("C")
            await until(pilot, lambda: isinstance(app.screen, CopyMenu))
            await pilot.press(form)
            await until(pilot, lambda: app.screen is screen)
            copies.append(app.clipboard)
    assert len(set(copies)) == len(FORMS)
    written = written_below(tmp_path)
    assert {path.suffix for path in written} >= {".svg", ".jsonl"}
    assert "key-***" in "".join(copies)
    assert not [text for text in (*copies, *written.values()) if key in text]
