"""The TCP connection below a request: ASGI hides it, and a fault must be able to break it."""

import asyncio
import socket
import struct
from collections.abc import MutableMapping

from starlette.types import Receive, Scope
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from mock_server.web.joined_writes import JoinedWrites

KEY = "a2a_mock.transport"
# on, 0 seconds: what is closed is not said goodbye to (socket(7), SO_LINGER)
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class OpenHandedProtocol(AutoHTTPProtocol):
    """uvicorn's protocol; its requests find their transport in `scope["state"]`.

    An answer goes out as a whole.
    """

    app_state: MutableMapping[str, object]

    # asyncio gives the protocol of a stream a Transport, which its annotation leaves open.
    def connection_made(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, transport: asyncio.Transport
    ) -> None:
        joined = JoinedWrites(transport)
        self.app_state = {**self.app_state, KEY: joined}
        super().connection_made(joined)


async def reset(scope: Scope, receive: Receive) -> None:
    """Break the connection with a TCP reset; what is not sent yet is lost."""
    transport = _transport(scope)
    channel = transport.get_extra_info("socket")
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    transport.abort()
    await _gone(receive)


async def close(scope: Scope, receive: Receive) -> None:
    """Send what is written, then close the connection although the answer is not complete."""
    _transport(scope).close()
    await _gone(receive)


def _transport(scope: Scope) -> asyncio.WriteTransport:
    transport = scope["state"][KEY]
    if not isinstance(transport, asyncio.WriteTransport):
        raise TypeError(f"found {type(transport).__name__}, expected a transport")
    return transport


async def _gone(receive: Receive) -> None:
    # uvicorn complains of an application that returns while the connection still stands.
    while (await receive())["type"] != "http.disconnect":
        pass
