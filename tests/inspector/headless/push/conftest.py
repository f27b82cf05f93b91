"""The mock as a user starts it: a process of its own, with push notifications and its admin API."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[4]
SETTINGS = "a2a_server:\n  description: A bank\n  push_notifications_enabled: {}\n"


@dataclass
class Mock:
    """A running mock; `reset` forgets the faults and conversations of tests before."""

    url: str
    process: "subprocess.Popen[str]"

    def arm(self, effect: str | dict[str, Any], state: str | None = None) -> None:
        fault: dict[str, Any] = {"effect": effect, "match": {"state": state} if state else {}}
        self._post("faults", fault)

    def reset(self) -> None:
        self._post("reset", None)

    def _post(self, path: str, body: Any) -> None:
        answer = httpx.post(f"{self.url}__admin/{path}", json=body, timeout=60)
        answer.raise_for_status()


def read_ready(process: "subprocess.Popen[str]") -> str:
    """The line with which a program says that it can be used."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(("ready: ", '{"ready": ')):
            return line
    pytest.fail(f"not ready: {process.communicate()}")


@contextmanager
def serving(folder: Path, *flags: str, offers_push: bool = True) -> Generator[Mock]:
    settings = folder / f"push-{offers_push}.yml"
    settings.write_text(SETTINGS.format(str(offers_push).lower()))
    command = [sys.executable, "-m", "mock_server", "serve", str(ROOT / "examples" / "bank")]
    process = subprocess.Popen(
        [*command, "--endpoints", str(settings), "--port", "0", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Mock(read_ready(process).split()[1], process)
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.fixture(scope="package")
def shared_mock(tmp_path_factory: pytest.TempPathFactory) -> Generator[Mock]:
    with serving(tmp_path_factory.mktemp("mock"), "--allow-local-push") as mock:
        yield mock


@pytest.fixture
def mock(shared_mock: Mock) -> Mock:
    shared_mock.reset()
    return shared_mock


@pytest.fixture
def start_mock(tmp_path: Path) -> Generator[Callable[..., Mock]]:
    """Starts a mock of its own, with further flags."""
    started: list[Any] = []

    def start(*flags: str, offers_push: bool = True) -> Mock:
        started.append(serving(tmp_path, *flags, offers_push=offers_push))
        return started[-1].__enter__()

    yield start
    for one in started:
        one.__exit__(None, None, None)


class Listener:
    """`a2a-inspect listen` under way."""

    def __init__(self, *flags: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "inspector", "listen", *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self.ready = read_ready(self.process)
        if "--json" in flags:
            told = json.loads(self.ready)
            self.url, self.token = told["ready"], told["token"]
        else:
            _, self.url, token = self.ready.split()
            self.token = token.removeprefix("token=")

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def stop(self) -> tuple[int, str, str]:
        """Interrupt it; the exit status, and what it still printed."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def listen() -> Generator[Callable[..., Listener]]:
    started: list[Listener] = []

    def start(*flags: str, **environment: str) -> Listener:
        started.append(Listener(*flags, **environment))
        return started[-1]

    yield start
    for one in started:
        one.stop()
