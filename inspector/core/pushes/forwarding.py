"""Hands verified notifications on, one after the other in the order they came."""

import asyncio

from inspector.core.entries import FailureKind, Purpose
from inspector.core.exchanger import Exchanger
from inspector.net.events import Outgoing, Transport

MAX_WAITING = 100


class Forwarder:
    """`put` never waits; `aclose` gives up what is still to go out.

    `transport` is not the agent's: no cookie or certificate of the agent goes with it. Redirects
    are not followed.
    """

    def __init__(self, exchanger: Exchanger, transport: Transport) -> None:
        self._exchanger = exchanger
        self._transport = transport
        self._waiting: asyncio.Queue[Outgoing] = asyncio.Queue(MAX_WAITING)
        self._worker = asyncio.create_task(self._run())

    def put(self, outgoing: Outgoing) -> None:
        """Send `outgoing` after those before it; where too many wait, the log says it was not."""
        try:
            self._waiting.put_nowait(outgoing)
        except asyncio.QueueFull:
            _, recorder = self._exchanger.begin(Purpose.FORWARD, outgoing)
            text = f"not handed on: {MAX_WAITING} others wait already"
            recorder.fail(FailureKind.STOPPED, text)

    async def aclose(self) -> None:
        self._worker.cancel()
        await asyncio.gather(self._worker, return_exceptions=True)
        await self._transport.aclose()

    async def _run(self) -> None:
        while True:
            outgoing = await self._waiting.get()
            await self._exchanger.make(Purpose.FORWARD, outgoing, transport=self._transport)
