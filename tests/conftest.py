"""Fixtures that any test may use."""

import logging
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mock_server.logs import route_events

SHARED = Path(__file__).resolve().parents[2] / "shared"
JWT = re.compile(r"\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]+")
PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")


@dataclass
class SuiteLog:
    """What the suite logged, in this process and in those it started, and the secrets it used."""

    lines: list[str] = field(default_factory=list[str])
    secrets: set[str] = field(default_factory=set[str])

    def leaks(self) -> list[str]:
        """The lines that hold a secret, a JWT or a private key."""
        return [line for line in self.lines if self._is_leak(line)]

    def _is_leak(self, line: str) -> bool:
        is_known = any(secret in line for secret in self.secrets)
        return is_known or bool(JWT.search(line) or PRIVATE_KEY.search(line))


class _Collector(logging.Handler):
    """Takes records as they were logged: nothing has been masked yet."""

    def __init__(self, suite_log: SuiteLog) -> None:
        super().__init__()
        self._lines = suite_log.lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record))


@pytest.fixture(scope="session", autouse=True)
def suite_log() -> Generator[SuiteLog]:
    """Fails the session when a secret was logged anywhere (server.md LOG-1)."""
    route_events()
    log = SuiteLog()
    collector = _Collector(log)
    logging.getLogger().addHandler(collector)
    logging.getLogger("a2a_server").setLevel(logging.INFO)
    yield log
    logging.getLogger().removeHandler(collector)
    assert log.leaks() == []


@pytest.fixture(scope="session")
def secret(suite_log: SuiteLog) -> Callable[[str], str]:
    """Note that a text is secret, and return it; no log line of the session may hold it."""

    def note(text: str) -> str:
        suite_log.secrets.add(text)
        return text

    return note


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The specification's folder with recorded wires and real assistants."""
    if not SHARED.is_dir():
        pytest.skip("the specification's folder `shared` does not stand beside this checkout")
    return SHARED
