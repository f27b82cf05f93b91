"""A developer's day with one agent, from the first start to the session reopened at its end."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from inspector.core.saved.session_store import session_paths
from inspector.folders import sessions_folder
from inspector.tui.app import InspectorApp
from inspector.tui.composing.composer import Prompt
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.start import StartScreen
from inspector.tui.workspace import Workspace
from inspector.views.exchanges import Exchange
from inspector.views.reads import STARTS_TASK

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Drawn, Until


pytestmark = pytest.mark.anyio

SIZE = (160, 48)
CHILDREN = Path("/proc/self/task")


def workspace_of(pilot: Pilot[int]) -> Workspace:
    screen = pilot.app.screen
    assert isinstance(screen, Workspace)
    return screen


def last_said(pilot: Pilot[int]) -> str:
    return pilot.app.screen.query_one("#conversation", BlockList).blocks[-1].plain


def turns(pilot: Pilot[int]) -> list[Exchange]:
    """The exchanges that sent a message."""
    return [one for one in workspace_of(pilot).view.exchanges if one.purpose in STARTS_TASK]


def statuses(exchanges: list[Exchange]) -> list[int]:
    return sorted(one.response.status for one in exchanges if one.response)


async def say(pilot: Pilot[int], until: "Until", text: str, answer: str) -> None:
    """Paste `text`, send it, and wait for `answer`."""
    before = len(turns(pilot))
    await pilot.press("escape", "escape", "i")
    pilot.app.post_message(Paste(text))
    await until(pilot, lambda: pilot.app.screen.query_one(Prompt).text == text)
    await pilot.press("enter")
    await until(pilot, lambda: len(turns(pilot)) > before and answer in last_said(pilot))
    await until(pilot, lambda: not workspace_of(pilot).view.running)


def own_mocks() -> Iterator[int]:
    """The processes that this one has started to serve an assistant."""
    for children in CHILDREN.glob("*/children"):
        for pid in children.read_text().split():
            if b"mock_server" in Path("/proc", pid, "cmdline").read_bytes():
                yield int(pid)


@asynccontextmanager
async def bank_at(port: int) -> AsyncGenerator[None]:
    """The bundled bank on `port`, as somebody would start it again in another terminal."""
    words = ("-m", "mock_server", "serve", "--port", str(port))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        assert (await process.stdout.readline()).startswith(b"ready: ")
        yield
    finally:
        process.terminate()
        await process.wait()


@pytest.mark.skipif(
    not any(CHILDREN.glob("*/children")), reason="finding the agent to kill needs Linux's /proc"
)
@pytest.mark.req("SESS-1", "TUI-2", "COMP-1", "COMP-2")
async def test_day_from_first_start_to_reopened_session(until: "Until", drawn: "Drawn") -> None:
    app = InspectorApp()
    async with app.run_test(size=SIZE) as pilot:
        # first start: the demonstration is one key away
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, Workspace))
        await until(pilot, lambda: workspace_of(pilot).view.card)

        # a transfer whose slots are seeded asks for what is missing only
        await pilot.press("ctrl+s", *"amount", "tab", *"80", "enter")
        await pilot.press(*"recipient", "tab", *"Joe")
        await say(pilot, until, "transfer money", "Which account?")
        assert workspace_of(pilot).view.slots["recipient"] == "Joe"
        await say(pilot, until, "1", "80.00 € from checking to Joe")
        await say(pilot, until, "1", "completed")

        # another one is cancelled while it waits
        await say(pilot, until, "send 50 to Ann", "Which account?")
        await pilot.press("escape", "x")
        await until(pilot, lambda: "canceled" in last_said(pilot))

        # the same message id again is answered with the same task
        await say(pilot, until, "what does it cost", "completed")
        asked = turns(pilot)[-1]
        await pilot.press("escape", "d")
        await until(pilot, lambda: turns(pilot)[-1].id > asked.id)
        await until(pilot, lambda: not workspace_of(pilot).view.running)
        assert turns(pilot)[-1].progress.task_id == asked.progress.task_id

        # twice at once, one of the two is refused; on a busy machine the second may come too late
        while statuses(turns(pilot)[-2:]) != [200, 409]:
            sent = len(turns(pilot))
            await pilot.press("escape", "D")
            await until(pilot, lambda sent=sent: len(turns(pilot)) == sent + 2)
            await until(pilot, lambda: not workspace_of(pilot).view.running)

        # the agent dies, is missed, comes back, and is found again
        card = workspace_of(pilot).view.card
        assert card is not None
        for pid in own_mocks():
            os.kill(pid, signal.SIGKILL)
        await say(pilot, until, "hello", "Connection refused")
        async with bank_at(urlsplit(card.url).port or 0):
            await say(pilot, until, "send 20 to Joe", "Which account?")
            await until(
                pilot, lambda: "input-required" in str(app.screen.query_one("Header").render())
            )
            await pilot.press("escape", "w", "2")
            await pilot.pause()
            before = drawn(pilot)

    # reopened, everything is where it was
    (path,) = session_paths(sessions_folder())
    async with InspectorApp(session=path).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, Workspace))
        await until(pilot, lambda: workspace_of(pilot).view.tasks)
        await pilot.press("escape", "w", "2")
        await until(pilot, lambda: drawn(pilot) == before)
