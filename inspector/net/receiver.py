"""An HTTP server for requests that agents post: bounded in every direction, no meaning."""

import asyncio
import errno
import os
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from inspector.errors import UsageError
from inspector.net.receiver_connection import ReceiverConnection
from inspector.net.receiver_gate import Gate
from inspector.net.receiver_requests import Answer, Bounds, Incoming

_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Place:
    """Where to listen: port 0 is any free one; with a certificate it is HTTPS."""

    interface: str = "127.0.0.1"
    port: int = 0
    certificate: Path | None = None
    key: Path | None = None

    @property
    def scheme(self) -> str:
        return "https" if self.certificate else "http"


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

    async def start(self, place: Place) -> int:
        """Listen at `place` and return the port.

        Raises:
            UsageError: the place is taken or not of this machine, or the certificate is no good.
        """
        trust = _server_side(place)
        try:
            self._server = await asyncio.start_server(
                self._connect,
                place.interface,
                place.port,
                ssl=trust,
                ssl_handshake_timeout=self._bounds.head_seconds if trust else None,
                limit=self._bounds.head_bytes,
            )
        except OSError as error:
            where = f"{place.interface} port {place.port}"
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


def _server_side(place: Place) -> ssl.SSLContext | None:
    if place.certificate is None:
        return None
    trust = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        trust.load_cert_chain(place.certificate, place.key)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"{place.certificate}: {error.strerror or error}") from error
    return trust
