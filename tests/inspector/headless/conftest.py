"""Folders of a user who has nothing saved yet, and an agent whose answer is known."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from inspector.wire.json_values import Json
    from tests.inspector.conftest import RawServer, StartAgent


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the test's sessions; its targets are in a folder of its own as well."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "state" / "a2a-inspect" / "sessions"


@pytest.fixture
def bank(start_agent: "StartAgent") -> "RawServer":
    """Completes each task and repeats what it was told, with a new task id each time."""
    return start_agent(_answer())


def _answer() -> Callable[[str, bytes, asyncio.StreamWriter], Awaitable[None]]:
    numbers = iter(range(1, 100))

    async def answer(_: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        request = json.loads(body)
        said = request["params"]["message"]["parts"][0]["text"]
        number = next(numbers)
        status: Json = {
            "state": "completed",
            "message": {
                "kind": "message",
                "role": "agent",
                "messageId": f"m-{number}",
                "parts": [{"kind": "text", "text": f"You said {said}, as t-{number}."}],
            },
        }
        task: Json = {"kind": "task", "id": f"t-{number}", "contextId": "c-1", "status": status}
        reply = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": task}).encode()
        head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
        writer.write(f"{head}Content-Length: {len(reply)}\r\n\r\n".encode() + reply)

    return answer
