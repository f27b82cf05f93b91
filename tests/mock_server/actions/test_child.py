"""The child process: a stand-in for rasa-sdk that answers, hangs, or does not come up."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mock_server.actions.child import ChildServer
from mock_server.actions.client import open_http
from mock_server.dialogue.action_server import ActionServer, ActionServerKind
from mock_server.errors import ActionServerFailed

RASA_SDK = """
import os, pathlib, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Healthy(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

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
from mock_server.actions.child import ChildServer
from mock_server.actions.client import open_http
from mock_server.dialogue.action_server import ActionServer, ActionServerKind

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
