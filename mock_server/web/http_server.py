"""The HTTP server: its socket and certificate, uvicorn on them, its start and its clean stop;
and bodies up to a limit.

uvicorn raises a signal again after it has shut down, so that the process dies of it, and waits for
connections only. The mock exits with 0 and waits for turns, which may have nobody connected.
"""

import asyncio
import errno
import gc
import signal
import socket
import ssl
import struct
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp, Receive, Scope
from structlog.stdlib import get_logger
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mock_server.errors import StartError
from mock_server.service.service import Service

logger = get_logger("a2a_server")
# Finished tasks are kept as bytes, so there is little garbage to look for.
COLLECT_AFTER_ALLOCATIONS = 50_000
BACKLOG = 2048
DRAIN_SECONDS = 5
# Answers to turns that were cut off still go out.
CLOSE_SECONDS = DRAIN_SECONDS + 1
KEEP_ALIVE_SECONDS = 65
MAX_CONNECTIONS = 1000
REQUEST_SECONDS = 60.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
TRANSPORT = "a2a_mock.transport"
# on, 0 seconds: the connection ends with RST in place of FIN (socket(7), SO_LINGER)
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """A head, and after it a body, has `request_seconds` to arrive; 0 is no limit."""

    max_connections: int = MAX_CONNECTIONS
    request_seconds: float = REQUEST_SECONDS


class Server(uvicorn.Server):
    """uvicorn on a socket that is bound already; it calls `when_ready` once it answers."""

    def __init__(
        self,
        app: ASGIApp,
        when_ready: Callable[[], None],
        tls: ssl.SSLContext | None = None,
        limits: ConnectionLimits | None = None,
    ) -> None:
        config = uvicorn.Config(
            app,
            http=_protocol_with(limits or ConnectionLimits()),
            ws="none",
            log_config=None,
            # Anyone can write the headers of a proxy: they would make a peer elsewhere a local one.
            proxy_headers=False,
            access_log=False,
            lifespan="off",
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=CLOSE_SECONDS,
        )
        # Loaded here, so that the certificate is the one that was read with the other settings.
        config.load()
        config.ssl = tls
        super().__init__(config)
        self._when_ready = when_ready

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._when_ready()


def run_on_loop(main: Coroutine[None, None, None]) -> None:
    """Run `main` on uvloop where it is installed, else on asyncio's own loop."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(main)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


async def serve_until_signal(server: Server, service: Service, listener: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM, then let the turns that run come to their end."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stopped.set)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve(sockets=[listener]))
        serving.add_done_callback(lambda _: stopped.set())
        await stopped.wait()
        server.should_exit = True
        await service.drain(DRAIN_SECONDS)


class HttpProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 by httptools; a request finds its transport in `scope["state"]`.

    uvicorn has no time limits for heads and bodies, and answers past its cap on connections only
    once a head has come. Past `limits` the connection is closed.
    """

    limits = ConnectionLimits()
    _timer: asyncio.TimerHandle | None = None
    _awaited: str | None = "head"
    _timed: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.app_state = {**self.app_state, TRANSPORT: transport}
        super().connection_made(transport)
        if len(self.connections) > self.limits.max_connections:
            logger.warning("a2a_mock.connection.refused", limit=self.limits.max_connections)
            transport.close()
        else:
            self._give_time("head")

    def connection_lost(self, exc: Exception | None) -> None:
        self._await_none()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        # Even an empty line before a head ends uvicorn's own time limit.
        self._awaited = self._awaited or "head"
        super().data_received(data)
        # Most requests come in one piece, and need no timer.
        if self._awaited != self._timed and not self.transport.is_closing():
            self._await_none()
            if self._awaited:
                self._give_time(self._awaited)

    def on_message_begin(self) -> None:
        self._awaited = "head"
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._awaited = "body"
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._awaited = None
        super().on_message_complete()

    def _give_time(self, part: str) -> None:
        if self.limits.request_seconds:
            self._timer = self.loop.call_later(self.limits.request_seconds, self._give_up, part)
        self._timed = part

    def _await_none(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self._timed = None

    def _give_up(self, part: str) -> None:
        seconds = self.limits.request_seconds
        logger.warning("a2a_mock.connection.timeout", part=part, seconds=seconds)
        self.transport.close()


def _protocol_with(limits: ConnectionLimits) -> type[HttpProtocol]:
    return type("LimitedHttpProtocol", (HttpProtocol,), {"limits": limits})


async def reset_connection(scope: Scope, receive: Receive) -> None:
    """Break the connection with a TCP reset, after what is written is sent."""
    transport: asyncio.Transport = scope["state"][TRANSPORT]
    # uvloop writes at the end of the loop's iteration; an abort drops what it has not written.
    await asyncio.sleep(0)
    channel = transport.get_extra_info("socket")
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    transport.abort()
    await _wait_until_gone(receive)


async def close_connection(scope: Scope, receive: Receive) -> None:
    """Send what is written, then close the connection although the answer is not complete."""
    transport: asyncio.Transport = scope["state"][TRANSPORT]
    transport.close()
    await _wait_until_gone(receive)


async def _wait_until_gone(receive: Receive) -> None:
    # uvicorn complains of an application that returns while the connection still stands.
    while (await receive())["type"] != "http.disconnect":
        pass


def bind(interface: str, port: int) -> socket.socket:
    """Listen on `interface`; port 0 takes a free one.

    Raises:
        StartError: the address is unavailable; with what to do.
    """
    try:
        return _bind(interface, port)
    except OSError as error:
        text = f"port {port} on {interface!r} is unavailable: {error.strerror}"
        raise StartError([f"{text}; {_advice(error)}"]) from error


def _advice(error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return "stop what listens there, or choose another with --port (0 picks a free one)"
        case errno.EACCES:
            return "this user may not take it; choose one above 1023 with --port"
        case _:
            return "name an address of this machine with --interface, such as 127.0.0.1"


def _bind(interface: str, port: int) -> socket.socket:
    found = socket.getaddrinfo(interface, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # Two sockets may be bound to a port that nobody listens on.
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    listener.set_inheritable(True)
    return listener


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


def tls_context(certificate: Path, keyfile: Path | None, password: str | None) -> ssl.SSLContext:
    """Read the certificate and its key, which may lie in the same PEM file.

    Raises:
        StartError: they cannot be read, do not belong together, or need another password.
    """
    files = {"--ssl-certificate": certificate, "--ssl-keyfile": keyfile}
    missing = [f"{flag}: found no file {str(file)!r}" for flag, file in files.items()
               if file and not file.is_file()]  # fmt: skip
    if missing:
        raise StartError(missing)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        # Without a password at hand, OpenSSL asks for it on the terminal.
        context.load_cert_chain(certificate, keyfile, password=lambda: password or "")
    except (OSError, ValueError) as error:
        text = (
            f"--ssl-certificate {str(certificate)!r}: no certificate with its key can be read"
            f" ({_reason(error, certificate, keyfile)}); see --ssl-keyfile and --ssl-password"
        )
        raise StartError([text]) from error
    return context


def _reason(error: Exception, certificate: Path, keyfile: Path | None) -> str:
    """The reason that OpenSSL gives, or our own if it gives none."""
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason
    if b"-----BEGIN CERTIFICATE-----" not in certificate.read_bytes():
        return "it holds no certificate in PEM"
    key = keyfile or certificate
    if b"PRIVATE KEY-----" not in key.read_bytes():
        return f"{key.name} holds no private key in PEM"
    return "wrong password"


def tune_gc() -> None:
    """Exempt what exists by now from garbage collection, and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER_ALLOCATIONS, 50, 100)


# What is read past the limit and discarded: a client that is refused while it still writes
# sees a reset instead of the answer.
DRAINED_BYTES = 64 * 1024 * 1024


class BodyTooLarge(Exception):
    """The body is longer than the limit."""


class ClientGone(Exception):
    """The client hung up before its request was complete."""


async def read_body(receive: Receive, limit_bytes: int) -> bytes:
    """Return the body.

    Raises:
        BodyTooLarge: it is longer than `limit_bytes`, whether that is declared or not.
        ClientGone: the client hung up before its end.
    """
    chunks: list[bytes] = []
    size_bytes = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        size_bytes += len(chunk)
        if size_bytes <= limit_bytes:
            chunks.append(chunk)
            continue
        chunks.clear()
        if size_bytes > limit_bytes + DRAINED_BYTES:
            break
    if size_bytes > limit_bytes:
        raise BodyTooLarge
    return b"".join(chunks)


SSE_MEDIA_TYPE = "text/event-stream"
SSE_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


def sse_frame(envelope: bytes) -> bytes:
    return b"data: " + envelope + b"\r\n\r\n"
