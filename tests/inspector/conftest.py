"""Servers that behave badly, byte for byte as a test writes them."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Handler: TypeAlias = Callable[[str, bytes, asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    """A socket on a free port of loopback; `handle` gets each request and writes what it likes."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))
        self.requests: list[tuple[str, bytes]] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        self._thread.start()
        assert self._started.wait(60)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)
        self._loop.close()

    async def _run(self) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()
        # a connection that has just come gets its transport, with which it is closed
        await asyncio.sleep(0)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = next(
                (
                    int(line[15:])
                    for line in head.split("\r\n")
                    if line.lower()[:15] == "content-length:"
                ),
                0,
            )
            body = await reader.readexactly(length)
            self.requests.append((head, body))
            await self._handle(head, body, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


class Agent:
    """Replies with a card that leads back to itself, and to a POST with what it was given."""

    def __init__(self, answer: Handler, card: dict[str, Any] | None = None) -> None:
        self._answer = answer
        self._card = card or {}
        self.server = RawServer(self._handle)

    async def _handle(self, head: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if head.startswith("POST"):
            await self._answer(head, body, writer)
            return
        card: dict[str, Any] = {
            "name": "Raw",
            "version": "1",
            "description": "raw",
            "url": self.server.url,
            "protocolVersion": "0.3.0",
            "capabilities": {"streaming": True},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "S", "description": "d", "tags": []}],
            **self._card,
        }
        writer.write(http_answer(card))


def http_answer(
    content: Any, status: str = "200 OK", media_type: str = "application/json"
) -> bytes:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body


def reply_of(result: Any) -> Handler:
    """Answers each request with `result` under the request's id."""

    async def write(_: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        envelope = {"jsonrpc": "2.0", "id": json.loads(body)["id"], "result": result}
        writer.write(http_answer(envelope))

    return write


Http: TypeAlias = Callable[..., bytes]
StartServer: TypeAlias = Callable[[Handler], RawServer]
StartAgent: TypeAlias = Callable[..., RawServer]


@pytest.fixture
def http() -> Http:
    """Makes an HTTP answer of its body (bytes or JSON), status and media type."""
    return http_answer


@contextmanager
def _stopping(started: list[RawServer]) -> Generator[None]:
    yield
    for server in started:
        server.stop()


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """Starts a server that hands every request to the handler given."""
    started: list[RawServer] = []

    def start(handle: Handler) -> RawServer:
        server = RawServer(handle)
        server.start()
        started.append(server)
        return server

    with _stopping(started):
        yield start


@pytest.fixture
def start_agent() -> Iterator[StartAgent]:
    """Starts an agent with a right card, and with what it answers to a POST.

    That is an answer's bytes, or what `http` makes them of; a handler; or the `result` to send
    under the request's id.
    """
    started: list[RawServer] = []

    def start(
        answer: bytes | tuple[Any, ...] | Handler | None = None,
        card: dict[str, Any] | None = None,
        *,
        result: Any = None,
    ) -> RawServer:
        raw = http_answer(*answer) if isinstance(answer, tuple) else answer  # pyright: ignore[reportUnknownArgumentType]: a tuple of anything

        async def write(_head: str, _body: bytes, writer: asyncio.StreamWriter) -> None:
            assert isinstance(raw, bytes)
            writer.write(raw)

        handler = write if isinstance(raw, bytes) else raw or reply_of(result)
        agent = Agent(handler, card)
        agent.server.start()
        started.append(agent.server)
        return agent.server

    with _stopping(started):
        yield start


BANK = Path(__file__).resolve().parents[2] / "examples" / "bank"
BANK_SECRET = "between the orchestrator and the bank, 32 bytes"
PROTECTED = """
a2a_server:
  description: A bank
  auth:
    type: bearer
    jwt: {algorithm: HS256, secret: "${JWT_SECRET}", audience: bank}
"""


@pytest.fixture(scope="module")
def protected_bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a mock that wants a token for `bank`, signed with `bank_secret`."""
    endpoints = tmp_path_factory.mktemp("bank") / "endpoints.yml"
    endpoints.write_text(PROTECTED)
    command = [sys.executable, "-m", "mock_server", "serve", str(BANK), "--port", "0"]
    process = subprocess.Popen(
        [*command, "--endpoints", str(endpoints)],
        env={**os.environ, "JWT_SECRET": BANK_SECRET},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout
    try:
        yield process.stdout.readline().split()[1]
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def bank_secret() -> str:
    return BANK_SECRET
