"""Turns what a transport tells of one exchange into entries of the log."""

from collections.abc import Callable
from dataclasses import dataclass

from inspector.core.entries import (
    Channel,
    Entry,
    Failed,
    FailureKind,
    FrameReceived,
    Headers,
    Purpose,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.core.log import Log
from inspector.core.redaction import Redactor
from inspector.net.events import Broken, Chunk, Ended, NetEvent, Outgoing, Sending, Started
from inspector.wire.sse import SseReader, SseTooLarge

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of one reply is kept before the exchange is broken off."""

    body_bytes: int = 8 * MIB
    event_bytes: int = 8 * MIB
    stream_bytes: int = 256 * MIB


class Recorder:
    """Writes the entries of one exchange, and remembers of the reply what the session needs.

    `watch` is called with each of these entries once it is in the log.
    """

    def __init__(
        self,
        log: Log,
        *,
        exchange: int,
        purpose: Purpose,
        outgoing: Outgoing,
        redactor: Redactor,
        limits: Limits,
        watch: Callable[[Entry], None] = lambda _: None,
    ) -> None:
        self._log = log
        self._watch = watch
        self._exchange = exchange
        self._purpose = purpose
        self._outgoing = outgoing
        self._redactor = redactor
        self._limits = limits
        self._reader: SseReader | None = None
        self._size_bytes = 0
        self._has_request = False
        self._body = bytearray()
        self.status: int | None = None
        self.headers: Headers = ()
        self.failure: FailureKind | None = None
        self.is_done = False

    @property
    def body(self) -> bytes:
        """The whole body; empty for a stream."""
        return bytes(self._body)

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
                self._append(lambda seq, at_ms: ResponseEnded(seq, at_ms, self._exchange))
                self.is_done = True
            case Broken(kind, message):
                self.fail(kind, message)

    def fail(self, kind: FailureKind, message: str) -> None:
        """Log what had come and that the exchange broke off; once it is done, nothing."""
        if self.is_done:
            return
        if not self._has_request:
            self._append_request(self._outgoing.headers)
        self._flush()
        text = self._redactor.text(message)
        self._append(lambda seq, at_ms: Failed(seq, at_ms, self._exchange, kind, text))
        self.failure = kind
        self.is_done = True

    def _append_request(self, headers: Headers) -> None:
        self._has_request = True
        masked = self._redactor.headers(headers)
        url = self._redactor.url(self._outgoing.url)
        body = self._redactor.raw(self._outgoing.body)
        self._append(
            lambda seq, at_ms: RequestSent(
                seq, at_ms, self._exchange, self._purpose, self._outgoing.method, url, masked, body
            )
        )

    def _start(self, started: Started) -> None:
        self.status = started.status
        self.headers = started.headers
        if self.header("content-type").lower().startswith("text/event-stream"):
            self._reader = SseReader(self._limits.event_bytes)
        masked = self._redactor.headers(started.headers)
        self._append(
            lambda seq, at_ms: ResponseStarted(
                seq,
                at_ms,
                self._exchange,
                started.status,
                started.http_version,
                masked,
                started.connect_ms,
            )
        )

    def _take_chunk(self, content: bytes) -> None:
        self._size_bytes += len(content)
        if self._reader is None:
            self._body += content[: max(0, self._limits.body_bytes - len(self._body))]
            if self._size_bytes > self._limits.body_bytes:
                self._stop_reading(f"a body larger than {_mib(self._limits.body_bytes)}")
            return
        try:
            for event in self._reader.feed(content):
                self._append_frame(Channel.SSE, event.raw)
        except SseTooLarge as error:
            self._stop_reading(f"an event larger than {_mib(error.limit_bytes)}")
            return
        if self._size_bytes > self._limits.stream_bytes:
            self._stop_reading(f"a stream larger than {_mib(self._limits.stream_bytes)}")

    def _stop_reading(self, what: str) -> None:
        self.fail(FailureKind.PROTOCOL, f"{what}; the rest is not read")

    def _flush(self) -> None:
        """Log what no frame holds yet: a body, or a stream's event without its end."""
        if self._reader is not None:
            rest, channel = self._reader.pending, Channel.SSE
        else:
            is_poll = self._purpose is Purpose.POLL
            rest, channel = self.body, Channel.POLL if is_poll else Channel.RESPONSE
        if rest.strip(b"\r\n"):
            self._append_frame(channel, rest)

    def _append_frame(self, channel: Channel, raw: bytes) -> None:
        masked = self._redactor.raw(raw)
        self._append(lambda seq, at_ms: FrameReceived(seq, at_ms, self._exchange, channel, masked))

    def _append(self, make: Callable[[int, float], Entry]) -> None:
        self._watch(self._log.append(make))


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / MIB:g} MiB"
