"""Names to addresses, without leaving anything behind that a shutdown would wait for.

A look-up blocks its thread for as long as the resolver likes and cannot be stopped. The event
loop's own threads are joined at exit and are few; these are daemons, and counted.
"""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import TypeAlias

from mock_server.push.addresses import Address

Resolve: TypeAlias = Callable[[str], Awaitable[tuple[Address, ...]]]

MAX_LOOKUPS = 64


class Resolver:
    """Looks names up as the machine does; whoever waits no longer leaves a thread that ends."""

    def __init__(self, look_up: Callable[[str], tuple[Address, ...]] | None = None) -> None:
        self._look_up = look_up or system_addresses
        self._free = threading.Semaphore(MAX_LOOKUPS)

    async def __call__(self, name: str) -> tuple[Address, ...]:
        """Return the addresses of `name`, in the order in which to try them.

        Raises:
            OSError: there are none, or too many look-ups hang.
        """
        if not self._free.acquire(blocking=False):
            raise OSError("too many names are being looked up")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[tuple[Address, ...]] = loop.create_future()
        thread = threading.Thread(
            target=self._run, args=(name, loop, answer), name="push-resolver", daemon=True
        )
        thread.start()
        return await answer

    def _run(
        self,
        name: str,
        loop: asyncio.AbstractEventLoop,
        answer: "asyncio.Future[tuple[Address, ...]]",
    ) -> None:
        found: tuple[Address, ...] | OSError
        try:
            found = self._look_up(name)
        except (OSError, ValueError) as error:
            found = OSError(str(error))
        finally:
            self._free.release()
        try:
            loop.call_soon_threadsafe(_settle, answer, found)
        except RuntimeError:
            # The loop is closed: nobody waits for the answer.
            return


def _settle(
    answer: "asyncio.Future[tuple[Address, ...]]", found: tuple[Address, ...] | OSError
) -> None:
    if answer.done():
        return
    if isinstance(found, OSError):
        answer.set_exception(found)
    else:
        answer.set_result(found)


def system_addresses(name: str) -> tuple[Address, ...]:
    """All addresses of `name`, each once."""
    found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(ip_address(address[0]) for *_, address in found))
