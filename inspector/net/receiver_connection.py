"""One connection to the receiver: one request read within its bounds, one answer, the end."""

import asyncio
from dataclasses import replace
from http import HTTPStatus

import h11

from inspector.net.events import find_header
from inspector.net.receiver_gate import Gate
from inspector.net.receiver_requests import Answer, Bounds, Incoming, Refusal

_CHUNK_BYTES = 64 * 1024
_REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}


class ReceiverConnection:
    """Speaks HTTP/1.1 by h11 over a pair of streams."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, bounds: Bounds
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._bounds = bounds
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=bounds.head_bytes)
        self._has_unread = False
        self._is_head = False

    async def read(self, gate: Gate) -> Incoming | None:
        """The request, or why it is refused; None where the client left without one."""
        head = await self._read_head()
        if head is None or head.refusal is not None:
            return head
        body, refusal = b"", self._refusal_by_head(head, gate)
        if refusal is None:
            body, refusal = await self._read_body()
        self._has_unread = refusal is not None
        return replace(head, body=body, refusal=refusal)

    async def answer(self, answer: Answer) -> None:
        """Say `answer`, in the time that it asks for."""
        await asyncio.sleep(answer.delay_seconds)
        if answer.status is None:
            if answer.is_hanging:
                await self._discard(self._bounds.hang_seconds)
            self._writer.transport.abort()
            return
        text = answer.text.encode()
        headers = [
            *answer.headers,
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(text))),
            ("Connection", "close"),
        ]
        reason = _REASONS.get(answer.status, b"")
        self._send(h11.Response(status_code=answer.status, headers=headers, reason=reason))
        if not self._is_head:
            self._send(h11.Data(data=text))
        self._send(h11.EndOfMessage())
        await self._writer.drain()
        if self._has_unread:
            # closing with bytes unread resets the connection before the client reads the answer
            if self._writer.can_write_eof():
                self._writer.write_eof()
            await self._discard(self._bounds.drain_seconds)

    async def close(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(self._bounds.drain_seconds):
                await self._writer.wait_closed()
        except (OSError, TimeoutError):
            self._writer.transport.abort()

    def _refusal_by_head(self, incoming: Incoming, gate: Gate) -> Refusal | None:
        """In the order of what it costs to find out."""
        if not gate.is_within_rate():
            return Refusal(HTTPStatus.TOO_MANY_REQUESTS, "too many requests")
        if not gate.is_expected(find_header(incoming.headers, "host")):
            return Refusal(HTTPStatus.MISDIRECTED_REQUEST, "no such host here")
        if incoming.method != "POST":
            return Refusal(HTTPStatus.METHOD_NOT_ALLOWED, "notifications are posted")
        if int(find_header(incoming.headers, "content-length") or 0) > self._bounds.body_bytes:
            return _too_large(self._bounds)
        return None

    async def _read_head(self) -> Incoming | None:
        try:
            async with asyncio.timeout(self._bounds.head_seconds):
                request = await self._next_event()
        except TimeoutError:
            refusal = Refusal(HTTPStatus.REQUEST_TIMEOUT, "the head took too long")
            return Incoming("", "", refusal=refusal)
        except h11.RemoteProtocolError as error:
            return Incoming("", "", refusal=Refusal(error.error_status_hint, str(error)))
        if not isinstance(request, h11.Request):
            return None
        self._is_head = request.method == b"HEAD"
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in request.headers.raw_items()
        )
        return Incoming(request.method.decode("latin-1"), request.target.decode("latin-1"), headers)

    async def _read_body(self) -> tuple[bytes, Refusal | None]:
        """The body, or why it is not taken."""
        body = bytearray()
        try:
            async with asyncio.timeout(self._bounds.body_seconds):
                while isinstance(event := await self._next_event(), h11.Data):
                    body += event.data
                    if len(body) > self._bounds.body_bytes:
                        return b"", _too_large(self._bounds)
        except TimeoutError:
            return b"", Refusal(HTTPStatus.REQUEST_TIMEOUT, "the body took too long")
        except h11.RemoteProtocolError as error:
            return b"", Refusal(error.error_status_hint, str(error))
        return bytes(body), None

    async def _next_event(self) -> "h11.Event | type[h11.PAUSED]":
        while True:
            event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event  # pyright: ignore[reportReturnType]: h11's sentinels are classes
            if self._http.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[]))
                await self._writer.drain()
            self._http.receive_data(await self._reader.read(_CHUNK_BYTES))

    def _send(self, event: "h11.Event") -> None:
        self._writer.write(self._http.send(event) or b"")

    async def _discard(self, seconds: float) -> None:
        """Read on without keeping anything, until the client hangs up or a bound is reached."""
        left_bytes = self._bounds.drain_bytes
        try:
            async with asyncio.timeout(seconds):
                while left_bytes > 0 and (chunk := await self._reader.read(_CHUNK_BYTES)):
                    left_bytes -= len(chunk)
        except TimeoutError:
            return


def _too_large(bounds: Bounds) -> Refusal:
    return Refusal(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body of more than {bounds.body_bytes} bytes"
    )
