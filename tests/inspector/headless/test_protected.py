"""A protected mock by commands: each refusal told apart, and no secret left anywhere."""

import codecs
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import jwt
import pytest

from inspector.cli import main

PATIENCE_SECONDS = 60.0
# a new session takes the first terminal it opens as its own; getpass asks at that one
LOGIN = """
import os, sys
os.close(os.open(os.ttyname(0), os.O_RDWR))
os.execv(sys.executable, [sys.executable, "-m", "inspector", *sys.argv[1:]])
"""
MINT = ("--jwt-alg", "HS256", "--jwt-secret-env", "BANK_SECRET", "--jwt-claim", "aud=bank")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, bank_secret: str, tmp_path: Path) -> None:
    monkeypatch.setenv("BANK_SECRET", bank_secret)
    monkeypatch.setenv("OTHER_SECRET", bank_secret[::-1])
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def token(secret: str, seconds: float = 600) -> str:
    return jwt.encode({"exp": time.time() + seconds, "aud": "bank"}, secret, "HS256")


@pytest.mark.req("CONN-3", "CLI-1")
def test_a_minted_token_connects(protected_bank: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["send", protected_bank, "what is my balance?", *MINT, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "input-required"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "no credentials were sent; the agent wants Bearer"),
        ([*MINT, "--jwt-ttl", "-60"], "the token had expired 6"),
        ([*MINT[:3], "OTHER_SECRET", *MINT[4:]], "does not accept this token: another key"),
        ([*MINT[:4]], "does not accept this token"),
        (["--api-key-env", "OTHER_SECRET"], "does not accept these credentials"),
    ],
    ids=["missing", "expired", "another key", "no audience", "opaque"],
)
@pytest.mark.req("CONN-3", "CLI-5")
def test_each_refusal_is_told_apart(
    protected_bank: str, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["send", protected_bank, "hi", *words]) == 5
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert re.search(r"try +\S", err)


@pytest.mark.req("CONN-3")
def test_no_secret_is_left_anywhere(
    protected_bank: str,
    bank_secret: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bearer = token(bank_secret)
    monkeypatch.setenv("TOP", bearer)
    assert main(["card", protected_bank, "--token-env", "TOP"]) == 0
    assert (
        main(["send", protected_bank, f"my token is {bearer}", "--token-env", "TOP", "--stream"])
        == 0
    )
    assert main(["send", protected_bank, "hi", *MINT, "--json"]) == 0
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.parent.name for path in kept} >= {"cards", "sessions"}
    written = "".join(path.read_text(encoding="utf-8") for path in kept)
    written += "".join(capsys.readouterr())
    assert bank_secret not in written
    assert bearer not in written
    assert not re.search(r"\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]+", written)
    assert "*** (JWT, expires in" in written


class Terminal:
    """A command at a terminal of its own; `shown` is what it has written there."""

    def __init__(self, process: "subprocess.Popen[bytes]", master: int) -> None:
        self.process = process
        self.shown = ""
        self._master = master
        # a read ends where the kernel's buffer does, which may be within a character
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown
            if select.select([self._master], [], [], 0.1)[0]:
                self.shown += self._decoder.decode(os.read(self._master, 65536))

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())


@contextmanager
def terminal(*words: str) -> Generator[Terminal]:
    """Run `a2a-inspect` where somebody can answer; its stdout is the terminal's too."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", LOGIN, *words],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)


@pytest.mark.req("CONN-3")
def test_a_secret_is_asked_for_and_stays_hidden(protected_bank: str, bank_secret: str) -> None:
    bearer = token(bank_secret)
    with terminal("send", protected_bank, "what is my balance?") as shown:
        shown.wait_for("bearer token for http://127.0.0.1:")
        shown.type(f"{bearer}\n")
        shown.wait_for("input-required")
        running = Path(f"/proc/{shown.process.pid}/cmdline").read_bytes().decode()
        assert bearer not in running
        assert bearer not in shown.shown


@pytest.mark.req("CONN-3", "CLI-1")
def test_whoever_gives_none_is_told_what_is_missing(protected_bank: str) -> None:
    with terminal("send", protected_bank, "hi") as shown:
        shown.wait_for("Enter goes on without")
        shown.type("\n")
        shown.wait_for("no credentials were sent")
        assert shown.process.wait(PATIENCE_SECONDS) == 5


@pytest.mark.req("CLI-1")
def test_an_interrupted_question_is_130(protected_bank: str) -> None:
    with terminal("card", protected_bank) as shown:
        shown.wait_for("Enter goes on without")
        shown.type("\x03")
        assert shown.process.wait(PATIENCE_SECONDS) == 130


CRASH = """
from inspector.tui.app import InspectorApp

def crash():
    headers = ("Authorization", "Bearer " + "s3cret-" * 2)
    raise RuntimeError(f"{len(headers)} lost")

async def drive(pilot):
    pilot.app.call_later(crash)

InspectorApp().run(headless=True, auto_pilot=drive)
"""


@pytest.mark.req("CONN-3")
def test_a_crash_shows_no_variables() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CRASH], capture_output=True, text=True, timeout=60, check=False
    )
    told = done.stdout + done.stderr
    assert "RuntimeError: 2 lost" in told
    assert "s3cret-s3cret-" not in told


@pytest.mark.req("CONN-3")
@pytest.mark.parametrize("words", [("--token-env", "TOP"), MINT])
def test_the_list_of_processes_has_no_secret(
    protected_bank: str, bank_secret: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    bearer = token(bank_secret)
    monkeypatch.setenv("TOP", bearer)
    with terminal(protected_bank, *words, "--no-save") as shown:
        shown.wait_for("Bank")
        command = Path(f"/proc/{shown.process.pid}/cmdline").read_bytes().decode()
        assert "inspector" in command
        for secret in (bearer, bank_secret):
            assert secret not in command
            assert secret not in shown.shown
