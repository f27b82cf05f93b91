"""Fixtures that any test may use."""

import asyncio
import logging
import re
import signal
import ssl
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, settings

from mock_server.logs import route_events

# A deadline would be a race against whatever else the machine does. The examples are the same in
# every run; `--hypothesis-profile=explore` looks for others.
settings.register_profile(
    "explore", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("suite", settings.get_profile("explore"), derandomize=True)
settings.load_profile("suite")

Secret: TypeAlias = Callable[[str], str]
Files: TypeAlias = Mapping[str, str]
WriteAssistant: TypeAlias = Callable[[Path, Files], None]

SHARED = Path(__file__).resolve().parents[2] / "shared"
JWT = re.compile(r"\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]+")
PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")


SMALL_ASSISTANT = {
    "domain.yml": """
slots:
  recipient: {type: text}
responses:
  utter_ask_recipient: [{text: "To whom?"}]
  utter_sent: [{text: "Sent to {recipient}."}]
session_config: {start_session_after_expiry: false}
""",
    "data/flows.yml": """
flows:
  transfer_money:
    description: send money to somebody
    run_pattern_completed: false
    steps:
      - collect: recipient
      - action: utter_sent
""",
    "endpoints.yml": "a2a_server: {description: A small bank}\n",
}


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
def secret(suite_log: SuiteLog) -> Secret:
    """Note that a text is secret, and return it; no log line of the session may hold it."""

    def note(text: str) -> str:
        suite_log.secrets.add(text)
        return text

    return note


@pytest.fixture(scope="session", autouse=True)
def user_folders(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """Keeps the sessions and targets of the tests, and of what they start, out of the user's.

    What they start buffers its output as it does in a user's shell, and keeps its bytecode: to
    compile the modules anew takes a fifth of each start.
    """
    home = tmp_path_factory.mktemp("user")
    with pytest.MonkeyPatch.context() as environment:
        for variable in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"):
            environment.delenv(variable, raising=False)
        environment.setenv("XDG_STATE_HOME", str(home / "state"))
        environment.setenv("XDG_CONFIG_HOME", str(home / "config"))
        yield home


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Lets what the tests start be interrupted, also where a shell runs them in its background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The specification's folder with recorded wires and real assistants."""
    if not SHARED.is_dir():
        pytest.skip("the specification's folder `shared` does not stand beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def small_assistant() -> Files:
    """The files of an assistant that sends money and asks to whom."""
    return SMALL_ASSISTANT


@pytest.fixture(scope="session")
def write_assistant() -> WriteAssistant:
    """Write the small assistant into a folder that `a2a-mock serve` takes, with more files."""

    def write(folder: Path, more: Files) -> None:
        for name, text in {**SMALL_ASSISTANT, **more}.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    return write


@dataclass(frozen=True)
class Posted:
    """A request as a callback got it; names of headers are in lower case."""

    line: str
    headers: dict[str, str]
    body: bytes


OK = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"


@dataclass
class CallbackHost:
    """Takes push notifications; `replies` has what it says to a path, None for nothing at all."""

    port: int
    posted: list[Posted] = field(default_factory=list[Posted])
    replies: dict[str, bytes | None] = field(default_factory=dict[str, bytes | None])
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def wait_for(self, count: int) -> list[Posted]:
        """The first `count` requests, as soon as they are there."""
        async with asyncio.timeout(60), self._news:
            await self._news.wait_for(lambda: len(self.posted) >= count)
        return self.posted[:count]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            posted = await _read_request(reader)
            async with self._news:
                self.posted.append(posted)
                self._news.notify_all()
            reply = self.replies.get(posted.line.split()[1], OK)
            if reply is None:
                await reader.read()
            else:
                writer.write(reply)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()


Hosting: TypeAlias = Callable[..., AbstractAsyncContextManager[CallbackHost]]


async def _read_request(reader: asyncio.StreamReader) -> Posted:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip()
    line, *fields = head.split("\r\n")
    headers = {name.lower(): value for name, value in (f.split(": ", 1) for f in fields)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Posted(line, headers, body)


@pytest.fixture
def callback_host() -> Hosting:
    """Listen on a free port of 127.0.0.1, with TLS if a context is given."""
    return _callback_host


@asynccontextmanager
async def _callback_host(tls: ssl.SSLContext | None = None) -> AsyncGenerator[CallbackHost]:
    host = CallbackHost(0)
    server = await asyncio.start_server(host.serve, "127.0.0.1", 0, ssl=tls)
    host.port = server.sockets[0].getsockname()[1]
    try:
        yield host
    finally:
        server.close()
        await server.wait_closed()
