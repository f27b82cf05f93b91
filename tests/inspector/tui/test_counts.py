"""Replies that hold very many things: the panels fold them, and still give all of them."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from textual.pilot import Pilot

from inspector.core.entries import (
    Channel,
    Entry,
    FrameReceived,
    Purpose,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.tui.app import InspectorApp
from inspector.tui.card_screen import CardScreen
from inspector.tui.data_panel import DataPanel
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.drawing.json_lines import MOST_LINES, Fold, folded, tree
from inspector.tui.panels import Panels
from inspector.tui.timeline_panel import TimelinePanel
from inspector.tui.workspace import Workspace
from inspector.views import log_views
from inspector.wire.json_values import Json

pytestmark = [pytest.mark.anyio, pytest.mark.req("CONN-5")]
MANY = 1000


def reply(content: Json, purpose: Purpose = Purpose.SEND) -> list[Entry]:
    """An exchange with `content` as its result, or as its card."""
    asked: Json = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {}}}
    body = {"jsonrpc": "2.0", "id": 1, "result": content}
    raw = json.dumps(content if purpose is Purpose.CARD else body).encode()
    return [
        RequestSent(1, 0, 1, purpose, "POST", "http://a/", (), json.dumps(asked).encode()),
        ResponseStarted(2, 1, 1, 200, "HTTP/1.1", (("content-type", "application/json"),)),
        FrameReceived(3, 2, 1, Channel.RESPONSE, raw),
        ResponseEnded(4, 3, 1),
    ]


def task(**more: Json) -> Json:
    return {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed"}, **more}


@asynccontextmanager
async def shown(content: Json, purpose: Purpose = Purpose.SEND) -> AsyncGenerator[Pilot[int]]:
    async with InspectorApp().run_test(size=(160, 48)) as pilot:
        started = datetime(2026, 11, 21, tzinfo=UTC)
        screen = Workspace("many", None, started=started, now_ms=lambda: 0.0)
        await pilot.app.push_screen(screen)
        screen.query_one(Panels).show_views(log_views.fold(reply(content, purpose)))
        await pilot.pause()
        yield pilot


def lines(blocks: BlockList) -> list[str]:
    return [block.plain.strip() for block in blocks.blocks]


async def test_many_artifacts_fold_to_ranges_that_open() -> None:
    data: Json = [
        {"artifactId": f"a{number}", "parts": [{"kind": "data", "data": {"number": number}}]}
        for number in range(MANY)
    ]
    async with shown(task(artifacts=data)) as pilot:
        panel = pilot.app.screen.query_one(DataPanel)
        ranges = [line for line in lines(panel) if "artifacts" in line]
        assert len(ranges) == 10
        assert len(panel.source) < 20
        await pilot.press("escape", "3", "end", "space")
        drawn = "\n".join(lines(panel))
        assert "▤ a999" in drawn
        assert "▤ a899" not in drawn
        await pilot.press("space")
        assert "▤ a999" not in "\n".join(lines(panel))


async def test_filter_finds_what_is_folded() -> None:
    data: Json = [
        {"artifactId": f"a{number}", "parts": [{"kind": "data", "data": {"word": f"w{number}w"}}]}
        for number in range(MANY)
    ]
    async with shown(task(artifacts=data)) as pilot:
        panel = pilot.app.screen.query_one(DataPanel)
        panel.filter_by("w512w")
        assert [line for line in lines(panel) if "w512w" in line]
        assert not [line for line in lines(panel) if "w511w" in line]
        panel.filter_by("word")
        assert "… word: in 900 more artifacts" in lines(panel)


async def test_many_parts_and_files_fold_too() -> None:
    parts: list[Json] = [{"kind": "data", "data": {"number": number}} for number in range(MANY)]
    file: Json = {"kind": "file", "file": {"name": "f", "bytes": "YQ=="}}
    parts += [file] * MANY
    said: Json = {"kind": "message", "role": "agent", "messageId": "m", "parts": parts}
    async with shown(task(status={"state": "completed", "message": said})) as pilot:
        panel = pilot.app.screen.query_one(DataPanel)
        assert "DataParts 901 to 1,000" in "\n".join(lines(panel))
        assert "files 901 to 1,000" in "\n".join(lines(panel))
        assert len(panel.source) < 40


async def test_many_findings_of_one_update_are_counted() -> None:
    async with shown(task(artifacts=[{} for _ in range(MANY)])) as pilot:
        panel = pilot.app.screen.query_one(TimelinePanel)
        text = panel.blocks[-1].plain
        assert len(text.splitlines()) < 110
        assert "more findings" in text
        assert panel.source.top(len(panel.source)) == sum(
            len(panel.source.lines(index)) for index in range(len(panel.source))
        )


async def test_many_skills_fold_and_are_found() -> None:
    skills: Json = [
        {"id": f"s{number}", "name": f"skill {number}", "examples": [f"say {number}"]}
        for number in range(MANY)
    ]
    async with shown({"name": "many", "skills": skills}, Purpose.CARD) as pilot:
        await pilot.press("escape", "c")
        await pilot.pause()
        assert isinstance(pilot.app.screen, CardScreen)
        pane = pilot.app.screen.query_one(BlockList)
        assert len([line for line in lines(pane) if " skills " in line]) == 10
        assert "skill 512" not in "\n".join(lines(pane))
        await pilot.press("slash", *"say 512", "enter")
        found = "\n".join(line for line in lines(pane) if "say 512" in line)
        assert "skills 501 to 600" in found
        assert "1 with “say 512”" in found
        pane.focus()
        await pilot.press("space")
        assert "“say 512”" in lines(pane)


def test_ranges_hold_every_place_once() -> None:
    def places(count: int, opened: set[str]) -> list[int]:
        found: list[int] = []
        for one in folded(count, "n", opened):
            if isinstance(one, Fold):
                opened = opened | {one.name}
        for one in folded(count, "n", opened):
            if isinstance(one, int):
                found.append(one)
        return found if len(found) == count else places(count, opened)

    for count in (0, 1, 100, 101, 1000, 10_001):
        assert places(count, set()) == list(range(count))
        assert len([*folded(count, "n", set())]) <= 100


def test_tree_of_very_many_lines_ends_with_how_to_see_more() -> None:
    wide: Json = [[list(range(50)) for _ in range(50)] for _ in range(50)]
    drawn = [line.text.plain for line in tree("wide", wide, path="wide", toggled=set())]
    assert len(drawn) == MOST_LINES + 1
    assert "close branches" in drawn[-1]
