"""What an export says to run is run: the request arrives byte for byte as it was first sent."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from inspector.cli import main
from inspector.core.saved.recording import read_session
from inspector.core.saved.session_store import session_paths
from inspector.views.session_exports import export

if TYPE_CHECKING:
    from tests.inspector.conftest import RawServer

TEXT = 'it\'s 50 € for "Joe" \\ $HOME `id`\nnow'


def received(server: "RawServer") -> list[tuple[dict[str, str], bytes]]:
    """The turns as they arrived, without the headers that each client writes itself."""
    own = {"host", "connection", "accept-encoding", "user-agent", "content-length"}
    turns: list[tuple[dict[str, str], bytes]] = []
    for head, body in server.requests:
        if head.startswith("POST"):
            pairs = (line.split(": ", 1) for line in head.strip().split("\r\n")[1:])
            headers = {name.lower(): value for name, value in pairs}
            turns.append(({k: v for k, v in headers.items() if k not in own}, body))
    return turns


@pytest.mark.req("WIRE-1", "WIRE-3")
@pytest.mark.parametrize(("form", "program"), [("curl", "curl"), ("httpx", "python3")])
def test_exported_program_sends_the_same_again(
    form: str,
    program: str,
    sessions: Path,
    bank: "RawServer",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    monkeypatch.setenv("BANK_TOKEN", "token-of-the-bank")
    flags = ["--token-env", "BANK_TOKEN", "--slot", "vip=true"]
    assert main(["send", bank.url, TEXT, *flags]) == 0
    (path,) = session_paths(sessions)
    file = sessions.parent / f"exported.{form}"
    file.write_bytes(export(read_session(path), form, "1"))
    run = subprocess.run(
        ["/bin/sh" if form == "curl" else sys.executable, file],
        env={"PATH": os.environ["PATH"], "AUTHORIZATION": "Bearer token-of-the-bank"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    first, again = received(bank)
    assert again == first
    assert again[0]["authorization"] == "Bearer token-of-the-bank"
    assert "You said it's 50" in run.stdout
