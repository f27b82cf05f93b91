"""Panels get more room, less, or none, by keys and by mouse; the choice outlives the app."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from record_session import decode_entries
from textual.pilot import Pilot

from inspector.tui.app import InspectorApp
from inspector.tui.composing.composer import Prompt
from inspector.tui.conversation_panel import ConversationPanel
from inspector.tui.data_panel import DataPanel
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.timeline_panel import TimelinePanel
from inspector.tui.wire_panel import WirePanel
from inspector.tui.workspace import Workspace

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Until


pytestmark = [pytest.mark.anyio, pytest.mark.req("TUI-1")]
SIZE = (120, 36)
LOG = Path(__file__).parent / "logs" / "mock.jsonl"


async def show(pilot: Pilot[int]) -> Workspace:
    assert isinstance(pilot.app, InspectorApp)
    workspace = Workspace(
        "localhost",
        None,
        started=datetime(2026, 11, 20),
        now_ms=lambda: 0.0,
        layout=pilot.app.look.layout,
    )
    await pilot.app.push_screen(workspace)
    await pilot.press("escape")
    await pilot.pause()
    return workspace


async def test_panel_grows_shrinks_and_all_become_even_again() -> None:
    async with InspectorApp().run_test(size=SIZE) as pilot:
        workspace = await show(pilot)
        timeline = workspace.query_one(TimelinePanel)
        even = timeline.size.width
        await pilot.press("2", ">", ">")
        await pilot.pause()
        assert timeline.size.width > even
        await pilot.press("<", "<", "<")
        await pilot.pause()
        assert timeline.size.width < even
        await pilot.press("=")
        await pilot.pause()
        assert timeline.size.width == even


async def test_hidden_panel_leaves_its_room_and_its_number_brings_it_back(until: "Until") -> None:
    async with InspectorApp().run_test(size=SIZE) as pilot:
        workspace = await show(pilot)
        data, timeline = workspace.query_one(DataPanel), workspace.query_one(TimelinePanel)
        await pilot.press("3", "h")
        await until(pilot, lambda: not data.display or not data.region)
        assert timeline.size.width > SIZE[0] // 3
        await pilot.press("h", "h")
        assert (
            workspace.query_one(TimelinePanel).region
            or workspace.query_one(ConversationPanel).region
        )
        await pilot.press("3")
        await until(pilot, lambda: bool(data.region) and data.has_focus)


async def test_layout_is_remembered_by_the_next_app() -> None:
    async with InspectorApp().run_test(size=SIZE) as pilot:
        await show(pilot)
        await pilot.press("3", ">", ">", "1", "h")
    async with InspectorApp().run_test(size=SIZE) as pilot:
        workspace = await show(pilot)
        await pilot.pause()
        assert not workspace.query_one(ConversationPanel).region
        assert (
            workspace.query_one(DataPanel).size.width
            > workspace.query_one(TimelinePanel).size.width
        )


async def test_mouse_moves_the_border_between_columns() -> None:
    async with InspectorApp().run_test(size=SIZE) as pilot:
        workspace = await show(pilot)
        timeline = workspace.query_one(TimelinePanel)
        border = timeline.region.x
        await pilot.mouse_down(offset=(border, 10))
        await pilot.hover(offset=(border - 12, 10))
        await pilot.mouse_up(offset=(border - 12, 10))
        await pilot.pause()
        assert abs(timeline.region.x - (border - 12)) <= 1


async def test_mouse_moves_the_border_above_the_wire() -> None:
    async with InspectorApp().run_test(size=SIZE) as pilot:
        workspace = await show(pilot)
        await pilot.press("w")
        await pilot.pause()
        wire = workspace.query_one(WirePanel)
        top = wire.region.y
        await pilot.mouse_down(offset=(60, top))
        await pilot.hover(offset=(60, top - 5))
        await pilot.mouse_up(offset=(60, top - 5))
        await pilot.pause()
        assert abs(wire.region.y - (top - 5)) <= 1


async def test_wire_view_gives_back_the_place_it_was_opened_from(until: "Until") -> None:
    async with InspectorApp().run_test(size=SIZE) as pilot:
        workspace = await show(pilot)
        prompt = workspace.query_one(Prompt)
        await pilot.press("3", "w", "w")
        await until(pilot, lambda: workspace.query_one(DataPanel).has_focus)
        await pilot.press("i", "f2", "escape")
        await until(pilot, lambda: prompt.has_focus)
        assert not workspace.query_one(WirePanel).display


async def test_narrow_and_wide_screens_show_what_is_open_and_all_of_it(until: "Until") -> None:
    async with InspectorApp().run_test(size=SIZE) as pilot:
        workspace = await show(pilot)
        await pilot.press("w", "2")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not workspace.query_one(WirePanel).region)
        for entry in decode_entries(LOG.read_text(encoding="utf-8").splitlines()):
            workspace.take(entry)
        workspace.draw_now()
        await pilot.press("u")
        await until(pilot, lambda: workspace.query_one(DataPanel).has_focus)
        assert workspace.query_one(DataPanel).border_title == "3 Rules"
        await pilot.resize_terminal(*SIZE)
        listed = workspace.query_one("#exchanges", BlockList)
        await until(pilot, lambda: len(listed.blocks) == len(workspace.view.exchanges))


async def test_theme_chosen_by_a_key_is_that_of_the_next_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with InspectorApp().run_test(size=SIZE) as pilot:
        workspace = await show(pilot)
        await workspace.run_action("screen.do('theme')")
    assert InspectorApp().theme == "calm-light"
    monkeypatch.setenv("NO_COLOR", "1")
    assert InspectorApp().theme == "plain"
