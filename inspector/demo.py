"""The bundled bank on a free port: what `a2a-inspect demo` and the app's welcome screen talk to."""

import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO

from inspector.errors import Unreachable

START_TIMEOUT_SECONDS = 30.0
STOP_TIMEOUT_SECONDS = 8.0
READY = "ready: "


@contextmanager
def serve_bank() -> Generator[str]:
    """The URL of a mock that serves the bundled bank; it is stopped at the end, come what may.

    Raises:
        Unreachable: it did not start; what it said is in the text.
    """
    with TemporaryFile() as log:
        process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "mock_server",
                "serve",
                "--port",
                "0",
                "--allow-local-push",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            # Ctrl-C is for us; the agent is stopped when we have finished
            start_new_session=True,
        )
        try:
            yield _wait_until_ready(process, log)
        finally:
            _stop(process)


def _wait_until_ready(process: "subprocess.Popen[str]", log: IO[bytes]) -> str:
    assert process.stdout is not None
    alarm = threading.Timer(START_TIMEOUT_SECONDS, process.kill)
    alarm.start()
    try:
        for line in process.stdout:
            if line.startswith(READY):
                return line.removeprefix(READY).split()[0]
    finally:
        alarm.cancel()
    process.wait()
    log.seek(0)
    said = log.read().decode(errors="replace").strip()
    raise Unreachable(
        f"the bundled agent did not start (exit status {process.returncode})"
        + "".join(f"\n  {line}" for line in said.splitlines()[-5:]),
        "a2a-mock serve shows why",
    )


def _stop(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.communicate(timeout=STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
