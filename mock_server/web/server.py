"""uvicorn, told when to start, and stopped by us.

uvicorn raises a signal again after it has shut down, so that the process dies of it, and waits for
connections only. The mock exits with 0 and waits for turns, which may have nobody connected.
"""

import asyncio
import signal
import socket
import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from mock_server.service.service import Service
from mock_server.web.connection import OpenHandedProtocol

DRAIN_SECONDS = 5
# Answers to turns that were cut off still go out.
CLOSE_SECONDS = DRAIN_SECONDS + 1
KEEP_ALIVE_SECONDS = 65
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Server(uvicorn.Server):
    """uvicorn on a socket that is bound already; it calls `when_ready` once it answers."""

    def __init__(
        self, app: ASGIApp, when_ready: Callable[[], None], tls: ssl.SSLContext | None = None
    ) -> None:
        config = uvicorn.Config(
            app,
            http=OpenHandedProtocol,
            ws="none",
            log_config=None,
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


async def serve_until_signal(server: Server, service: Service, listener: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM, then let the turns that run come to their end."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stopped.set)
    async with asyncio.TaskGroup() as group:
        group.create_task(_stop(server, service, stopped))
        await server.serve(sockets=[listener])
        stopped.set()


async def _stop(server: Server, service: Service, stopped: asyncio.Event) -> None:
    await stopped.wait()
    server.should_exit = True
    await service.drain(DRAIN_SECONDS)
