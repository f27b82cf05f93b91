"""How the app begins and ends: its choices, its first frame, and the keys that quit."""

import re
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import pytest
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input, Static

from inspector.folders import config_folder
from inspector.tui.app import InspectorApp
from inspector.tui.conversation_panel import ConversationPanel
from inspector.tui.keys import KeyBar
from inspector.tui.notice_line import NoticeLine
from inspector.tui.start import StartScreen
from inspector.tui.workspace import Workspace

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Agent, Until

ScreenText: TypeAlias = Callable[[Pilot[int]], str]

# who, what, why, and the keys that help
MOST_ERROR_LINES = 5
FIRST_FRAME = """
import sys
from inspector.tui.app import InspectorApp
InspectorApp.connect = lambda self, target: self.exit()
app = InspectorApp({target!r})
app.call_later(lambda: app.screen.call_after_refresh(app.exit))
app.run(headless=True, size=(160, 48))
print("imported", *sorted({{name.partition(".")[0] for name in sys.modules}}))
"""
HEAVY = {"a2a", "httpx", "pydantic", "ruamel"}


@pytest.mark.req("TUI-3")
@pytest.mark.parametrize("target", [None, "localhost:1"])
def test_first_frame_needs_no_session(target: str | None) -> None:
    """`benchmarks/start.py` measures what that gives."""
    command = [sys.executable, "-c", FIRST_FRAME.format(target=target)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    imported = set(run.stdout.splitlines()[-1].split())
    assert "textual" in imported
    assert not HEAVY & imported


@pytest.mark.anyio
@pytest.mark.req("TUI-2")
async def test_start_screen_connects_to_what_is_typed(agent: "Agent", until: "Until") -> None:
    app = InspectorApp()
    async with app.run_test() as pilot:
        await pilot.press("u")
        await until(pilot, lambda: isinstance(app.focused, Input))
        for letter in agent.url:
            await pilot.press(letter)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Workspace))


@pytest.mark.anyio
@pytest.mark.req("TUI-2")
async def test_target_that_is_none_is_asked_for_again(until: "Until") -> None:
    app = InspectorApp("no such thing")
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await until(pilot, lambda: app.screen.query("#problem"))
        assert "no such thing" in str(app.screen.query_one("#problem", Static).content)
        assert app.screen.query_one(Input).value == "no such thing"


@pytest.mark.anyio
@pytest.mark.req("TUI-2")
async def test_demo_serves_the_bank_and_a_transfer_completes(until: "Until") -> None:
    app = InspectorApp()
    async with app.run_test(size=(160, 48)) as pilot:
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, Workspace))
        await until(pilot, lambda: app.screen.query(ConversationPanel))
        conversation = app.screen.query_one(ConversationPanel)
        await until(pilot, lambda: any("transfer" in block.plain for block in conversation.blocks))
        for text, answer in (
            ("send 50 to Joe", "[1] Checking"),
            ("1", "[1] Send it"),
            ("1", "✓ completed"),
        ):
            await pilot.press(*(letter if letter != " " else "space" for letter in text), "enter")
            await until(pilot, lambda a=answer: a in conversation.blocks[-1].plain)
        assert "Joe" in conversation.blocks[-1].plain


@pytest.mark.anyio
async def test_agent_that_is_not_there_is_told_in_the_header(until: "Until") -> None:
    app = InspectorApp("http://127.0.0.1:9")
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, Workspace))
        await until(pilot, lambda: app.screen.query("Header"))
        header = app.screen.query_one("Header")
        await until(pilot, lambda: "not connected" in str(header.render()))
        shown = app.screen.query_one(ConversationPanel).blocks[-1].plain.strip().splitlines()
        assert len(shown) == MOST_ERROR_LINES
        assert "a2a-inspect" not in "".join(shown)
        assert shown[-2:] == ["F2 wire   ^R resend", "^L another agent"]
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await pilot.press("u", "escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, Workspace))
        before = app.screen
        await pilot.press("ctrl+l", "u", *"127.0.0.1:8", "enter")
        await until(pilot, lambda: isinstance(app.screen, Workspace) and app.screen is not before)
        assert before not in app.screen_stack


@pytest.mark.anyio
@pytest.mark.req("TUI-7")
@pytest.mark.parametrize("keys", [["ctrl+q"], ["escape", "q"], ["f3", "ctrl+q"]])
async def test_every_way_out_asks_while_something_runs(
    keys: list[str], agent: "Agent", until: "Until"
) -> None:
    app = InspectorApp(agent.url)
    async with app.run_test(size=(120, 36)) as pilot:
        await until.connected(pilot)
        workspace = app.screen
        assert isinstance(workspace, Workspace)
        await pilot.press("h", "i", "enter")
        await until(pilot, lambda: workspace.view.running)
        await pilot.press(*keys)
        await pilot.pause()
        assert app.return_code is None
        assert "still running" in str(app.screen.query_one(NoticeLine).content)
        await pilot.press(keys[-1])
        assert app.return_code == 0


@pytest.mark.anyio
@pytest.mark.req("TUI-7")
@pytest.mark.parametrize("keys", [["ctrl+q"], ["escape", "q"], ["f3", "ctrl+q"]])
async def test_nothing_is_asked_while_nothing_runs(
    keys: list[str], agent: "Agent", until: "Until"
) -> None:
    app = InspectorApp(agent.url)
    async with app.run_test(size=(120, 36)) as pilot:
        await until.connected(pilot)
        await pilot.press(*keys)
        assert app.return_code == 0


@pytest.mark.anyio
@pytest.mark.req("TUI-7")
@pytest.mark.parametrize("before", [[], ["escape"], ["f3"]])
async def test_ctrl_c_says_which_key_quits_and_a_second_one_does(
    before: list[str], agent: "Agent", until: "Until"
) -> None:
    app = InspectorApp(agent.url)
    async with app.run_test(size=(120, 36)) as pilot:
        await until.connected(pilot)
        await pilot.press(*before, "ctrl+c")
        await pilot.pause()
        assert app.return_code is None
        assert str(app.screen.query_one(NoticeLine).content) == "^Q quits, as does ^C again"
        await pilot.press("ctrl+c")
        assert app.return_code == 0


@pytest.mark.anyio
@pytest.mark.req("TUI-7")
async def test_the_question_lapses(
    agent: "Agent", until: "Until", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.tui.app.NOTICE_SECONDS", 0.02)
    monkeypatch.setattr("inspector.tui.notice_line.NOTICE_SECONDS", 0.02)
    app = InspectorApp(agent.url)
    async with app.run_test(size=(120, 36)) as pilot:
        await until.connected(pilot)
        for _ in range(2):
            await pilot.press("ctrl+c")
            await until(pilot, lambda: not app.screen.query_one(NoticeLine).display)
        assert app.return_code is None


@pytest.mark.anyio
@pytest.mark.req("TUI-2")
async def test_notice_hides_no_key(
    agent: "Agent", until: "Until", monkeypatch: pytest.MonkeyPatch
) -> None:
    app = InspectorApp(agent.url)
    async with app.run_test(size=(120, 36)) as pilot:
        await until.connected(pilot)
        bar = app.screen.query_one(KeyBar)
        keys, places = bar.render().plain, [one.region for one in app.screen.walk_children(Widget)]
        app.notice("long " * 40)
        await until(pilot, lambda: app.screen.query(NoticeLine))
        await pilot.pause()
        line = app.screen.query_one(NoticeLine)
        assert line.region.bottom == bar.region.y
        assert bar.render().plain == keys
        shown = [one.region for one in app.screen.walk_children(Widget) if one is not line]
        assert shown == places
        monkeypatch.setattr("inspector.tui.notice_line.NOTICE_SECONDS", 0.02)
        app.notice("short")
        await until(pilot, lambda: not line.display)


@pytest.mark.anyio
@pytest.mark.req("TUI-7")
@pytest.mark.parametrize("width", [30, 80, 200])
async def test_footer_names_the_key_that_quits(
    width: int, agent: "Agent", until: "Until", screen_text: ScreenText
) -> None:
    app = InspectorApp(agent.url)
    async with app.run_test(size=(width, 24)) as pilot:
        await until.connected(pilot)
        assert screen_text(pilot).count(" ^Q quit ") == 1
        await pilot.press("escape")
        await pilot.pause()
        assert screen_text(pilot).count(" q quit ") == 1


SCREENS = {
    "help": ["f1"],
    "card": ["c"],
    "card search": ["c", "slash"],
    "faults": ["f"],
    "push": ["P"],
    "push port": ["P", "n"],
    "sessions": ["S"],
    "sessions filter": ["S", "slash"],
    "another target": ["N"],
    "another target, typed": ["N", "u"],
    "credentials": ["ctrl+k"],
    "credentials, kind": ["ctrl+k", "shift+tab"],
    "snippets": ["A"],
    "filter": ["slash"],
}


@pytest.mark.anyio
@pytest.mark.req("TUI-7")
@pytest.mark.parametrize("keys", SCREENS.values(), ids=SCREENS)
async def test_key_that_a_screen_names_quits(
    keys: list[str], agent: "Agent", until: "Until", screen_text: ScreenText
) -> None:
    app = InspectorApp(agent.url)
    async with app.run_test(size=(80, 24)) as pilot:
        await until.connected(pilot)
        await pilot.press("escape", *keys)
        await pilot.pause()
        is_typing = isinstance(app.focused, Input)
        # below a dialog the main screen names its own too
        named = re.findall(r"(\S+) quits?\b", screen_text(pilot))
        assert ("^Q" if is_typing else "q") in named
        await pilot.press("ctrl+q" if is_typing else "q")
        assert app.return_code == 0


@pytest.mark.anyio
@pytest.mark.req("TUI-1", "TUI-7")
async def test_every_screen_names_the_quit_key_that_the_user_chose(
    agent: "Agent", until: "Until", screen_text: ScreenText
) -> None:
    config_folder().mkdir(parents=True)
    (config_folder() / "config.toml").write_text('[keys]\nquit = "Z"\n')
    app = InspectorApp(agent.url)
    async with app.run_test(size=(120, 36)) as pilot:
        await until.connected(pilot)
        await pilot.press("escape", "c")
        await pilot.pause()
        assert " Z quit " in screen_text(pilot)
        await pilot.press("q")
        assert app.return_code is None
        await pilot.press("Z")
        assert app.return_code == 0
