"""The program as a process: interrupted early, its streams full, closed or no text."""

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

FULL = Path("/dev/full")
TOKEN = ("token", "--alg", "HS256", "--secret-env", "SECRET")
NOBODY = ("card", "http://127.0.0.1:1", "--no-save")
ENVIRONMENT = {**os.environ, "SECRET": "s" * 32}


def run(
    *words: str | bytes,
    stdin: bytes = b"",
    stdout: int | IO[str] = subprocess.PIPE,
    stderr: int | IO[str] = subprocess.PIPE,
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "inspector", *words],
        env=ENVIRONMENT,
        input=stdin,
        stdout=stdout,
        stderr=stderr,
        timeout=60,
        check=False,
    )


# Imports the program, which is interrupted right when it imports `module`.
INTERRUPTED = """
import os, signal, sys
module = sys.argv.pop(1)
class Interrupt:
    def find_spec(self, name, *_):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)
from inspector.__main__ import main
sys.modules.pop(module, None)
sys.meta_path.insert(0, Interrupt())
sys.exit(main())
"""


# Interrupts itself when it begins to read stdin, which never ends.
INTERRUPTED_AT_STDIN = """
import os, signal, sys
from inspector.__main__ import main
class Stdin:
    def read(self, most):
        os.kill(os.getpid(), signal.SIGINT)
        return os.read(0, most)
sys.stdin = type("Stream", (), {"buffer": Stdin()})()
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["argparse", "inspector.headless.card", "httpx"])
@pytest.mark.req("CLI-1")
def test_an_interruption_while_it_starts_is_quiet(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module, *NOBODY],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.skipif(not FULL.exists(), reason="a device that is always full is Linux's")
@pytest.mark.parametrize("words", [TOKEN, ("--version",)])
@pytest.mark.req("CLI-5")
def test_a_full_disk_is_told(words: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        done = run(*words, stdout=full)
    assert done.returncode == 2
    assert b"stdout cannot be written: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="a device that is always full is Linux's")
@pytest.mark.req("CLI-1")
def test_an_error_that_cannot_be_told_keeps_its_status() -> None:
    with FULL.open("w") as full:
        assert run(*NOBODY, stderr=full).returncode == 3


@pytest.mark.skipif(sys.platform == "win32", reason="sh closes the streams")
@pytest.mark.parametrize(
    ("words", "status"), [(TOKEN, 0), (NOBODY, 3), (("send", "http://127.0.0.1:1", "-"), 2)]
)
@pytest.mark.req("CLI-1")
def test_closed_streams_take_nothing_and_give_nothing(words: tuple[str, ...], status: int) -> None:
    script = 'exec "$0" -m inspector "$@" <&- >&- 2>&-'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable, *words], env=ENVIRONMENT, timeout=60, check=False
    )
    assert done.returncode == status


@pytest.mark.skipif(sys.platform == "win32", reason="arguments are bytes on POSIX only")
@pytest.mark.parametrize("words", [(b"a\xffb",), (b"hi", b"--context", b"\xff")])
@pytest.mark.req("CLI-1", "CLI-5")
def test_arguments_that_are_no_text_are_refused(words: tuple[bytes, ...]) -> None:
    done = run(b"send", b"http://127.0.0.1:1", *words)
    assert done.returncode == 2
    assert rb"\xff" in done.stderr
    assert b"is not text in utf-8" in done.stderr


@pytest.mark.parametrize(
    ("stdin", "told"),
    [(b"hi\xff\n", b"stdin is not UTF-8: b'\\xff\\n' at byte 2"), (b"\r\n", b"stdin has no text")],
)
@pytest.mark.req("CLI-5")
def test_stdin_that_is_no_message_is_refused(stdin: bytes, told: bytes) -> None:
    done = run("send", "http://127.0.0.1:1", "-", stdin=stdin)
    assert done.returncode == 2
    assert told in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="an interruption is a signal")
@pytest.mark.req("CLI-1")
def test_reading_stdin_is_interrupted_at_once() -> None:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED_AT_STDIN, "send", "http://127.0.0.1:1", "-"],
        stdin=reading,
        stderr=subprocess.PIPE,
    )
    _, told = process.communicate(timeout=60)
    os.close(reading)
    os.close(writing)
    assert (process.returncode, told) == (130, b"")
