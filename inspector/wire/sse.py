"""Server-Sent Events without I/O: bytes in, events out, each with the bytes it came in.

The stream's grammar is that of the WHATWG HTML standard, §9.2.5 and §9.2.6.
"""

import re
from dataclasses import dataclass

LINE_END = re.compile(rb"\r\n|\r|\n")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One block of the stream; `data` is None where it held only comments or other fields.

    `is_terminated` is false for a block that the stream's end cut off before its blank line; a
    browser would drop it.
    """

    raw: bytes
    data: bytes | None
    event: str = ""
    id: str = ""
    comments: tuple[str, ...] = ()
    is_terminated: bool = True


class SseTooLarge(Exception):
    """A block grew past the limit of `limit_bytes` without its blank line."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        super().__init__(f"an event larger than {limit_bytes} bytes")


class SseReader:
    """Cuts a stream into events, however it was chunked.

    The raw bytes of all events and `pending`, joined, are the bytes fed. An event is given out at
    the first byte that ends it: the LF of a CRLF still to come then opens the next event's raw.
    """

    def __init__(self, limit_bytes: int = 8 * 1024 * 1024) -> None:
        self._limit_bytes = limit_bytes
        self._buffer = bytearray()
        self._line_start = 0
        self._has_lines = False
        self._after_cr = False

    @property
    def pending(self) -> bytes:
        """What came after the last event."""
        return bytes(self._buffer)

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take the next bytes and return the events they complete.

        Raises:
            SseTooLarge: the open event passed the limit; `pending` still holds its bytes.
        """
        if not chunk:
            return []
        if self._after_cr and chunk.startswith(b"\n"):
            self._line_start += 1
        unseen = max(len(self._buffer), self._line_start)
        self._buffer += chunk
        self._after_cr = chunk.endswith(b"\r")
        events: list[SseEvent] = []
        while line_end := LINE_END.search(self._buffer, unseen):
            if event := self._end_line(line_end.start(), line_end.end()):
                events.append(event)
                unseen = 0
            else:
                unseen = line_end.end()
        if len(self._buffer) > self._limit_bytes:
            raise SseTooLarge(self._limit_bytes)
        return events

    def _end_line(self, start: int, end: int) -> SseEvent | None:
        is_blank = start == self._line_start
        self._line_start = end
        if not is_blank:
            self._has_lines = True
            return None
        if not self._has_lines:
            return None
        raw = bytes(self._buffer[:end])
        del self._buffer[:end]
        self._line_start = 0
        self._has_lines = False
        return parse_event(raw)


def parse_event(raw: bytes) -> SseEvent:
    """Read one block; fields other than data, event and id are left to `raw`."""
    lines = LINE_END.split(raw.removeprefix(BYTE_ORDER_MARK))
    data: list[bytes] = []
    comments: list[str] = []
    fields = {b"event": "", b"id": ""}
    for line in lines:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if line.startswith(b":"):
            comments.append(value.decode(errors="replace"))
        elif name == b"data":
            data.append(value)
        elif name in fields:
            fields[name] = value.decode(errors="replace")
    return SseEvent(
        raw=raw,
        data=b"\n".join(data) if data else None,
        event=fields[b"event"],
        id=fields[b"id"],
        comments=tuple(comments),
        is_terminated=lines[-2:] == [b"", b""],
    )
