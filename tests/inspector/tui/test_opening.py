"""Payloads in a pager, and files of parts on disk: only where and when the user says so."""

import json
import stat
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from inspector.core.entries import (
    Channel,
    Entry,
    FrameReceived,
    Purpose,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.errors import UsageError
from inspector.tui import app as app_module
from inspector.tui.app import InspectorApp
from inspector.tui.data_panel import DataPanel
from inspector.tui.external_programs import pager_of, view_outside, visible
from inspector.tui.keys import KeyBar
from inspector.tui.workspace import Workspace
from inspector.wire.json_values import Json

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Until


pytestmark = pytest.mark.anyio
HOSTILE = "\x1b]52;c;cHduZWQ=\x07\u202e[bold]\u200b"


class TerminalApp(InspectorApp):
    """Gives its terminal away as on a real one; the test has none."""

    CSS_PATH = Path(app_module.__file__).with_name("app.tcss")

    @contextmanager
    def suspend(self) -> Generator[None]:
        yield


def answered(parts: list[Json]) -> list[Entry]:
    body: Json = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {}}}
    message = {"kind": "message", "role": "agent", "messageId": "m", "parts": parts}
    reply = {"jsonrpc": "2.0", "id": 1, "result": message}
    return [
        RequestSent(1, 0, 1, Purpose.SEND, "POST", "http://x/", (), json.dumps(body).encode()),
        ResponseStarted(2, 1, 1, 200, "HTTP/1.1", (("content-type", "application/json"),)),
        FrameReceived(3, 2, 1, Channel.RESPONSE, json.dumps(reply).encode()),
        ResponseEnded(4, 3, 1),
    ]


@asynccontextmanager
async def shown(entries: list[Entry], app: InspectorApp) -> AsyncGenerator[Pilot[int]]:
    async with app.run_test(size=(120, 36)) as pilot:
        now = datetime(2026, 11, 20)
        workspace = Workspace("localhost", None, started=now, now_ms=lambda: 0.0)
        await app.push_screen(workspace)
        await pilot.pause()
        for entry in entries:
            workspace.take(entry)
        workspace.draw_now()
        await pilot.press("escape", "3")
        await pilot.pause()
        yield pilot


def notice(pilot: Pilot[int]) -> str:
    return pilot.app.screen.query_one(KeyBar).notice


PICTURE: Json = {
    "kind": "file",
    "file": {"name": "../map.png", "mimeType": "image/png", "bytes": "iVBORw=="},
}


@pytest.mark.req("DATA-2")
async def test_file_is_told_with_type_and_size_and_saved_where_the_user_says(
    tmp_path: Path, until: "Until"
) -> None:
    async with shown(answered([PICTURE]), InspectorApp()) as pilot:
        lines = [block.plain for block in pilot.app.screen.query_one(DataPanel).blocks]
        assert any("../map.png  image/png  4 B" in line for line in lines)
        await pilot.press("W")
        field = pilot.app.screen.query_one("#save Input", Input)
        await until(pilot, lambda: field.has_focus)
        assert field.value == "map.png"
        field.value = str(tmp_path / "kept.png")
        await pilot.press("enter")
        await until(pilot, lambda: "saved" in notice(pilot))
        assert (tmp_path / "kept.png").read_bytes() == b"\x89PNG"


@pytest.mark.req("DATA-2")
async def test_file_that_is_there_is_never_written_over(tmp_path: Path, until: "Until") -> None:
    (tmp_path / "kept").write_text("mine")
    async with shown(answered([PICTURE]), InspectorApp()) as pilot:
        await pilot.press("W")
        field = pilot.app.screen.query_one("#save Input", Input)
        await until(pilot, lambda: field.has_focus)
        field.value = str(tmp_path / "kept")
        await pilot.press("enter")
        await until(pilot, lambda: "exists already" in notice(pilot))
        assert (tmp_path / "kept").read_text() == "mine"


@pytest.mark.req("DATA-2")
async def test_home_of_nobody_is_not_saved_to(until: "Until") -> None:
    async with shown(answered([PICTURE]), InspectorApp()) as pilot:
        await pilot.press("W")
        field = pilot.app.screen.query_one("#save Input", Input)
        await until(pilot, lambda: field.has_focus)
        field.value = "~no-such-user/kept.png"
        await pilot.press("enter")
        await until(pilot, lambda: "not saved" in notice(pilot))


@pytest.mark.req("DATA-2", "TUI-5")
async def test_file_that_lies_elsewhere_is_named_and_not_fetched() -> None:
    link: Json = {"kind": "file", "file": {"uri": "https://evil.example/x"}}
    async with shown(answered([link]), InspectorApp()) as pilot:
        lines = [block.plain for block in pilot.app.screen.query_one(DataPanel).blocks]
        assert any("https://evil.example/x" in line for line in lines)
        await pilot.press("W")
        assert "only where it is" in notice(pilot)


@pytest.mark.req("TUI-1", "TUI-5")
async def test_pager_gets_every_byte_and_no_control_character(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: "Until"
) -> None:
    pager = tmp_path / "pager"
    pager.write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/seen\n')
    pager.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PAGER", str(pager))
    entries = answered([{"kind": "text", "text": HOSTILE}])
    async with shown(entries, TerminalApp()) as pilot:
        await pilot.press("1", "v")
        await until(pilot, (tmp_path / "seen").exists)
    seen = (tmp_path / "seen").read_text(encoding="utf-8")
    assert "\\\\u001b]52" in seen or "\\u001b]52" in seen
    assert seen.isprintable()


@pytest.mark.req("TUI-1")
async def test_terminal_that_cannot_be_given_away_is_said(until: "Until") -> None:
    async with shown(answered([]), InspectorApp()) as pilot:
        await pilot.press("1", "v")
        await until(pilot, lambda: "cannot be handed over" in notice(pilot))


async def test_pager_that_is_not_there_is_said() -> None:
    app = TerminalApp()
    async with app.run_test():
        with pytest.raises(UsageError, match="No such file"):
            await view_outside(app, "text", ".txt", ["/no/such/pager"])


@pytest.mark.req("TUI-5")
@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"plain\n\ttext", "plain\n\ttext"),
        (b"\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("\u202eabc\u200b".encode(), "\\u202eabc\\u200b"),
        (b"\xff\x9b", "\\xff\\x9b"),
        ("é\x85".encode(), "é\\x85"),
    ],
)
def test_visible(raw: bytes, text: str) -> None:
    assert visible(raw) == text


def test_pager_is_the_users_own() -> None:
    assert pager_of({"PAGER": "less -S"}) == ["less", "-S"]
    assert pager_of({}) == ["less"]
    with pytest.raises(UsageError, match=r"\$PAGER"):
        pager_of({"PAGER": "'"})
