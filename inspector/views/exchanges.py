"""The wire view: every exchange with its raw request, frames and times."""

from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TypeAlias, assert_never

from inspector.core.entries import (
    ASIDE,
    Channel,
    Entry,
    Failed,
    FrameReceived,
    Purpose,
    PushReceived,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.views.series import Series
from inspector.wire.findings import Finding, Severity
from inspector.wire.jsonrpc import Reply, read_reply, read_request
from inspector.wire.progress import Progress, advance, check_end
from inspector.wire.results import read_result
from inspector.wire.sse import parse_event
from inspector.wire.validate import STREAMING, check_reply, check_termination

STREAMS = frozenset({Purpose.STREAM, Purpose.RESUBSCRIBE})
EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Exchange:
    """`rpc_method` is None for a card; times are ms since the request was sent, None until then.

    `progress` is how far the task has come by this exchange alone.
    """

    id: int
    request: RequestSent
    rpc_method: str | None
    response: ResponseStarted | None = None
    frames: Series[FrameReceived] = field(default_factory=Series[FrameReceived])
    failure: Failed | None = None
    first_byte_ms: float | None = None
    total_ms: float | None = None
    size_bytes: int = 0
    findings: Series[Finding] = field(default_factory=Series[Finding])
    connect_ms: float | None = None
    progress: Progress = field(default_factory=Progress)

    @property
    def is_stream(self) -> bool:
        return self.request.purpose in STREAMS

    @property
    def last_reply(self) -> Reply | None:
        """The last reply that could be read; where none could, the last that came at all."""
        last: Reply | None = None
        for frame in reversed(self.frames):
            reply = reply_of(frame)
            if reply is not None and not reply.problem:
                return reply
            last = last or reply
        return last


Exchanges: TypeAlias = Series[Exchange]

EMPTY: Exchanges = Series()


def step(view: Exchanges, entry: Entry) -> Exchanges:
    """Add `entry` to its exchange; an entry of an exchange that never began is left out."""
    if isinstance(entry, RequestSent):
        method = None
        if entry.purpose not in ASIDE:
            method = read_request(entry.body).method
        progress = begin_progress(entry)
        return view.append(Exchange(entry.exchange, entry, method, progress=progress))
    index = index_of(view, entry.exchange)
    if index is None or isinstance(entry, PushReceived):
        return view
    return view.set(index, _extend(view[index], entry))


def index_of(view: Exchanges, exchange: int) -> int | None:
    """The place of an exchange; the newest are looked at first."""
    places = range(len(view) - 1, -1, -1)
    return next((place for place in places if view[place].id == exchange), None)


def find(view: Exchanges, exchange: int) -> Exchange | None:
    index = index_of(view, exchange)
    return None if index is None else view[index]


def reply_of(frame: FrameReceived) -> Reply | None:
    """The JSON-RPC reply in `frame`; None for an event without data, such as a keep-alive."""
    if frame.channel is not Channel.SSE:
        return read_reply(frame.raw)
    event = parse_event(frame.raw)
    return None if event.data is None else read_reply(event.data)


def begin_progress(request: RequestSent) -> Progress:
    return Progress(is_continued=request.purpose is Purpose.RESUBSCRIBE)


def _extend(
    exchange: Exchange, entry: ResponseStarted | FrameReceived | ResponseEnded | Failed
) -> Exchange:
    since_ms = entry.at_ms - exchange.request.at_ms
    match entry:
        case ResponseStarted():
            return replace(
                exchange,
                response=entry,
                first_byte_ms=since_ms,
                connect_ms=entry.connect_ms,
                findings=exchange.findings.extend(_check_response(exchange, entry)),
            )
        case FrameReceived():
            return _add_frame(exchange, entry)
        case ResponseEnded():
            return replace(
                exchange, total_ms=since_ms, findings=exchange.findings.extend(_check_end(exchange))
            )
        case Failed():
            return replace(exchange, failure=entry, total_ms=since_ms)
        case _ as never:
            assert_never(never)


def _add_frame(exchange: Exchange, frame: FrameReceived) -> Exchange:
    progress, findings = exchange.progress, exchange.findings
    if exchange.request.purpose not in ASIDE:
        progress, found = check_frame(exchange.request, exchange.progress, frame)
        findings = findings.extend(found)
    return replace(
        exchange,
        frames=exchange.frames.append(frame),
        size_bytes=exchange.size_bytes + len(frame.raw),
        progress=progress,
        findings=findings,
    )


def check_frame(
    request: RequestSent, progress: Progress, frame: FrameReceived
) -> tuple[Progress, tuple[Finding, ...]]:
    """How far the task is after `frame`, and everything that is wrong with the frame."""
    found: tuple[Finding, ...] = ()
    if frame.channel is Channel.SSE:
        found = check_termination(parse_event(frame.raw).is_terminated)
    reply = reply_of(frame)
    if reply is None:
        return progress, found
    found += check_reply(reply, read_request(request.body))
    if reply.error is not None:
        # an error ends a stream as well as a final update does
        return replace(progress, is_final=True), found
    if reply.problem:
        return progress, found
    progress, contradictions = advance(progress, read_result(reply.result))
    return progress, found + contradictions


def _check_response(exchange: Exchange, response: ResponseStarted) -> tuple[Finding, ...]:
    """The media type of a successful reply (A2A 0.3 §3.2.1, §3.3)."""
    if exchange.request.purpose in ASIDE or response.status >= HTTPStatus.MULTIPLE_CHOICES:
        return ()
    media_type = header(response, "content-type").partition(";")[0].strip().lower()
    allowed = (EVENT_STREAM, "application/json") if exchange.is_stream else ("application/json",)
    if media_type in allowed:
        return ()
    expected = " or ".join(allowed)
    text = f"content type {media_type[:80]!r}, expected {expected}"
    return (Finding(Severity.WARNING, "A2A 0.3 §3.2.1", "$", text),)


def _check_end(exchange: Exchange) -> tuple[Finding, ...]:
    """A stream ends with its final update, unless an HTTP error stood in its place."""
    response = exchange.response
    if not exchange.is_stream or response is None or response.status >= HTTPStatus.MULTIPLE_CHOICES:
        return ()
    if not exchange.frames:
        return (Finding(Severity.ERROR, STREAMING, "$", "the stream held no event"),)
    return check_end(exchange.progress)


def header(response: ResponseStarted, name: str) -> str:
    return next((value for key, value in response.headers if key.lower() == name), "")
