"""An HTTP server for requests that agents post: bounded in every direction, no meaning."""

import asyncio
import errno
import os
import ssl
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from http import HTTPStatus
from ipaddress import ip_address
from pathlib import Path
from typing import TypeAlias

import h11

from inspector.errors import UsageError
from inspector.net.events import Headers, find_header

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not looked at any further, and the status that says so."""

    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request as it came; a refused one has no body, and garbage has no method."""

    method: str
    target: str
    headers: Headers = ()
    body: bytes = b""
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What to say; `status` None says nothing: hang for as long as the client does, or drop."""

    status: int | None
    headers: Headers = ()
    text: str = ""
    delay_seconds: float = 0.0
    is_hanging: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one request may cost, and how many there may be at once."""

    head_bytes: int = 16 * 1024
    body_bytes: int = 8 * MIB
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    drain_seconds: float = 5.0
    drain_bytes: int = 256 * MIB
    hang_seconds: float = 600.0
    connections: int = 64


LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Allowance:
    """So many at once, and then so many a second: a token bucket."""

    def __init__(self, burst: int, per_second: float, clock: Callable[[], float]) -> None:
        self._burst = burst
        self._per_second = per_second
        self._clock = clock
        self._left = float(burst)
        self._asked = clock()

    def take(self) -> bool:
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._asked) * self._per_second)
        self._asked = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Gate:
    """Knows the hosts by which the receiver may be called, and how often.

    A page in a browser can lead a name of its own to this machine (DNS rebinding): only the names
    given, loopback and, where all interfaces are listened to, bare addresses are let in.
    """

    def __init__(
        self, hosts: Iterable[str], allowance: Allowance, *, takes_addresses: bool = False
    ) -> None:
        self._hosts = LOOPBACK_NAMES.union(host.lower() for host in hosts)
        self.allowance = allowance
        self._takes_addresses = takes_addresses

    def is_expected(self, host_header: str | None) -> bool:
        host = host_of(host_header or "")
        return host in self._hosts or (self._takes_addresses and _is_address(host))


def host_of(authority: str) -> str:
    """The host of `host:port` in lower case, an IPv6 address without its brackets."""
    if authority.startswith("["):
        return authority[1:].partition("]")[0].lower()
    return authority.partition(":")[0].lower()


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


_CHUNK_BYTES = 64 * 1024
_REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}


class ReceiverConnection:
    """Speaks HTTP/1.1 by h11 over a pair of streams."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, bounds: Bounds
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._bounds = bounds
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=bounds.head_bytes)
        self._has_unread = False
        self._is_head = False

    async def read(self, gate: Gate) -> Incoming | None:
        """The request, or why it is refused; None where the client left without one."""
        head = await self._read_head()
        if head is None or head.refusal is not None:
            return head
        body, refusal = b"", self._refusal_by_head(head, gate)
        if refusal is None:
            body, refusal = await self._read_body()
        self._has_unread = refusal is not None
        return replace(head, body=body, refusal=refusal)

    async def answer(self, answer: Answer) -> None:
        """Say `answer`, in the time that it asks for."""
        await asyncio.sleep(answer.delay_seconds)
        if answer.status is None:
            if answer.is_hanging:
                await self._discard(self._bounds.hang_seconds)
            self._writer.transport.abort()
            return
        text = answer.text.encode()
        headers = [
            *answer.headers,
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(text))),
            ("Connection", "close"),
        ]
        reason = _REASONS.get(answer.status, b"")
        self._send(h11.Response(status_code=answer.status, headers=headers, reason=reason))
        if not self._is_head:
            self._send(h11.Data(data=text))
        self._send(h11.EndOfMessage())
        await self._writer.drain()
        if self._has_unread:
            # closing with bytes unread resets the connection before the client reads the answer
            if self._writer.can_write_eof():
                self._writer.write_eof()
            await self._discard(self._bounds.drain_seconds)

    async def close(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(self._bounds.drain_seconds):
                await self._writer.wait_closed()
        except (OSError, TimeoutError):
            self._writer.transport.abort()

    def _refusal_by_head(self, incoming: Incoming, gate: Gate) -> Refusal | None:
        """In the order of what it costs to find out."""
        if not gate.allowance.take():
            return Refusal(HTTPStatus.TOO_MANY_REQUESTS, "too many requests")
        if not gate.is_expected(find_header(incoming.headers, "host")):
            return Refusal(HTTPStatus.MISDIRECTED_REQUEST, "no such host here")
        if incoming.method != "POST":
            return Refusal(HTTPStatus.METHOD_NOT_ALLOWED, "notifications are posted")
        if int(find_header(incoming.headers, "content-length") or 0) > self._bounds.body_bytes:
            return _too_large(self._bounds)
        return None

    async def _read_head(self) -> Incoming | None:
        try:
            async with asyncio.timeout(self._bounds.head_seconds):
                request = await self._next_event()
        except TimeoutError:
            refusal = Refusal(HTTPStatus.REQUEST_TIMEOUT, "the head took too long")
            return Incoming("", "", refusal=refusal)
        except h11.RemoteProtocolError as error:
            return Incoming("", "", refusal=Refusal(error.error_status_hint, str(error)))
        if not isinstance(request, h11.Request):
            return None
        self._is_head = request.method == b"HEAD"
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in request.headers.raw_items()
        )
        return Incoming(request.method.decode("latin-1"), request.target.decode("latin-1"), headers)

    async def _read_body(self) -> tuple[bytes, Refusal | None]:
        """The body, or why it is not taken."""
        body = bytearray()
        try:
            async with asyncio.timeout(self._bounds.body_seconds):
                while isinstance(event := await self._next_event(), h11.Data):
                    body += event.data
                    if len(body) > self._bounds.body_bytes:
                        return b"", _too_large(self._bounds)
        except TimeoutError:
            return b"", Refusal(HTTPStatus.REQUEST_TIMEOUT, "the body took too long")
        except h11.RemoteProtocolError as error:
            return b"", Refusal(error.error_status_hint, str(error))
        return bytes(body), None

    async def _next_event(self) -> "h11.Event | type[h11.PAUSED]":
        while True:
            event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event  # pyright: ignore[reportReturnType]: h11's sentinels are classes
            if self._http.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[]))
                await self._writer.drain()
            self._http.receive_data(await self._reader.read(_CHUNK_BYTES))

    def _send(self, event: "h11.Event") -> None:
        self._writer.write(self._http.send(event) or b"")

    async def _discard(self, seconds: float) -> None:
        """Read on without keeping anything, until the client hangs up or a bound is reached."""
        left_bytes = self._bounds.drain_bytes
        try:
            async with asyncio.timeout(seconds):
                while left_bytes > 0 and (chunk := await self._reader.read(_CHUNK_BYTES)):
                    left_bytes -= len(chunk)
        except TimeoutError:
            return


def _too_large(bounds: Bounds) -> Refusal:
    return Refusal(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body of more than {bounds.body_bytes} bytes"
    )


_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


Handle: TypeAlias = Callable[[Incoming], Awaitable[Answer]]


class HttpReceiver:
    """Listens from `start` until `stop`; `handle` gets every request, the refused ones too.

    A request beyond what `gate` lets through is refused before its body is read.
    """

    def __init__(self, handle: Handle, gate: Gate, bounds: Bounds | None = None) -> None:
        self._handle = handle
        self._gate = gate
        self._bounds = bounds or Bounds()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(
        self,
        interface: str = "127.0.0.1",
        port: int = 0,
        certificate: Path | None = None,
        key: Path | None = None,
    ) -> int:
        """Listen, over HTTPS with a certificate, and return the port; 0 is any free one.

        Raises:
            UsageError: the port is taken, the interface is not of this machine, or the
                certificate is no good.
        """
        trust = None if certificate is None else _server_side(certificate, key)
        try:
            self._server = await asyncio.start_server(
                self._connect,
                interface,
                port,
                ssl=trust,
                ssl_handshake_timeout=self._bounds.head_seconds if trust else None,
                limit=self._bounds.head_bytes,
            )
        except OSError as error:
            where = f"{interface} port {port}"
            raise UsageError(
                f"cannot listen at {where}: {_reason(error)}", _way_out(error)
            ) from error
        return self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and break off what is under way."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        connections = tuple(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) >= self._bounds.connections:
            writer.write(_BUSY)
            writer.close()
            return
        connection = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ReceiverConnection(reader, writer, self._bounds)
        try:
            incoming = await connection.read(self._gate)
            if incoming is not None:
                await connection.answer(await self._handle(incoming))
        except OSError:
            # the client has gone; what it had sent whole is with `handle` already
            return
        finally:
            await connection.close()


def _reason(error: OSError) -> str | None:
    """The system's words: asyncio wraps them in its own, which a lookup's negative number lacks."""
    number = error.errno or 0
    return os.strerror(number) if number > 0 else error.strerror


def _way_out(error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return "choose another port: 0 takes a free one"
        case errno.EACCES:
            return "choose a port above 1023"
        case _:
            return "name an address of this machine, such as 127.0.0.1"


def _server_side(certificate: Path, key: Path | None) -> ssl.SSLContext:
    trust = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        trust.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"{certificate}: {error.strerror or error}") from error
    return trust
