"""Agents that mean ill or know no better: the app stays up, the terminal clean, the bytes there."""

import asyncio
import json
import unicodedata
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

import pytest
from textual.pilot import Pilot

from inspector.core.entries import Purpose
from inspector.tui.app import InspectorApp
from inspector.tui.composing.composer import Composer
from inspector.tui.conversation_panel import ConversationPanel
from inspector.tui.drawing.block_list import Block, BlockList
from inspector.tui.header import ConnectionState, Header
from inspector.tui.timeline_panel import TimelinePanel
from inspector.tui.workspace import Workspace
from inspector.views.exports import exchange_bytes
from inspector.wire.json_values import Json

if TYPE_CHECKING:
    from tests.inspector.conftest import RawServer
    from tests.inspector.tui.conftest import Until

pytestmark = [pytest.mark.anyio, pytest.mark.req("CONN-5", "TUI-5")]
StartAgent: TypeAlias = "Callable[..., RawServer]"
Clean: TypeAlias = Callable[[Pilot[int]], None]
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
HOSTILE_TEXTS = {
    "markup": "[bold red]red[/bold red] [@click=app.quit]quit[/]",
    "ansi": "\x1b[31mred\x1b[2J\x1b[H",
    "osc52": "\x1b]52;c;cHduZWQ=\x07 and \x9d52;c;cHduZWQ=\x9c",
    "title": "\x1b]0;owned\x07text",
    "bidi": "\u202eevil\u202c \u2066isolated\u2069",
    "zero width": "pa\u200bss\u2060wo\ufeffrd",
    "controls": "".join(chr(code) for code in (*range(9), *range(11, 32), *range(0x7F, 0xA0))),
    "wide": "\N{FAMILY}\u200d\N{FIRE}界" * 50,
    "long": "x" * 200_000,
}
# What a terminal obeys, or what turns the direction of all that follows.
OBEYED = {"\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"}


def status(state: Json, text: Json, *, final: bool = True) -> bytes:
    update: Json = {
        "kind": "status-update",
        "taskId": "t",
        "contextId": "c",
        "final": final,
        "status": {
            "state": state,
            "message": {
                "kind": "message",
                "role": "agent",
                "messageId": "m",
                "parts": [{"kind": "text", "text": text}],
            },
        },
    }
    return b"data: " + json.dumps({"jsonrpc": "2.0", "id": 1, "result": update}).encode() + b"\n\n"


@asynccontextmanager
async def talking(url: str, until: "Until") -> AsyncGenerator[Pilot[int]]:
    """Connect to `url` and send one turn."""
    async with InspectorApp(url).run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: is_connected(pilot))
        await pilot.press(*"hello", "enter")
        yield pilot


def is_connected(pilot: Pilot[int]) -> bool:
    headers = pilot.app.screen.query(Header)
    return any(header.view.connection is ConnectionState.CONNECTED for header in headers)


def is_over(pilot: Pilot[int]) -> bool:
    workspace = pilot.app.screen
    assert isinstance(workspace, Workspace)
    return len(workspace.view.tasks) > 0 and not workspace.view.running


def is_cancel_answered(pilot: Pilot[int]) -> bool:
    workspace = pilot.app.screen
    assert isinstance(workspace, Workspace)
    exchanges = workspace.view.exchanges
    return any(one.purpose is Purpose.CANCEL and not one.is_running for one in exchanges)


@pytest.fixture
def assert_clean(screen_text: Callable[[Pilot[int]], str]) -> Clean:
    """Return what asserts that every letter on the screen is one that a terminal only draws."""

    def check(pilot: Pilot[int]) -> None:
        letters = set(screen_text(pilot)) - {"\n"}
        assert not {letter for letter in letters if unicodedata.category(letter) in ("Cc", "Cs")}
        assert not letters & OBEYED

    return check


def raw_of_last(pilot: Pilot[int]) -> bytes:
    workspace = pilot.app.screen
    assert isinstance(workspace, Workspace)
    return exchange_bytes(workspace.view.exchanges[-1])


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
async def test_text_is_drawn_as_text_in_every_panel(
    start_agent: StartAgent, until: "Until", assert_clean: Clean, text: str
) -> None:
    answer = STREAM_HEAD + status("input-required", text)
    agent = start_agent(answer, {"name": text, "description": text})
    async with talking(agent.url, until) as pilot:
        await until(pilot, lambda: is_over(pilot))
        for keys in (("escape", "2"), ("3",), ("w",), ("p",), ("f3",)):
            await pilot.press(*keys)
            await pilot.pause()
            assert_clean(pilot)
        assert not pilot.app.clipboard
        await pilot.press("escape")
        assert json.dumps(text).encode() in raw_of_last(pilot)


async def test_card_that_leads_to_no_url_is_shown(
    start_agent: StartAgent, until: "Until", assert_clean: Clean
) -> None:
    agent = start_agent(STREAM_HEAD, {"url": "http://[::1:70000\x1b[2J/"})
    async with InspectorApp(agent.url).run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: is_connected(pilot))
        await pilot.press("escape", "c")
        await pilot.pause()
        assert_clean(pilot)


@pytest.mark.parametrize(
    "reply",
    [
        status("on-fire", "unknown state"),
        status(17, "a number for a state"),
        status(None, 3),
        b"data: [1, 2, 3]\n\n",
        b'data: {"jsonrpc": "2.0", "id": 1, "result": {"kind": 5, "status": []}}\n\n',
        b'data: {"jsonrpc": "2.0", "id": 1, "result": {"kind": "\\u001b[2J\\u009b5n"}}\n\n',
        b"data: nonsense\n\n",
        b"\xff\xfe\x00\n\n",
        b'data: {"jsonrpc":"2.0","id":1,"result":' + b"[" * 5000 + b"]" * 5000 + b"}\n\n",
    ],
    ids=["state", "number", "null", "list", "types", "kind", "no json", "no utf-8", "deep"],
)
async def test_reply_of_another_shape_is_told_and_the_bytes_are_there(
    start_agent: StartAgent, until: "Until", assert_clean: Clean, reply: bytes
) -> None:
    agent = start_agent(STREAM_HEAD + reply)
    async with talking(agent.url, until) as pilot:
        await until(pilot, lambda: is_over(pilot))
        assert_clean(pilot)
        await pilot.press("escape", "w")
        await pilot.pause()
        assert_clean(pilot)
        assert reply in raw_of_last(pilot)
        pane = pilot.app.screen.query_one("#bytes", BlockList)
        assert len(pane.source) > 1


async def test_body_of_fifty_megabytes_is_cut_off_with_a_word(
    start_agent: StartAgent, until: "Until", assert_clean: Clean
) -> None:
    async def pour(_head: str, _body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + b"data: ")
        for _ in range(50):
            writer.write(b"x" * 1024 * 1024)
            await writer.drain()

    agent = start_agent(pour)
    async with talking(agent.url, until) as pilot:
        await until(pilot, lambda: is_over(pilot))
        said = "\n".join(block.plain for block in blocks(pilot, ConversationPanel))
        assert "✗" in said
        await pilot.press("escape", "w")
        await pilot.pause()
        assert_clean(pilot)


async def test_stream_that_never_ends_is_shown_while_it_runs_and_can_be_stopped(
    start_agent: StartAgent, until: "Until", assert_clean: Clean
) -> None:
    stopped = asyncio.Event()

    async def stream(head: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD)
        while b"message/stream" in body and not stopped.is_set():
            writer.write(status("working", "still at it", final=False))
            await writer.drain()
            await asyncio.sleep(0.005)

    agent = start_agent(stream)
    async with talking(agent.url, until) as pilot:
        await until(pilot, lambda: len(blocks(pilot, TimelinePanel)) > 50)
        await pilot.press("ctrl+x")
        await until(pilot, lambda: is_cancel_answered(pilot))
        await pilot.press("ctrl+x")
        await until(pilot, lambda: is_over(pilot))
        assert_clean(pilot)
        stopped.set()


@pytest.mark.req("TIME-2")
async def test_keys_are_answered_during_a_burst_and_nothing_is_lost(
    start_agent: StartAgent, until: "Until"
) -> None:
    """A thousand events as fast as a socket gives them, while a sentence is typed."""
    count = 1000

    async def burst(_head: str, _body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD)
        for number in range(count - 1):
            writer.write(status("working", f"step {number}", final=False))
            await writer.drain()
        writer.write(status("completed", "done"))

    agent = start_agent(burst)
    text = "the quick brown fox jumps over the lazy dog"
    async with talking(agent.url, until) as pilot:
        for letter in text:
            await pilot.press(letter)
        assert pilot.app.screen.query_one(Composer).prompt.text == text
        await until(pilot, lambda: is_over(pilot))
        await until(pilot, lambda: "done" in blocks(pilot, ConversationPanel)[-1].plain)
        workspace = pilot.app.screen
        assert isinstance(workspace, Workspace)
        assert len(workspace.view.tasks[-1].updates) == count
        assert len(workspace.query_one(TimelinePanel).source) == count + 1


def blocks(pilot: Pilot[int], panel: type[BlockList]) -> list[Block]:
    source = pilot.app.screen.query_one(panel).source
    return [source[index] for index in range(len(source))]
