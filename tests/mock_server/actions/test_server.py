"""The action server's replies, over a socket."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from mock_server.actions.server import ActionClient, ChildServer, open_http
from mock_server.actions.webhook import ActionCall
from mock_server.dialogue.model import Json
from mock_server.dialogue.outside import ActionResult, ActionServer, ActionServerKind
from mock_server.dialogue.state import Tracker, initial_state
from mock_server.errors import ActionServerFailed
from mock_server.project.load import assemble

pytestmark = pytest.mark.anyio

DOMAIN = "actions: [action_x]\nslots: {name: {type: text}}\n"
FLOWS = "flows: {f: {description: d, steps: [{action: action_x}]}}"


@dataclass
class Server:
    """Says `replies` one after the other, the last again and again; `asked` are the bodies."""

    replies: list[tuple[int, bytes]]
    asked: list[dict[str, Json]] = field(default_factory=list[dict[str, Json]])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(
            int(line.partition(":")[2])
            for line in head.splitlines()
            if line.lower().startswith("content-length")
        )
        self.asked.append(json.loads(await reader.readexactly(length)))
        status, body = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        writer.write(
            b"HTTP/1.1 %d x\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b"
            % (status, len(body), body)
        )
        await writer.drain()
        writer.close()


@asynccontextmanager
async def serving(*replies: tuple[int, bytes]) -> AsyncGenerator[tuple[Server, ActionClient]]:
    server = Server(list(replies))
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with open_http(60) as http:
        yield server, ActionClient(http, f"http://127.0.0.1:{port}/webhook")
    listening.close()
    await listening.wait_closed()


def action() -> ActionCall:
    assistant = assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS})
    return ActionCall("action_x", initial_state(assistant), Tracker("c1"), assistant)


OK = (200, b'{"events": [{"event": "slot", "name": "name", "value": "Ada"}], "responses": []}')
DONE = ActionResult(slots=(("name", "Ada"),))


async def test_domain_is_sent_until_the_server_knows_it() -> None:
    call = action()
    async with serving(OK) as (server, client):
        assert [await client.perform(call) for _ in range(3)] == [DONE] * 3
        assert ["domain" in body for body in server.asked] == [True, False, False]


async def test_domain_is_sent_again_to_a_server_that_forgot_it() -> None:
    call = action()
    missing = (449, b'{"error": "no domain", "action_name": "action_x"}')
    async with serving(OK, missing, OK) as (server, client):
        assert [await client.perform(call) for _ in range(2)] == [DONE] * 2
        assert ["domain" in body for body in server.asked] == [True, False, True]


async def test_half_a_surrogate_pair_reaches_the_server() -> None:
    call = action()
    said = replace(call, state=replace(call.state, user_text="half \ud800"))
    async with serving(OK) as (server, client):
        assert await client.perform(said) == DONE
    (body,) = server.asked
    tracker = body["tracker"]
    assert isinstance(tracker, dict)
    message = tracker["latest_message"]
    assert isinstance(message, dict)
    assert message["text"] == "half \ud800"


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (400, b'{"error": "rejected"}', "the action server replied 400: rejected"),
        (404, b'{"error": "unknown"}', "the action server replied 404: unknown"),
        (449, b'{"error": "no domain"}', "the action server replied 449: no domain"),
        (500, b"nonsense", "the action server replied 500"),
        (500, b'{"error": 5}', "the action server replied 500"),
        (200, b"nonsense", "sent no object with events and responses"),
        pytest.param(200, b"[" * 100_000, "sent no object with events and responses", id="deep"),
        (200, b"[]", "sent no object with events and responses"),
    ],
)
async def test_reply_that_is_no_success_fails_the_action(
    status: int, body: bytes, reason: str
) -> None:
    async with serving((status, body)) as (_, client):
        result = await client.perform(action())
    assert result.failure == {"action": "action_x"}
    assert result.warnings[0].endswith(reason)


async def test_server_that_is_not_there_fails_the_action() -> None:
    async with serving(OK) as (_, client):
        pass
    async with open_http(60) as http:
        client = ActionClient(http, "http://127.0.0.1:1/webhook")
        result = await client.perform(action())
    assert result.failure == {"action": "action_x"}
    assert "http://127.0.0.1:1/webhook is unavailable: ConnectError" in result.warnings[0]


RASA_SDK = """
import os, pathlib, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Healthy(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass

assert __name__ == "__main__"
with pathlib.Path("started").open("a") as started:
    print(os.getpid(), *sys.argv[1:3], file=started)
HTTPServer(("127.0.0.1", int(sys.argv[-1])), Healthy).serve_forever()
"""
# A parent that starts the child, says so, and is killed.
PARENT = """
import asyncio, sys
from mock_server.actions.server import ChildServer, open_http
from mock_server.dialogue.outside import ActionServer, ActionServerKind

async def main():
    server = ActionServer(
        ActionServerKind.CHILD, python=sys.executable, module="actions", folder=sys.argv[1]
    )
    async with open_http(60.0) as http:
        await ChildServer(server, http).restart()
        print("started", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rasa_sdk.py").write_text(RASA_SDK, encoding="utf-8")
    return tmp_path


def server_in(folder: Path, python: str = sys.executable) -> ActionServer:
    return ActionServer(ActionServerKind.CHILD, python=python, module="actions", folder=str(folder))


def started(folder: Path) -> list[str]:
    return (folder / "started").read_text().splitlines()


@pytest.mark.anyio
async def test_child_runs_rasa_sdk_in_the_projects_folder(folder: Path) -> None:
    async with open_http(60.0) as http:
        child = ChildServer(server_in(folder), http)
        await child.restart()
        await child.stop()
    (line,) = started(folder)
    pid, *arguments = line.split()
    assert arguments == ["--actions", "actions"]
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


@pytest.mark.anyio
async def test_new_child_takes_over(folder: Path) -> None:
    async with open_http(60.0) as http:
        child = ChildServer(server_in(folder), http)
        await child.restart()
        await child.restart()
        first, second = (int(line.split()[0]) for line in started(folder))
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)
        os.kill(second, 0)
        await child.stop()


@pytest.mark.anyio
async def test_actions_that_find_the_child_dead_share_the_next_one(folder: Path) -> None:
    call = action()
    async with open_http(60.0) as http:
        child = ChildServer(server_in(folder), http)
        await child.restart()
        await child.stop()
        results = await asyncio.gather(*(child.perform(call) for _ in range(3)))
        await child.stop()
    assert results == [ActionResult()] * 3
    assert len(started(folder)) == 2


@pytest.mark.anyio
async def test_child_that_ends_at_once_is_told(folder: Path) -> None:
    (folder / "rasa_sdk.py").write_text("raise SystemExit(3)", encoding="utf-8")
    async with open_http(60.0) as http:
        with pytest.raises(ActionServerFailed, match="has ended with 3"):
            await ChildServer(server_in(folder), http).restart()


def test_child_ends_when_its_parent_is_killed(folder: Path) -> None:
    line = [sys.executable, "-c", PARENT, str(folder)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as parent:
        assert parent.stdout
        assert b"started\n" in iter(parent.stdout.readline, b"")
        parent.send_signal(signal.SIGKILL)
        # The child writes to the same pipe: it closes when the last of them has ended.
        parent.communicate(timeout=60)
    assert parent.returncode == -signal.SIGKILL
