"""The demo without a terminal: the tour is printed whole, and nothing is left running."""

import os
import re
import signal
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-m", "inspector", "demo"]


@pytest.mark.req("CLI-1")
def test_the_tour_shows_every_state() -> None:
    done = subprocess.run(
        COMMAND, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    states = re.findall(r"^(?:\s+[\d.]+ m?s  )?[○◌◐✓✗⊘R] ([\w-]+)", done.stdout, re.MULTILINE)
    assert set(states) >= {
        "input-required",
        "working",
        "completed",
        "canceled",
        "rejected",
        "failed",
    }
    assert "seeded" in done.stdout
    assert "persisted" in done.stdout
    assert done.stdout.count("▤ artifact") > 1
    assert "\x1b" not in done.stdout
    assert not _is_listening(done.stdout)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_tour_leaves_no_agent_behind(number: signal.Signals, status: int) -> None:
    process = subprocess.Popen(
        COMMAND,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if "A transfer" in line:
            break
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in err
    assert not _is_listening(seen)


def test_an_agent_that_does_not_start_is_diagnosed(tmp_path: os.PathLike[str]) -> None:
    environment = {**os.environ, "SANIC_WORKERS": "2"}
    done = subprocess.run(
        COMMAND,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode == 3
    assert "the bundled agent did not start" in done.stderr
    assert "incompatible_sanic_workers" in done.stderr
    assert "Traceback" not in done.stderr


def _is_listening(printed: str) -> bool:
    """Whether the agent whose URL the tour printed still answers."""
    import socket

    match = re.search(r"http://127\.0\.0\.1:(\d+)/", printed)
    assert match is not None
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(match[1]))) == 0
