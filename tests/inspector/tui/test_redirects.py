"""A turn that the agent redirects on its own origin: one turn, two exchanges on the wire."""

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import pytest
from textual.pilot import Pilot

from inspector.tui.app import InspectorApp
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.workspace import Workspace

if TYPE_CHECKING:
    from tests.inspector.conftest import RawServer
    from tests.inspector.tui.conftest import Until

pytestmark = pytest.mark.anyio
StartAgent: TypeAlias = "Callable[..., RawServer]"
SAID = {"kind": "text", "text": "hello"}
REPLY = {"kind": "message", "role": "agent", "messageId": "m", "parts": [SAID]}


async def redirect_once(head: str, body: bytes, writer: asyncio.StreamWriter) -> None:
    if head.startswith("POST /again"):
        envelope = {"jsonrpc": "2.0", "id": json.loads(body)["id"], "result": REPLY}
        raw = json.dumps(envelope).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        writer.write(b"Content-Length: %d\r\n\r\n" % len(raw) + raw)
    else:
        writer.write(b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /again\r\n")
        writer.write(b"Content-Length: 6\r\n\r\n<html>")


def text(pilot: Pilot[int], name: str) -> str:
    return "\n".join(one.plain for one in pilot.app.screen.query_one(name, BlockList).blocks)


@pytest.mark.req("WIRE-1", "TIME-1")
async def test_redirected_turn_is_one_turn_and_the_wire_says_where_from(
    start_agent: StartAgent, until: "Until"
) -> None:
    agent = start_agent(redirect_once)
    async with InspectorApp(agent.url).run_test(size=(160, 48)) as pilot:
        await until.connected(pilot)
        await pilot.press(*"welcome", "enter")
        await until(pilot, lambda: "hello" in text(pilot, "#conversation"))
        workspace = pilot.app.screen
        assert isinstance(workspace, Workspace)
        assert text(pilot, "#conversation").count("welcome") == 1
        assert "✗" not in text(pilot, "#conversation")
        assert text(pilot, "#timeline").count("welcome") == 1
        assert "✗" not in text(pilot, "#timeline")
        await pilot.press("escape", "w")
        card, first, second = workspace.view.exchanges
        await until(pilot, lambda: f"redirected from {first.id}" in text(pilot, "#bytes"))
        assert [one.redirected_from for one in (card, first, second)] == [None, None, first.id]
