"""The terminal is the editor's while a turn is edited, and the app's again after it."""

import asyncio
import os
import pty
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from inspector.errors import UsageError
from inspector.tui.external_programs import editor_of
from inspector.wire.json_values import at

if TYPE_CHECKING:
    from tests.inspector.tui.conftest import Agent

pytestmark = pytest.mark.anyio
PATIENCE_SECONDS = 60.0


@asynccontextmanager
async def app_in_a_terminal(url: str, editor: str) -> AsyncGenerator[tuple[int, list[bytes]]]:
    """Run the app on `url`; yield its keyboard, and what it has drawn so far."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    drawn: list[bytes] = []

    def read() -> None:
        # the terminal of a dead process answers EIO
        with suppress(OSError):
            drawn.append(os.read(ours, 65536))

    asyncio.get_running_loop().add_reader(ours, read)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "inspector", url, "--no-save"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "VISUAL": editor},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield ours, drawn
    finally:
        process.kill()
        await process.wait()
        asyncio.get_running_loop().remove_reader(ours)
        os.close(ours)


async def until(holds: Callable[[], object], step: Callable[[], Awaitable[None]]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():
            await step()


async def turn_of_the_loop() -> None:
    await asyncio.sleep(0)


@pytest.mark.req("TUI-1", "COMP-1")
async def test_text_comes_back_from_the_editor_and_is_sent(agent: "Agent", tmp_path: Path) -> None:
    agent.gate.set()
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho 'EDITOR IS OPEN'\necho ', said the editor' >> \"$2\"\n")
    editor.chmod(0o755)
    async with app_in_a_terminal(agent.url, f"{editor} --wait") as (keyboard, drawn):
        await until(lambda: b"Moves money" in b"".join(drawn), turn_of_the_loop)
        os.write(keyboard, b"hello\x05")
        await until(lambda: b"EDITOR IS OPEN" in b"".join(drawn), turn_of_the_loop)
        opened = len(drawn)
        await until(lambda: b"said the editor" in b"".join(drawn[opened:]), turn_of_the_loop)
        os.write(keyboard, b"\r")
        await until(lambda: agent.requests, turn_of_the_loop)
    text = at(agent.requests[0], "params", "message", "parts", 0, "text")
    assert text == "hello, said the editor"


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"VISUAL": "code --wait", "EDITOR": "ed"}, ["code", "--wait"]),
        ({"EDITOR": "'my editor' -n"}, ["my editor", "-n"]),
        ({}, ["vi"]),
    ],
)
def test_editor_is_the_users(environment: dict[str, str], words: list[str]) -> None:
    assert editor_of(environment) == words


def test_editor_with_an_open_quote_is_told() -> None:
    with pytest.raises(UsageError, match="No closing quotation"):
        editor_of({"EDITOR": "vi '"})
