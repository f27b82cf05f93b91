"""The program as a process: interrupted early, its streams full, closed or not text."""

import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

FULL = Path("/dev/full")
MINIMAL = Path(__file__).parents[2] / "examples" / "minimal"
CHECK = ("check", str(MINIMAL))


def run(
    *words: str | bytes,
    stdout: int | IO[str] = subprocess.PIPE,
    stderr: int | IO[str] = subprocess.PIPE,
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "mock_server", *words],
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
from mock_server.__main__ import main
sys.modules.pop(module, None)
sys.meta_path.insert(0, Interrupt())
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["argparse", "mock_server.check", "ruamel.yaml"])
def test_an_interruption_while_it_starts_is_quiet(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module, *CHECK],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.skipif(not FULL.exists(), reason="a device that is always full is Linux's")
@pytest.mark.parametrize("words", [CHECK, ("graph", str(MINIMAL)), ("serve", "--port", "0")])
def test_a_full_disk_is_reported(words: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        done = run(*words, stdout=full)
    assert done.returncode == 2
    assert b"stdout cannot be written: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="a device that is always full is Linux's")
@pytest.mark.parametrize("words", [("nosuch",), ("check", "/nonexistent")])
def test_an_error_that_cannot_be_printed_keeps_its_status(words: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        assert run(*words, stderr=full).returncode == 2


@pytest.mark.skipif(sys.platform == "win32", reason="sh closes the streams")
@pytest.mark.parametrize("words", [CHECK, ("talk", str(MINIMAL))])
def test_closed_streams_take_nothing_and_give_nothing(words: tuple[str, ...]) -> None:
    script = 'exec "$0" -m mock_server "$@" <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", script, sys.executable, *words], timeout=60, check=False)
    assert done.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="arguments are bytes on POSIX only")
def test_arguments_that_are_not_text_are_refused() -> None:
    done = run(b"serve", b"--description", b"a\xffb", b"--port", b"0")
    assert done.returncode == 2
    assert rb"argument 3, b'a\xffb', is not text in utf-8" in done.stderr
