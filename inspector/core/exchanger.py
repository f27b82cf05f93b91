"""Makes exchanges and takes those that the agent begins: the only writer of the log."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from urllib.parse import urljoin

from inspector.core.entries import (
    ASIDE,
    Channel,
    Entry,
    Failed,
    FailureKind,
    FrameReceived,
    Headers,
    Log,
    Purpose,
    PushReceived,
    PushVerdict,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.core.redaction import Redactor
from inspector.net.events import (
    Broken,
    Chunk,
    Ended,
    NetEvent,
    Outgoing,
    Sending,
    Started,
    Transport,
)
from inspector.wire.dialect import Endpoint
from inspector.wire.sse import SseReader, SseTooLarge
from inspector.wire.urls import is_same_origin

MAXREDIRECTS = 3
MIB = 1024 * 1024
# breaks of an exchange that are not the agent's doing
_OURS = frozenset({FailureKind.TIMEOUT, FailureKind.STOPPED})
REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of one reply is kept before the exchange is broken off."""

    body_bytes: int = 8 * MIB
    event_bytes: int = 8 * MIB
    stream_bytes: int = 256 * MIB


@dataclass(slots=True)
class Recorder:
    """Writes the entries of one exchange, and remembers of the reply what the session needs.

    `watch` is called with each of these entries once it is in the log, its bytes as they passed
    the wire: what the session does next never depends on what the log masks.
    """

    log: Log
    exchange: int
    purpose: Purpose
    outgoing: Outgoing
    redactor: Redactor
    limits: Limits
    watch: Callable[[Entry], None]
    follows_redirects: bool = False
    status: int | None = None
    headers: Headers = ()
    failure: FailureKind | None = None
    is_done: bool = False
    _reader: SseReader | None = None
    _size_bytes: int = 0
    _has_request: bool = False
    _body: bytearray = field(default_factory=bytearray)

    @property
    def body(self) -> bytes:
        """The whole body; empty for a stream."""
        return bytes(self._body)

    @property
    def redirect(self) -> str | None:
        """Where the request goes on: to the same origin, with its method and body kept."""
        location = self.header("location")
        if not self.follows_redirects or self.status not in REDIRECTS or not location:
            return None
        url = urljoin(self.outgoing.url, location)
        keeps_method = self.outgoing.method == "GET" or self.status in (307, 308)
        return url if keeps_method and is_same_origin(self.outgoing.url, url) else None

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")

    def take(self, event: NetEvent) -> None:
        """Log `event`; afterwards `is_done` says whether the exchange is over."""
        match event:
            case Sending(headers):
                self._append_request(headers)
            case Started():
                self._start(event)
            case Chunk(content):
                self._take_chunk(content)
            case Ended():
                self._flush()
                self._append(lambda seq, at_ms: ResponseEnded(seq, at_ms, self.exchange))
                self.is_done = True
            case Broken(kind, message):
                self.fail(kind, message)

    def fail(self, kind: FailureKind, message: str, *, is_unfinished: bool = False) -> None:
        """Log what has come and that the exchange broke off, unless it is done.

        `is_unfinished`: more would have come, had it been read.
        """
        if self.is_done:
            return
        if not self._has_request:
            self._append_request(self.outgoing.headers)
        self._flush(is_unfinished=is_unfinished or kind in _OURS)
        text = self.redactor.text(message)
        self._append(lambda seq, at_ms: Failed(seq, at_ms, self.exchange, kind, text))
        self.failure = kind
        self.is_done = True

    def _append_request(self, headers: Headers) -> None:
        self._has_request = True
        masked = self.redactor.headers(headers)
        url = self.redactor.url(self.outgoing.url)
        sent = self.outgoing.body
        masked_body = self.redactor.raw(sent)
        is_sent_again = self.purpose not in ASIDE and masked_body != sent
        body = self.log.memory.hold(masked_body)
        entry = self.log.append(
            lambda seq, at_ms: RequestSent(
                seq,
                at_ms,
                self.exchange,
                self.purpose,
                self.outgoing.method,
                url,
                masked,
                body,
                self._endpoint(),
                self.outgoing.is_replay,
                self.outgoing.redirected_from,
                sent if is_sent_again else None,
            )
        )
        self.watch(replace(entry, content=sent))

    def _endpoint(self) -> Endpoint | None:
        """The agent's endpoint as the log may hold it."""
        endpoint = self.outgoing.endpoint
        return endpoint and replace(endpoint, url=self.redactor.url(endpoint.url))

    def _start(self, started: Started) -> None:
        self.status = started.status
        self.headers = started.headers
        if self.header("content-type").lower().startswith("text/event-stream"):
            self._reader = SseReader(self.limits.event_bytes)
        masked = self.redactor.headers(started.headers)
        self._append(
            lambda seq, at_ms: ResponseStarted(
                seq,
                at_ms,
                self.exchange,
                started.status,
                started.http_version,
                masked,
                started.connect_ms,
                self.redirect is not None,
            )
        )

    def _take_chunk(self, content: bytes) -> None:
        self._size_bytes += len(content)
        if self._reader is None:
            self._body += content[: max(0, self.limits.body_bytes - len(self._body))]
            if self._size_bytes > self.limits.body_bytes:
                self._stop_reading(f"a body larger than {_mib(self.limits.body_bytes)}")
            return
        try:
            for event in self._reader.feed(content):
                self._append_frame(Channel.SSE, event.raw)
        except SseTooLarge as error:
            self._stop_reading(f"an event larger than {_mib(error.limit_bytes)}")
            return
        if self._size_bytes > self.limits.stream_bytes:
            self._stop_reading(f"a stream larger than {_mib(self.limits.stream_bytes)}")

    def _stop_reading(self, what: str) -> None:
        self.fail(FailureKind.PROTOCOL, f"{what}; the rest is not read", is_unfinished=True)

    def _flush(self, *, is_unfinished: bool = False) -> None:
        """Log what no frame holds yet: a body, or a stream's event without its end."""
        if self._reader is not None:
            rest, channel = self._reader.pending, Channel.SSE
        else:
            is_poll = self.purpose is Purpose.POLL
            rest, channel = self.body, Channel.POLL if is_poll else Channel.RESPONSE
        if rest.strip(b"\r\n"):
            self._append_frame(channel, rest, is_unfinished=is_unfinished)

    def _append_frame(self, channel: Channel, raw: bytes, *, is_unfinished: bool = False) -> None:
        body = self.log.memory.hold(self.redactor.raw(raw))
        entry = self.log.append(
            lambda seq, at_ms: FrameReceived(
                seq, at_ms, self.exchange, channel, body, is_unfinished
            )
        )
        self.watch(replace(entry, content=raw))

    def _append(self, make: Callable[[int, float], Entry]) -> None:
        self.watch(self.log.append(make))


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / MIB:g} MiB"


@dataclass(frozen=True, slots=True)
class Made:
    """An exchange that is over: its number, what the recorder kept, where redirects led."""

    number: int
    recorder: Recorder
    url: str


def ignore(_: Entry) -> None:
    """Watch nothing."""


class Exchanger:
    """Numbers the exchanges; those under way can be stopped. `watch` gets the entries of one."""

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
    def running(self) -> frozenset[int]:
        """The numbers of the exchanges under way."""
        return frozenset(self._running)

    def stop(self, number: int) -> None:
        """Break off a running exchange; the log gets a Failed of kind STOPPED."""
        if scope := self._running.get(number):
            self._stopped.add(number)
            scope.reschedule(asyncio.get_running_loop().time())

    async def aclose(self) -> None:
        """Stop what runs and close the connections."""
        for number in self.running:
            self.stop(number)
        await self._transport.aclose()

    async def follow(
        self, purpose: Purpose, outgoing: Outgoing, watch: Callable[[Entry], None] = ignore
    ) -> Made:
        """Make the exchange, and again where the same origin redirects it with its method kept."""
        for _ in range(MAXREDIRECTS):
            made = await self.make(purpose, outgoing, watch, follows_redirects=True)
            url = made.recorder.redirect
            if url is None or made.recorder.failure is not None:
                return made
            outgoing = replace(outgoing, url=url, redirected_from=made.number)
        return await self.make(purpose, outgoing, watch)

    async def make(
        self,
        purpose: Purpose,
        outgoing: Outgoing,
        watch: Callable[[Entry], None] = ignore,
        *,
        transport: Transport | None = None,
        is_endless: bool = False,
        follows_redirects: bool = False,
    ) -> Made:
        """Make one exchange; failures are in the log, never raised."""
        number, recorder = self.begin(purpose, outgoing, watch)
        recorder.follows_redirects = follows_redirects
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
        """The next number, and the recorder of its exchange."""
        number = self._next_number()
        recorder = Recorder(self.log, number, purpose, outgoing, self.redactor, self._limits, watch)
        return number, recorder

    def receive(self, push: Outgoing, verdict: PushVerdict, status: int | None) -> PushReceived:
        """Log a request to the push receiver, and its answer; return it with the body that came."""
        number = self._next_number()
        headers, url = self.redactor.headers(push.headers), self.redactor.url(push.url)
        body = self.log.memory.hold(self.redactor.raw(push.body))

        def make(seq: int, at_ms: float) -> PushReceived:
            return PushReceived(
                seq, at_ms, number, push.method, url, headers, body, verdict, status, push.endpoint
            )

        return replace(self.log.append(make), content=push.body)

    def _next_number(self) -> int:
        self._last_number += 1
        return self._last_number
