"""Secrets of a protected conversation stand nowhere: not in files, exports, lists of processes."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from inspector.cli import main
from inspector.core.recorded_session import reopen_session
from inspector.core.saved.recording import SessionHeader, encode_header
from inspector.errors import UsageError
from inspector.headless.options import EXPORT_FORMATS
from inspector.settings import Connection

if TYPE_CHECKING:
    from tests.inspector.conftest import RawServer, StartAgent

KEY = "hunter2-of-the-bank-with-32-bytes"
TENANT = "tenant-north-west-4711"
FLAGS = ("--jwt-alg", "HS256", "--jwt-secret-env", "BANK_KEY", "--header", "X-Tenant: ${TENANT}")


def inspect(*words: str) -> "subprocess.Popen[bytes]":
    """Start `a2a-inspect WORDS` with the secrets in its environment, where they belong."""
    return subprocess.Popen(
        [sys.executable, "-m", "inspector", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "BANK_KEY": KEY, "TENANT": TENANT},
    )


def output_of(*words: str) -> bytes:
    out, err = inspect(*words).communicate(timeout=60)
    return out + err


@dataclass(frozen=True)
class Held:
    """An agent that answers with the headers that it got, once it is let go."""

    server: "RawServer"
    was_asked: threading.Event
    let_go: threading.Event


@pytest.fixture
def held(start_agent: "StartAgent") -> Iterator[Held]:
    was_asked, let_go = threading.Event(), threading.Event()

    async def answer(head: str, _: bytes, writer: asyncio.StreamWriter) -> None:
        was_asked.set()
        await asyncio.to_thread(let_go.wait, 60)
        reply = head.encode()
        length = f"Content-Length: {len(reply)}\r\n"
        writer.write(f"HTTP/1.1 401 No\r\n{length}Connection: close\r\n\r\n".encode() + reply)

    yield Held(start_agent(answer), was_asked, let_go)
    let_go.set()


def processes() -> str:
    """What anybody on this machine can read of the commands that run."""
    lines: list[str] = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(file.read_bytes().decode(errors="replace"))
        except OSError:
            # it has ended meanwhile
            continue
    return "\n".join(lines)


def token_of(server: "RawServer") -> str:
    """The token that the server was sent."""
    head, _ = server.requests[-1]
    (line,) = (line for line in head.split("\r\n") if line.lower().startswith("authorization:"))
    return line.rpartition(" ")[2]


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
@pytest.mark.req("CONN-3", "SESS-1", "WIRE-3")
def test_secrets_of_a_conversation_stand_nowhere(
    sessions: Path,
    held: Held,
    secret: Callable[[str], str],
) -> None:
    told = output_of("targets", "add", "bank", held.server.url, *FLAGS)
    sending = inspect("send", "bank", "-", "--json")
    assert sending.stdin is not None
    sending.stdin.write(f"my key is {KEY}".encode())
    sending.stdin.close()
    sending.stdin = None
    assert held.was_asked.wait(60)
    seen = processes()
    assert "send\0bank\0-\0--json" in seen
    held.let_go.set()
    told += b"".join(sending.communicate(timeout=60))
    for form in EXPORT_FORMATS:
        told += output_of("sessions", "export", "last", "--format", form)
    for words in (("list",), ("show", "last"), ("list", "--json"), ("show", "last", "--json")):
        told += output_of("sessions", *words)
    told += output_of("targets", "list")
    files = [path for path in sessions.parents[2].rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".jsonl", ".json"}
    written = b"".join(path.read_bytes() for path in files)
    for one in (secret(KEY), secret(TENANT), secret(token_of(held.server))):
        assert one.encode() not in told
        assert one.encode() not in written
        assert one not in seen
    assert b"my key is ***" in written


@pytest.mark.req("CONN-3", "SESS-1")
def test_a_secret_in_the_targets_url_is_never_saved(
    start_agent: "StartAgent", sessions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [{"kind": "text", "text": "you are hunter2-hunter2"}]
    message = {"kind": "message", "messageId": "m", "role": "agent", "parts": parts}
    url = start_agent(result=message).url
    assert main(["send", f"{url}?api_key=hunter2-hunter2", "hi"]) == 0
    assert main(["sessions", "list"]) == 0
    assert main(["targets", "add", "bank", f"{url}?token=hunter2-hunter2"]) == 2
    out, err = capsys.readouterr()
    assert "hunter2" not in out + err
    assert all("hunter2" not in path.read_text() for path in sessions.glob("*.jsonl"))


@pytest.mark.req("SESS-1")
def test_a_masked_target_is_not_called_again(sessions: Path, tmp_path: Path) -> None:
    started = datetime.fromisoformat("2026-11-20T10:02:10.250+01:00")
    header = SessionHeader("7f3a1c09", "http://agent.test?token=***", started, "0.1.0")
    path = tmp_path / "session.jsonl"
    path.write_text(encode_header(header) + "\n")
    with pytest.raises(UsageError, match="held a secret, which is not saved"):
        reopen_session(path, Connection(is_saved=False), pytest.fail)
