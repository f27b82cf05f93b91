"""A session reopens as it was, also after its process was killed, and goes on from there."""

import asyncio
import os
import pty
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Static

from inspector.core.entries import Failed, Purpose, RequestSent, ResponseEnded
from inspector.core.saved.recording import SessionHeader, encode_header, read_session
from inspector.core.saved.session_store import find_session, session_paths
from inspector.folders import sessions_folder
from inspector.settings import Connection
from inspector.tui.app import InspectorApp
from inspector.tui.composing.composer import Composer
from inspector.tui.header import ConnectionState, Header
from inspector.tui.keys import KeyBar
from inspector.tui.start import StartScreen
from inspector.tui.workspace import Workspace
from inspector.wire.json_values import text_at

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Agent, Drawn, Until

pytestmark = pytest.mark.anyio

WIDE = (160, 48)
LOG = Path(__file__).parent / "logs" / "transfer.jsonl"


def workspace_of(pilot: Pilot[int]) -> Workspace:
    screen = pilot.app.screen
    assert isinstance(screen, Workspace)
    return screen


async def say(pilot: Pilot[int], until: "Until", text: str) -> None:
    """Send `text` and wait until its task rests."""
    tasks = len(workspace_of(pilot).view.tasks)
    pilot.app.post_message(Paste(text))
    await pilot.pause()
    await pilot.press("enter")
    await until(pilot, lambda: len(workspace_of(pilot).view.tasks) > tasks)
    await until(pilot, lambda: not workspace_of(pilot).view.running)


@pytest.mark.req("SESS-1")
async def test_session_reopens_as_it_was_and_goes_on(
    agent: "Agent", until: "Until", drawn: "Drawn"
) -> None:
    agent.gate.set()
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await pilot.press("w", "escape", "f2", "i")
        await say(pilot, until, "hello")
        await until(pilot, lambda: "Which" in drawn(pilot)["#conversation"])
        before = drawn(pilot)
        session = workspace_of(pilot).session
        assert session is not None
        seqs = [entry.seq for entry in session.log.entries]
    (path,) = session_paths(sessions_folder())
    requests = len(agent.requests)
    async with InspectorApp(session=path).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        bar = pilot.app.screen.query_one(KeyBar)
        await until(pilot, lambda: bar.notice == "reopened: nothing is sent before you do")
        await pilot.press("f2", "i")
        await until(pilot, lambda: drawn(pilot) == before)
        assert len(agent.requests) == requests
        header = pilot.app.screen.query_one(Header)
        assert header.view.connection is ConnectionState.REOPENED
        assert pilot.app.screen.query_one(Composer).options.context_id == "c-1"
        await say(pilot, until, "again")
        assert header.view.connection is ConnectionState.CONNECTED
        assert text_at(agent.requests[-1], "params", "message", "contextId") == "c-1"
    saved = read_session(path)
    assert [entry.seq for entry in saved.entries][: len(seqs)] == seqs
    assert [entry.seq for entry in saved.entries] == list(range(1, len(saved.entries) + 1))
    exchanges = [one.exchange for one in saved.entries if isinstance(one, ResponseEnded)]
    assert len(set(exchanges)) == len(exchanges)
    times = [entry.at_ms for entry in saved.entries]
    assert times == sorted(times)
    assert len(session_paths(sessions_folder())) == 1


@dataclass(frozen=True, slots=True)
class Terminal:
    """A process in a terminal of its own, which signals it nothing; what it draws is lost."""

    process: asyncio.subprocess.Process
    keyboard: int
    line: ExitStack

    def type(self, text: str) -> None:
        os.write(self.keyboard, text.encode())

    def hang_up(self) -> None:
        """Take the terminal away."""
        self.line.close()

    async def kill(self) -> None:
        """Kill it so that it can do nothing about it."""
        self.process.send_signal(signal.SIGKILL)
        assert await self.process.wait() == -signal.SIGKILL


@asynccontextmanager
async def terminal(*words: str) -> AsyncGenerator[Terminal]:
    """Run `a2a-inspect WORDS` in a terminal."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    loop = asyncio.get_running_loop()

    def drain() -> None:
        # the terminal of a dead process answers EIO
        with suppress(OSError):
            os.read(ours, 65536)

    with ExitStack() as line:
        line.callback(os.close, ours)
        loop.add_reader(ours, drain)
        line.callback(loop.remove_reader, ours)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "inspector", *words),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "160", "LINES": "48"},
            start_new_session=True,
        )
        os.close(theirs)
        yield Terminal(process, ours, line)


POLL_SECONDS = 0.02


async def settle(holds: Callable[[], object]) -> None:
    """Let other processes go on until a condition holds."""
    async with asyncio.timeout(60):
        while not holds():
            # what is waited for needs the processor more than this does
            await asyncio.to_thread(sleep, POLL_SECONDS)


def ended(kind: type[Failed | ResponseEnded] = ResponseEnded) -> int:
    """How many fetched cards and turns are over in the one session that is saved."""
    # a file that has just been made is still empty
    paths = [path for path in session_paths(sessions_folder()) if path.stat().st_size]
    entries = read_session(paths[0]).entries if paths else ()
    asked = {
        one.exchange
        for one in entries
        if isinstance(one, RequestSent) and one.purpose is not Purpose.ADMIN
    }
    return sum(isinstance(one, kind) and one.exchange in asked for one in entries)


@pytest.mark.req("SESS-1")
async def test_killed_app_loses_no_completed_exchange(
    agent: "Agent", until: "Until", drawn: "Drawn"
) -> None:
    agent.gate.set()
    async with terminal(agent.url) as killed:
        await settle(lambda: agent.cards)
        killed.type("first\r")
        await settle(lambda: agent.requests)
        # the first turn is over before the second is asked for
        await settle(lambda: ended() == 2)
        agent.gate.clear()
        killed.type("second\r")
        await settle(lambda: len(agent.requests) == 2)
        await killed.kill()
    agent.gate.set()
    assert ended() == 2
    await reopened(agent, until, drawn, "first")


@pytest.mark.req("TUI-2")
async def test_app_ends_when_its_terminal_has_gone(agent: "Agent") -> None:
    async with terminal(agent.url) as left:
        await settle(lambda: agent.cards)
        left.hang_up()
        assert await left.process.wait() == 0


@pytest.mark.req("SESS-1")
async def test_killed_command_loses_no_completed_exchange(
    agent: "Agent", until: "Until", drawn: "Drawn"
) -> None:
    async with terminal("send", agent.url, "first", "--stream") as killed:
        await settle(lambda: ended() == 1 and agent.requests)
        # what a stream brought is written soon, though it is not over
        await settle(lambda: b"working" in session_paths(sessions_folder())[0].read_bytes())
        await killed.kill()
    agent.gate.set()
    assert ended() == 1
    await reopened(agent, until, drawn, "a2a-inspect was stopped")
    assert ended(Failed) == 1


async def reopened(agent: "Agent", until: "Until", drawn: "Drawn", said: str) -> None:
    """Reopen the killed session: what was said is there, nothing runs, and it goes on."""
    (path,) = session_paths(sessions_folder())
    async with InspectorApp(session=path).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await until(pilot, lambda: said in drawn(pilot)["#conversation"])
        assert not workspace_of(pilot).view.running
        await say(pilot, until, "again")
        assert text_at(agent.requests[-1], "params", "message", "contextId") == "c-1"
    entries = read_session(path).entries
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))


@pytest.fixture
def torn() -> Path:
    """A session of long ago whose last line is torn."""
    started = datetime.now().astimezone() - timedelta(days=400)
    header = SessionHeader("7f3a1c09", "http://127.0.0.1:9", started, "0.0.1")
    path = sessions_folder() / "20251017T000000000Z-7f3a1c09.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(f"{encode_header(header)}\n{LOG.read_text()}" + '{"entry": "Frame')
    return path


@pytest.mark.req("SESS-1")
async def test_torn_session_says_so_and_keeps_its_times(
    torn: Path, until: "Until", drawn: "Drawn"
) -> None:
    path = find_session(sessions_folder(), "last")
    started = read_session(path).header.started
    async with InspectorApp(session=path).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await until(pilot, lambda: "torn" in pilot.app.screen.query_one(KeyBar).notice)
        await until(pilot, lambda: drawn(pilot)["#conversation"])
        assert drawn(pilot)["#conversation"].startswith(f"{started:%H:%M:}")
        assert workspace_of(pilot).session is not None
    assert read_session(path).damage == ""


async def test_session_open_elsewhere_is_not_opened_twice(torn: Path, until: "Until") -> None:
    async with InspectorApp(session=torn).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        other = InspectorApp(session=torn)
        async with other.run_test(size=WIDE) as second:
            await until(second, lambda: isinstance(other.screen, StartScreen))
            await until(second, lambda: other.screen.query("#problem"))
            problem = str(other.screen.query_one("#problem", Static).content)
            assert "is open in another a2a-inspect" in problem


async def test_unsaved_session_is_told_and_goes_on(
    agent: "Agent", until: "Until", drawn: "Drawn"
) -> None:
    agent.gate.set()
    sessions_folder().parent.mkdir(parents=True)
    sessions_folder().write_text("no folder")
    async with InspectorApp(agent.url).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        notice = pilot.app.screen.query_one(KeyBar)
        await say(pilot, until, "hello")
        await until(pilot, lambda: "this session is not saved" in notice.notice)
        assert "Which" in drawn(pilot)["#conversation"]


@pytest.mark.req("SESS-1", "CONN-3")
async def test_a_turn_of_which_the_file_has_only_masks_is_never_sent(
    agent: "Agent", until: "Until"
) -> None:
    agent.gate.set()
    connection = Connection(secrets=("hunter2-hunter2",))
    async with InspectorApp(agent.url, connection=connection).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        await say(pilot, until, "my key is hunter2-hunter2")
        await pilot.press("escape", "r")
        await until(pilot, lambda: len(workspace_of(pilot).view.tasks) > 1)
        await until(pilot, lambda: not workspace_of(pilot).view.running)
    said = [text_at(one, "params", "message", "parts", 0, "text") for one in agent.requests]
    assert said == ["my key is hunter2-hunter2"] * 2
    (path,) = session_paths(sessions_folder())
    assert b"hunter2" not in path.read_bytes()
    async with InspectorApp(session=path).run_test(size=WIDE) as pilot:
        await until.connected(pilot)
        bar = pilot.app.screen.query_one(KeyBar)
        composer = pilot.app.screen.query_one(Composer)
        for key in ("r", "ctrl+r", "e"):
            await pilot.press("escape", key)
            await until(pilot, lambda: "held a secret" in bar.notice)
        await pilot.press("i", "up")
        assert composer.prompt.text == ""
    assert len(agent.requests) == len(said)
