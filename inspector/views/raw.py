"""Bytes as they passed the wire: of one entry, or of a whole exchange."""

from collections.abc import Iterator

from inspector.core.entries import Headers, RequestSent
from inspector.views.exchanges import Exchange
from inspector.views.matching import frame_at


def entry_bytes(exchange: Exchange, seq: int) -> bytes:
    """The body or frame that the entry `seq` brought; of any other entry the request's body."""
    frame = frame_at(exchange, seq)
    return exchange.request.body if frame is None else frame.raw


def exchange_bytes(exchange: Exchange) -> bytes:
    """The request and all that came of it, heads included; credentials are masked in the log."""
    return b"".join(_parts(exchange))


def received_bytes(exchange: Exchange) -> bytes:
    """What the other side sent: the body of the answer, or of its own request."""
    if not isinstance(exchange.request, RequestSent):
        return exchange.request.body
    return b"".join(frame.raw for frame in exchange.frames)


def _parts(exchange: Exchange) -> Iterator[bytes]:
    request, response = exchange.request, exchange.response
    yield _head(f"{request.method} {request.url}", request.headers)
    yield request.body + b"\n\n"
    if response is not None:
        yield _head(f"{response.http_version} {response.status}", response.headers)
    for frame in exchange.frames:
        yield frame.raw
    if exchange.failure is not None:
        yield f"\n{exchange.failure.kind}: {exchange.failure.message}\n".encode(errors="replace")


def _head(first: str, headers: Headers) -> bytes:
    lines = [first, *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\n".join(lines).encode(errors="replace")
