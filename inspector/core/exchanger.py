"""Makes exchanges and takes those that the agent begins: the only writer of the log."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from urllib.parse import urljoin

from inspector.core.entries import Entry, FailureKind, Purpose, PushReceived, PushVerdict
from inspector.core.log import Log
from inspector.core.recorder import Limits, Recorder
from inspector.core.redaction import Redactor
from inspector.net.events import Outgoing, Transport
from inspector.wire.urls import is_same_origin

MAX_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Made:
    """An exchange that is over: its number, what the recorder kept, where redirects led."""

    number: int
    recorder: Recorder
    url: str


def ignore(_: Entry) -> None:
    """Watch nothing."""


class Exchanger:
    """Numbers the exchanges; those under way can be stopped. `watch` sees one's own entries."""

    def __init__(
        self,
        transport: Transport,
        log: Log,
        redactor: Redactor,
        *,
        timeout_seconds: float | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.log = log
        self.redactor = redactor
        self.timeout_seconds = timeout_seconds
        self._transport = transport
        self._limits = limits or Limits()
        self._last_number = log.last_exchange
        self._running: dict[int, asyncio.Timeout] = {}
        self._stopped: set[int] = set()

    @property
    def running(self) -> Mapping[int, object]:
        """The exchanges under way, by number."""
        return self._running

    def stop(self, number: int) -> None:
        """Break off a running exchange; the log gets a Failed of kind STOPPED."""
        if scope := self._running.get(number):
            self._stopped.add(number)
            scope.reschedule(asyncio.get_running_loop().time())

    async def aclose(self) -> None:
        """Stop what runs and close the connections."""
        for number in tuple(self._running):
            self.stop(number)
        await self._transport.aclose()

    async def follow(
        self, purpose: Purpose, outgoing: Outgoing, watch: Callable[[Entry], None] = ignore
    ) -> Made:
        """Make the exchange, and again where the same origin redirects it with its method kept."""
        for _ in range(MAX_REDIRECTS):
            made = await self.make(purpose, outgoing, watch)
            location = urljoin(outgoing.url, made.recorder.header("location"))
            if not _may_follow(outgoing, made.recorder, location):
                return made
            outgoing = Outgoing(outgoing.method, location, outgoing.headers, outgoing.body)
        return await self.make(purpose, outgoing, watch)

    async def make(
        self,
        purpose: Purpose,
        outgoing: Outgoing,
        watch: Callable[[Entry], None] = ignore,
        *,
        transport: Transport | None = None,
        is_endless: bool = False,
    ) -> Made:
        """Make one exchange; whatever comes of it is in the log, never raised."""
        number, recorder = self.begin(purpose, outgoing, watch)
        try:
            async with asyncio.timeout(None if is_endless else self.timeout_seconds) as scope:
                self._running[number] = scope
                async with aclosing((transport or self._transport).exchange(outgoing)) as events:
                    async for event in events:
                        recorder.take(event)
                        if recorder.is_done:
                            break
        except TimeoutError:
            if number in self._stopped:
                recorder.fail(FailureKind.STOPPED, "stopped by the user")
            else:
                recorder.fail(FailureKind.TIMEOUT, f"no end within {self.timeout_seconds:g} s")
        except asyncio.CancelledError:
            recorder.fail(FailureKind.STOPPED, "interrupted")
            raise
        finally:
            self._running.pop(number, None)
            self._stopped.discard(number)
        return Made(number, recorder, outgoing.url)

    def begin(
        self, purpose: Purpose, outgoing: Outgoing, watch: Callable[[Entry], None] = ignore
    ) -> tuple[int, Recorder]:
        """The next number, and who writes down what becomes of it."""
        number = self._next_number()
        recorder = Recorder(
            self.log,
            exchange=number,
            purpose=purpose,
            outgoing=outgoing,
            redactor=self.redactor,
            limits=self._limits,
            watch=watch,
        )
        return number, recorder

    def receive(self, push: Outgoing, verdict: PushVerdict, status: int | None) -> PushReceived:
        """Write down a request that came to the push receiver, and what it was answered."""
        number = self._next_number()
        headers, body = self.redactor.headers(push.headers), self.redactor.raw(push.body)
        url = self.redactor.url(push.url)

        def make(seq: int, at_ms: float) -> PushReceived:
            return PushReceived(
                seq, at_ms, number, push.method, url, headers, body, verdict, status
            )

        return self.log.append(make)

    def _next_number(self) -> int:
        self._last_number += 1
        return self._last_number


def _may_follow(outgoing: Outgoing, recorder: Recorder, location: str) -> bool:
    """A redirect to the same origin; one that would turn a POST into a GET is not followed."""
    if recorder.status not in _REDIRECTS or not recorder.header("location"):
        return False
    keeps_method = outgoing.method == "GET" or recorder.status in (307, 308)
    return keeps_method and is_same_origin(outgoing.url, location)
