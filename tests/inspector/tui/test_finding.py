"""Filters while they are typed, and keys that go from one thing that is wrong to the next."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from record_session import decode_entries
from textual.content import Content
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input, Static

from inspector.core.entries import Entry, Failed
from inspector.net.events import FailureKind
from inspector.tui.app import InspectorApp
from inspector.tui.conversation_panel import ConversationPanel
from inspector.tui.data_panel import DataPanel
from inspector.tui.drawing.block_list import Block, BlockList, Line, passing
from inspector.tui.keys import KeyBar
from inspector.tui.timeline_panel import TimelinePanel
from inspector.tui.workspace import Workspace

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Until


pytestmark = pytest.mark.anyio
LOG = Path(__file__).parent / "logs" / "transfer.jsonl"


def recorded() -> list[Entry]:
    with LOG.open(encoding="utf-8") as lines:
        return list(decode_entries(lines))


async def show(pilot: Pilot[int], entries: list[Entry]) -> Workspace:
    workspace = Workspace("localhost", None, started=datetime(2026, 11, 20), now_ms=lambda: 0.0)
    await pilot.app.push_screen(workspace)
    await pilot.pause()
    for entry in entries:
        workspace.take(entry)
    workspace.draw_now()
    await pilot.press("escape")
    await pilot.pause()
    return workspace


def shown(workspace: Workspace, panel: type[BlockList]) -> str:
    return "\n".join(block.plain for block in workspace.query_one(panel).blocks)


def told(workspace: Workspace) -> str:
    return str(workspace.query_one("#filter-note", Static).content)


@pytest.mark.req("WIRE-2")
async def test_filter_is_live_and_says_how_many_of_how_many() -> None:
    async with InspectorApp().run_test(size=(120, 36)) as pilot:
        workspace = await show(pilot, recorded())
        await pilot.press("2", "/", *"state:completed")
        await pilot.pause()
        assert "completed" in shown(workspace, TimelinePanel)
        assert "working" not in shown(workspace, TimelinePanel)
        assert told(workspace) == "1 of 5"
        assert str(workspace.query_one(TimelinePanel).border_title) == "2 Timeline  1 of 5"
        assert "Done: 75.00" in shown(workspace, ConversationPanel)
        assert "Corrected" not in shown(workspace, ConversationPanel)


@pytest.mark.req("WIRE-2")
async def test_enter_keeps_the_filter_and_escape_drops_it(until: "Until") -> None:
    async with InspectorApp().run_test(size=(120, 36)) as pilot:
        workspace = await show(pilot, recorded())
        everything = shown(workspace, TimelinePanel)
        await pilot.press("2", "/", *"lane:push", "enter")
        await until(pilot, lambda: workspace.query_one(TimelinePanel).has_focus)
        assert shown(workspace, TimelinePanel) == ""
        await pilot.press("escape")
        await pilot.pause()
        assert shown(workspace, TimelinePanel) == everything
        await pilot.press("/", *"lane:push", "escape")
        await until(pilot, lambda: workspace.query_one(TimelinePanel).has_focus)
        assert shown(workspace, TimelinePanel) == everything
        assert not workspace.query_one("#filter").display


@pytest.mark.req("WIRE-2")
async def test_filter_that_cannot_be_read_says_why_and_the_one_before_stays() -> None:
    async with InspectorApp().run_test(size=(120, 36)) as pilot:
        workspace = await show(pilot, recorded())
        await pilot.press("2", "/", *"lane:push", "space", *"stat:")
        await pilot.pause()
        assert "no field is called 'stat'" in told(workspace)
        assert shown(workspace, TimelinePanel) == ""
        assert isinstance(pilot.app.focused, Input)


@pytest.mark.req("WIRE-2")
async def test_filter_follows_what_comes_later() -> None:
    entries = recorded()
    async with InspectorApp().run_test(size=(120, 36)) as pilot:
        workspace = await show(pilot, entries[:-3])
        await pilot.press("2", "/", *"state:completed")
        assert shown(workspace, TimelinePanel) == ""
        for entry in entries[-3:]:
            workspace.take(entry)
        workspace.draw_now()
        assert "completed" in shown(workspace, TimelinePanel)


@pytest.mark.req("WIRE-2", "DATA-1")
async def test_data_has_a_filter_of_its_own() -> None:
    async with InspectorApp().run_test(size=(120, 36)) as pilot:
        workspace = await show(pilot, recorded())
        await pilot.press("3", "/", *"joe")
        await pilot.pause()
        lines = [line.strip() for line in shown(workspace, DataPanel).splitlines()]
        assert "▾ persisted slots {2}" in lines
        assert 'recipient  "Joe"' in lines
        assert not any("has_funds" in line for line in lines)
        assert "completed" in shown(workspace, TimelinePanel)


@pytest.mark.req("WIRE-2")
async def test_filter_stays_in_order_while_the_panels_lag_behind() -> None:
    async with InspectorApp().run_test(size=(120, 36)) as pilot:
        workspace = await show(pilot, recorded())
        await pilot.press("2", "/")
        for pasted in ("s", "tate:inp"):
            pilot.app.post_message(Paste(pasted))
        await pilot.pause()
        await pilot.press("X")
        assert workspace.query_one("#filter-text", Input).value == "state:inpX"


def test_lines_that_pass_keep_what_they_stand_below() -> None:
    lines = [("a", 0), ("b", 2), ("match", 4), ("c", 4), ("d", 2), ("match too", 2), ("e", 0)]
    blocks = [Block(None, (Line(Content(text), indent),)) for text, indent in lines]
    assert [block.plain for block in passing(blocks, "MATCH")] == ["a", "b", "match", "match too"]
    assert passing(blocks, " ") == blocks


@pytest.mark.req("WIRE-0", "TIME-3")
async def test_key_walks_through_what_is_wrong() -> None:
    entries = recorded()[:15]
    last = entries[-1]
    entries.append(
        Failed(last.seq + 1, last.at_ms, last.exchange, FailureKind.DISCONNECTED, "peer closed")
    )
    async with InspectorApp().run_test(size=(120, 36)) as pilot:
        workspace = await show(pilot, entries)
        bar = workspace.query_one(KeyBar)
        assert "] 1 wrong" in bar.render().plain
        await pilot.press("]")
        await pilot.pause()
        assert "1 of 1: disconnected: peer closed" in bar.notice
        current = workspace.query_one(TimelinePanel).current
        assert current is not None
        assert "peer closed" in current.plain
        await pilot.press("[")
        assert "1 of 1" in bar.notice


async def test_without_anything_wrong_the_key_says_so() -> None:
    async with InspectorApp().run_test(size=(120, 36)) as pilot:
        workspace = await show(pilot, recorded())
        await pilot.press("]")
        assert workspace.query_one(KeyBar).notice == "no error or finding"
        assert workspace.query_one(KeyBar).found == 0


@pytest.mark.req("TIME-3")
async def test_braces_go_from_task_to_task() -> None:
    async with InspectorApp().run_test(size=(120, 36)) as pilot:
        workspace = await show(pilot, recorded())
        seen: list[int] = []
        for key in ("}", "}", "{", "{"):
            await pilot.press("2", key)
            selected = workspace.view.place
            assert selected is not None
            seen.append(selected.exchange)
        tasks = [task.exchange for task in workspace.view.tasks]
        assert seen == [tasks[0], tasks[1], tasks[0], tasks[-1]]
