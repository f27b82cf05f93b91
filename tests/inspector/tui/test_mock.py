"""The app beside a real mock that watches its project: saves, faults, rules, notifications."""

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import httpx
import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input, Static

from inspector.core.commands import Also
from inspector.core.entries import Purpose, RequestSent
from inspector.settings import Connection
from inspector.tui.app import InspectorApp
from inspector.tui.composing.composer import Composer
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.faults_screen import FaultsScreen
from inspector.tui.header import Header
from inspector.tui.live_drawer import LiveDrawer, SaveProblems
from inspector.tui.push_screen import PushScreen
from inspector.tui.workspace import Workspace

if TYPE_CHECKING:
    from tests.conftest import WriteAssistant
    from tests.inspector.tui.conftest import Agent, Until

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(110)]

SIZE = (160, 48)
ENDPOINTS = "a2a_server: {description: A small bank, push_notifications_enabled: true}\n"


@dataclass
class Mock:
    """A running mock and the folder that it serves."""

    url: str
    folder: Path

    def save(self, file: str, before: str, after: str) -> None:
        path = self.folder / file
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))


Serve: TypeAlias = Callable[..., AbstractContextManager[Mock]]


@pytest.fixture
def project(tmp_path: Path, write_assistant: "WriteAssistant") -> Path:
    folder = tmp_path / "small"
    write_assistant(folder, {"endpoints.yml": ENDPOINTS})
    return folder


@pytest.fixture
def serve(project: Path) -> Serve:
    """Run `a2a-mock serve` with the flags given; --watch is among them always."""

    @contextmanager
    def run(*flags: str, environment: dict[str, str] | None = None) -> Generator[Mock]:
        command = [sys.executable, "-m", "mock_server", "serve", str(project), "--watch"]
        process = subprocess.Popen(
            [*command, "--port", "0", *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        assert process.stdout is not None
        try:
            ready = process.stdout.readline()
            assert ready.startswith("ready: ")
            yield Mock(ready.split()[1], project)
        finally:
            process.terminate()
            process.communicate(timeout=60)

    return run


@pytest.fixture
def mock(serve: Serve) -> Generator[Mock]:
    with serve("--allow-local-push") as running:
        yield running


def workspace(pilot: Pilot[int]) -> Workspace:
    return next(screen for screen in pilot.app.screen_stack if isinstance(screen, Workspace))


def header(pilot: Pilot[int]) -> str:
    return workspace(pilot).query_one(Header).render().plain


def shown(pilot: Pilot[int], name: str) -> str:
    """Return everything that a list shows, in sight or not."""
    listed = pilot.app.screen.query_one(name, BlockList)
    return "\n".join(block.plain for block in listed.blocks)


def drawer(pilot: Pilot[int]) -> LiveDrawer:
    return workspace(pilot).query_one(LiveDrawer)


async def connect(pilot: Pilot[int], until: "Until") -> None:
    def is_listening() -> bool:
        screens = [screen for screen in pilot.app.screen_stack if isinstance(screen, Workspace)]
        return any(screen.view.mock.is_listening for screen in screens)

    await until(pilot, is_listening)


async def say(pilot: Pilot[int], until: "Until", text: str, answer: str) -> None:
    """Write `text`, send it, and wait for `answer`."""
    await pilot.press("escape", "i")
    pilot.app.post_message(Paste(text))
    await pilot.pause()
    await pilot.press("enter")
    await until(pilot, lambda: answer in shown(pilot, "#conversation"))
    await until(pilot, lambda: not workspace(pilot).view.running)


@pytest.mark.req("RELOAD-1")
async def test_header_tells_the_mock_and_its_reloads(mock: Mock, until: "Until") -> None:
    app = InspectorApp(mock.url)
    async with app.run_test(size=SIZE) as pilot:
        await connect(pilot, until)
        await until(pilot, lambda: "mock, 1 flow" in header(pilot))
        mock.save(
            "data/flows.yml", "flows:\n", "flows:\n  other: {steps: [{action: utter_sent}]}\n"
        )
        await until(pilot, lambda: "reloaded, 2 flows" in header(pilot))


@pytest.mark.req("LIVE-1")
async def test_save_shows_what_changed_in_the_turns(mock: Mock, until: "Until") -> None:
    app = InspectorApp(mock.url)
    async with app.run_test(size=SIZE) as pilot:
        await connect(pilot, until)
        await say(pilot, until, "send money", "To whom?")
        await say(pilot, until, "Joe", "Sent to Joe.")
        await pilot.press("escape", "L")
        assert drawer(pilot).is_open
        assert "live" in header(pilot)
        said = shown(pilot, "#conversation")
        mock.save("domain.yml", "Sent to {recipient}.", "Done, {recipient}!")
        await until(pilot, lambda: "1 of 2 turns changed" in str(drawer(pilot).border_title))
        first, second = drawer(pilot).blocks
        assert first.plain.endswith("same")
        assert "Sent to Joe. → Done, Joe!" in second.plain
        assert shown(pilot, "#conversation") == said
        assert len(workspace(pilot).view.tasks) == 2


@pytest.mark.req("LIVE-1")
async def test_changes_of_state_slots_and_flow_are_told(mock: Mock, until: "Until") -> None:
    app = InspectorApp(mock.url)
    async with app.run_test(size=SIZE) as pilot:
        await connect(pilot, until)
        await say(pilot, until, "send money", "To whom?")
        await pilot.press("escape", "L")
        mock.save("data/flows.yml", "- collect: recipient", "- set_slots: [{recipient: Ann}]")
        await until(pilot, lambda: "1 of 1 turns changed" in str(drawer(pilot).border_title))
        told = drawer(pilot).blocks[0].plain
        assert "input-required → completed" in told
        assert "transfer_money → none" in told
        assert "To whom? → Sent to Ann." in told
        mock.save("domain.yml", "Sent to {recipient}.", "Done.")
        await until(pilot, lambda: "run 2: 1 of 1" in str(drawer(pilot).border_title))
        assert "input-required → completed" not in drawer(pilot).blocks[0].plain
        await pilot.press("B")
        assert "input-required → completed" in drawer(pilot).blocks[0].plain


@pytest.mark.req("LIVE-1")
async def test_broken_save_leaves_everything_usable(mock: Mock, until: "Until") -> None:
    app = InspectorApp(mock.url)
    async with app.run_test(size=SIZE) as pilot:
        await connect(pilot, until)
        await say(pilot, until, "send money", "To whom?")
        await pilot.press("escape", "L")
        mock.save("data/flows.yml", "- collect:", "- colect:")
        await until(pilot, lambda: "not reloaded" in header(pilot))
        problems = workspace(pilot).query_one(SaveProblems)
        assert problems.display
        told = problems.render().plain
        assert "flows.yml:7" in told
        assert "colect" in told
        assert "the last good version stays active" in told
        assert "waiting for a save" in str(drawer(pilot).border_title)
        await say(pilot, until, "Joe", "Sent to Joe.")
        await pilot.press("escape")
        mock.save("data/flows.yml", "- colect:", "- collect:")
        await until(pilot, lambda: "reloaded, 1 flow" in header(pilot))
        assert not problems.display
        await until(pilot, lambda: "nothing changed" in str(drawer(pilot).border_title))


@pytest.mark.req("RELOAD-1", "LIVE-1")
async def test_save_that_broke_before_the_app_came_is_told_until_it_is_fixed(
    mock: Mock, until: "Until"
) -> None:
    mock.save("data/flows.yml", "- collect:", "- colect:")
    with httpx.stream("GET", f"{mock.url}__admin/events?kinds=reload") as response:
        assert any("failed" in line for line in response.iter_lines())
    app = InspectorApp(mock.url)
    async with app.run_test(size=SIZE) as pilot:
        await connect(pilot, until)
        await until(pilot, lambda: "not reloaded" in header(pilot))
        problems = workspace(pilot).query_one(SaveProblems)
        assert "data/flows.yml:7" in problems.render().plain
        assert problems.display
        mock.save("data/flows.yml", "- colect:", "- collect:")
        await until(pilot, lambda: "reloaded, 1 flow" in header(pilot))
        assert not problems.display


@pytest.mark.req("LIVE-1")
async def test_after_a_replay_keys_act_on_the_conversation(mock: Mock, until: "Until") -> None:
    app = InspectorApp(mock.url)
    async with app.run_test(size=SIZE) as pilot:
        await connect(pilot, until)
        await say(pilot, until, "send money", "To whom?")
        await pilot.press("escape", "L")
        mock.save("domain.yml", "To whom?", "Who gets it?")
        await until(pilot, lambda: "run 1: 1 of 1" in str(drawer(pilot).border_title))
        # the next run cancels what this one left waiting
        mock.save("domain.yml", "Who gets it?", "And who gets it?")
        await until(pilot, lambda: "run 2: 1 of 1" in str(drawer(pilot).border_title))
        screen = workspace(pilot)
        await until(pilot, lambda: not any(one.is_running for one in screen.view.exchanges))
        said = screen.view.context_id
        await pilot.press("w")
        wire = shown(pilot, "#bytes")
        assert "message/stream" in wire
        assert "tasks/cancel" not in wire
        assert "inspect-live-" not in wire
        await pilot.press("w", "e")
        composer = screen.query_one(Composer)
        assert composer.turn().context_id == said
        assert composer.turn().headers == ()
        composer.prompt.clear()
        await pilot.press("up")
        assert composer.prompt.text == "send money"
        await pilot.press("ctrl+r")
        await until(pilot, lambda: len(screen.view.tasks) == 2 and not screen.view.running)
        assert {task.context_id for task in screen.view.tasks} == {said}


@pytest.mark.req("LIVE-1")
async def test_live_ends_with_the_key_that_began_it(mock: Mock, until: "Until") -> None:
    app = InspectorApp(mock.url)
    async with app.run_test(size=SIZE) as pilot:
        await connect(pilot, until)
        await say(pilot, until, "send money", "To whom?")
        await pilot.press("escape", "L", "L")
        assert not drawer(pilot).is_open
        mock.save("domain.yml", "To whom?", "Who gets it?")
        await until(pilot, lambda: "reloaded" in header(pilot))
        assert workspace(pilot).view.live.count == 0


async def test_fault_is_armed_with_two_keys_and_marks_the_turn(mock: Mock, until: "Until") -> None:
    app = InspectorApp(mock.url)
    async with app.run_test(size=SIZE) as pilot:
        await connect(pilot, until)
        await pilot.press("escape", "f")
        await until(pilot, lambda: "http_status" in shown(pilot, "#faults"))
        offered = [kind.name for kind in workspace(pilot).view.mock.offer]
        await pilot.press(str(offered.index("http_status") + 1))
        await until(pilot, lambda: "http status 503" in shown(pilot, "#faults"))
        assert "1 left" in shown(pilot, "#faults")
        await pilot.press("f")
        assert "▲ http status 503" in header(pilot)
        await pilot.press("i", *"hello", "enter")
        await until(pilot, lambda: "fault hit: http status 503" in shown(pilot, "#timeline"))
        await until(pilot, lambda: "Service Unavailable" in shown(pilot, "#conversation"))
        await until(pilot, lambda: "http status" not in header(pilot))


async def test_fault_is_edited_armed_and_disarmed(mock: Mock, until: "Until") -> None:
    app = InspectorApp(mock.url)
    async with app.run_test(size=SIZE) as pilot:
        await connect(pilot, until)
        await pilot.press("f7")
        screen = app.screen
        assert isinstance(screen, FaultsScreen)
        faults = screen.query_one(BlockList)
        await until(pilot, lambda: "rate_limited" in shown(pilot, "#faults"))
        while faults.current is None or "rate_limited" not in faults.current.name:
            await pilot.press("down")
        await pilot.press("e")
        line = screen.query_one(Input)
        assert line.value == "rate_limited retry_after_seconds=1 count=1"
        line.value = "rate_limited retry_after_seconds=oops match.method=tasks/get"
        await pilot.press("enter")
        note = screen.query_one("#fault-note", Static)
        await until(pilot, lambda: "retry_after_seconds" in str(note.render()))
        await pilot.press("e")
        line.value = "rate_limited often=yes"
        await pilot.press("enter")
        assert "has no 'often'" in str(note.render())
        line.value = "rate_limited retry_after_seconds=7 match.method=tasks/get"
        await pilot.press("enter")
        await until(pilot, lambda: "until disarmed" in shown(pilot, "#faults"))
        assert "for method=tasks/get" in shown(pilot, "#faults")
        await pilot.press("a")
        await until(pilot, lambda: len(workspace(pilot).view.mock.armed) == 2)
        await pilot.press("home")
        await pilot.press("down", "x")
        await until(pilot, lambda: len(workspace(pilot).view.mock.armed) == 1)
        await pilot.press("X")
        await until(pilot, lambda: not workspace(pilot).view.mock.armed)
        await pilot.press("escape")
        assert isinstance(app.screen, Workspace)


async def test_faults_screen_without_a_mock_says_how_to_get_one(
    agent: "Agent", until: "Until"
) -> None:
    app = InspectorApp(agent.url)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: any(isinstance(one, Workspace) for one in app.screen_stack))
        await until(pilot, lambda: workspace(pilot).view.card)
        await pilot.press("escape", "f")
        assert "No mock is connected" in shown(pilot, "#faults")


async def test_rules_of_the_selected_turn_stand_in_place_of_its_data(
    mock: Mock, until: "Until"
) -> None:
    app = InspectorApp(mock.url)
    async with app.run_test(size=SIZE) as pilot:
        await connect(pilot, until)
        await say(pilot, until, "send money", "To whom?")
        await pilot.press("escape", "u")
        await until(pilot, lambda: "StartFlow(transfer_money)" in shown(pilot, "#data"))
        told = shown(pilot, "#data")
        assert "✓ STATE-8" in told
        assert "FlowStarted       transfer_money" in told
        assert "BotUttered        utter_ask_recipient" in told
        await say(pilot, until, "Joe", "Sent to Joe.")
        await until(pilot, lambda: "recipient = Joe by user" in shown(pilot, "#data"))
        await pilot.press("escape", "u")
        assert "DataPart" in shown(pilot, "#data")


@pytest.mark.req("PUSHRX-1")
async def test_one_key_opens_the_receiver_and_one_lets_turns_register_it(
    mock: Mock, until: "Until"
) -> None:
    app = InspectorApp(mock.url)
    async with app.run_test(size=SIZE) as pilot:
        await connect(pilot, until)
        await pilot.press("escape", "P")
        screen = app.screen
        assert isinstance(screen, PushScreen)
        about = screen.query_one("#receiver", Static)
        await until(pilot, lambda: "● listening  http://127.0.0.1:" in str(about.render()))
        assert "Press t, and turns register" in shown(pilot, "#pushes")
        await pilot.press("t")
        assert "Send a turn" in shown(pilot, "#pushes")
        await pilot.press("escape")
        assert Also.PUSH in workspace(pilot).query_one(Composer).options.also
        await say(pilot, until, "send money", "To whom?")
        await until(pilot, lambda: shown(pilot, "#timeline").count("push") == 3)
        await pilot.press("escape", "P")
        rows = shown(pilot, "#pushes").split("\n")
        assert [row.split()[4] for row in rows if "accepted" in row] == [
            *("submitted", "working", "input-required")
        ]
        await pilot.press("end", "r")
        await until(pilot, lambda: "resent" in shown(pilot, "#pushes"))
        assert "duplicate" in shown(pilot, "#pushes")
        await pilot.press("enter")
        assert "POST http://127.0.0.1" in shown(pilot, "#bytes")


@pytest.mark.req("PUSHRX-2")
async def test_receiver_mistreats_and_is_set_up_by_keys(mock: Mock, until: "Until") -> None:
    app = InspectorApp(mock.url)
    async with app.run_test(size=SIZE) as pilot:
        await connect(pilot, until)
        await pilot.press("escape", "P")
        screen = app.screen
        about = screen.query_one("#receiver", Static)

        def told() -> str:
            return str(about.render())

        await until(pilot, lambda: "listening" in told())
        for key, words in (
            ("3", "302"),
            ("d", "2 s late"),
            ("h", "it hangs"),
            ("x", "drops the connection"),
            ("0", "normally"),
            ("5", "500"),
        ):
            await pilot.press(key)
            assert words in told()
        await pilot.press("w")
        screen.query_one(Input).value = "nowhere"
        await pilot.press("enter")
        assert "is not an http or https URL" in str(screen.query_one("#push-note", Static).render())
        screen.query_one(Input).value = "http://127.0.0.1:9/hooks"
        await pilot.press("enter")
        assert "http://127.0.0.1:9/hooks" in told()
        await pilot.press("u")
        screen.query_one(Input).value = "https://tunnel.example/x"
        await pilot.press("enter")
        await until(pilot, lambda: "listening  https://tunnel.example/x" in told())
        await pilot.press("o")
        await until(pilot, lambda: "○ closed" in told())
        assert "do not register it" in told()


@pytest.mark.req("PUSHRX-3")
async def test_silent_receiver_is_explained(serve: Serve, until: "Until") -> None:
    with serve() as mock:
        app = InspectorApp(mock.url)
        async with app.run_test(size=SIZE) as pilot:
            await connect(pilot, until)
            await pilot.press("escape", "P")
            about = app.screen.query_one("#receiver", Static)
            await until(pilot, lambda: "listening" in str(about.render()))
            await pilot.press("t", "escape", "i", *"hello", "enter")
            await until(pilot, lambda: "-32602" in shown(pilot, "#conversation"))
            await pilot.press("escape", "P")
            told = shown(pilot, "#pushes")
            assert "refused the turn that registered" in told
            assert "refuse callbacks to loopback" in told
            assert "--allow-local-push" in told
            assert "--public-url" in told


@pytest.mark.req("COMP-3", "PUSHRX-1")
async def test_a_look_at_the_receiver_changes_no_turn(
    project: Path, serve: Serve, until: "Until"
) -> None:
    (project / "endpoints.yml").write_text("a2a_server: {description: A small bank}\n")
    with serve() as mock:
        app = InspectorApp(mock.url)
        async with app.run_test(size=SIZE) as pilot:
            await connect(pilot, until)
            options = workspace(pilot).query_one(Composer).options
            await pilot.press("escape", "P")
            about = app.screen.query_one("#receiver", Static)
            await until(pilot, lambda: "listening" in str(about.render()))
            await pilot.press("escape")
            assert workspace(pilot).query_one(Composer).options == options
            await say(pilot, until, "send money", "To whom?")
            await pilot.press("escape", "P", "t")
            assert "the card offers no push" in str(
                app.screen.query_one("#receiver", Static).render()
            )


@pytest.mark.req("ADMIN-1", "TUI-6")
async def test_admin_token_lets_in_and_is_in_no_log(
    serve: Serve, until: "Until", secret: Callable[[str], str]
) -> None:
    token = secret("let-me-in-4711")
    with serve("--admin-token-env", "TOKEN", environment={"TOKEN": token}) as mock:
        app = InspectorApp(mock.url, Connection(admin_token=token))
        async with app.run_test(size=SIZE) as pilot:
            await connect(pilot, until)
            session = workspace(pilot).session
            assert session is not None
            asked = [
                entry
                for entry in session.log.entries
                if isinstance(entry, RequestSent) and entry.purpose is Purpose.ADMIN
            ]
            assert [dict(entry.headers)["Authorization"] for entry in asked] == ["***"] * 3
            assert token not in str(session.log.entries)


async def test_mock_that_comes_back_is_followed_again(serve: Serve, until: "Until") -> None:
    with ExitStack() as running:
        mock = running.enter_context(serve())
        app = InspectorApp(mock.url)
        async with app.run_test(size=SIZE) as pilot:
            await connect(pilot, until)
            running.close()
            await until(pilot, lambda: "mock gone" in header(pilot))
            running.enter_context(serve("--port", mock.url.rstrip("/").rpartition(":")[2]))
            await until(pilot, lambda: "mock, 1 flow" in header(pilot))


@pytest.mark.req("TUI-2")
async def test_header_has_one_truth_about_a_mock_that_dies_and_returns(
    serve: Serve, until: "Until"
) -> None:
    with ExitStack() as running:
        mock = running.enter_context(serve())
        app = InspectorApp(mock.url)
        async with app.run_test(size=SIZE) as pilot:
            await connect(pilot, until)
            running.close()
            await until(pilot, lambda: "mock gone" in header(pilot))
            assert "not connected" in header(pilot)
            await pilot.press("h", "i", "enter")
            await until(pilot, lambda: workspace(pilot).view.exchanges[-1].failure)
            running.enter_context(serve("--port", mock.url.rstrip("/").rpartition(":")[2]))
            await until(pilot, lambda: "mock, 1 flow" in header(pilot))
            assert "not connected" not in header(pilot)
            assert "●" in header(pilot)
