"""The one decoder of what passed the wire: it reads each exchange in the dialect it was made in."""

from dataclasses import dataclass

from inspector.core.entries import (
    Channel,
    Entry,
    FrameReceived,
    PushReceived,
    RequestSent,
    WithBody,
    bytes_of,
    is_cut,
    size_of,
)
from inspector.wire.dialect import Dialect, Notification, Operation, Reply, Request, Result
from inspector.wire.endpoints import DEFAULT, dialect_of
from inspector.wire.json_values import Json


@dataclass(frozen=True, slots=True)
class ReplyReader:
    """Reads the replies of an exchange, in its dialect and as answers to what was asked."""

    dialect: Dialect = DEFAULT
    operation: Operation | None = None

    def decode(self, frame: FrameReceived) -> Reply:
        """The reply in `frame`; it is silent for an event without data, such as a keep-alive.

        So it is for a part of a reply, of which nobody can say what the whole would have been.
        """
        if frame.is_unfinished:
            return Reply(None, is_silent=True)
        is_event, raw = frame.channel is Channel.SSE, frame.raw
        if is_cut(frame):
            return Reply(None, problem=problem_of_cut(frame))
        return self.dialect.read(raw, self.operation, is_event=is_event)


# of an exchange whose request is not in the log
UNKNOWN = ReplyReader()


def read_sent(request: RequestSent) -> Request:
    """What `request` asked, as its dialect reads it."""
    return dialect_of(request.endpoint).read_request(request.body)


def reader_of(request: RequestSent) -> ReplyReader:
    """The reader of the replies to `request`."""
    return ReplyReader(dialect_of(request.endpoint), read_sent(request).operation)


def read_push(push: PushReceived) -> Notification:
    """The notification in `push`."""
    body = push.body
    if is_cut(push):
        return Notification(None, problem=problem_of_cut(push))
    return dialect_of(push.endpoint).read_notification(body)


def problem_of_cut(entry: WithBody) -> str:
    """Why an entry of which only the start is kept cannot be read any more."""
    return f"cut: {len(bytes_of(entry.content))} of {size_of(entry)} bytes are kept"


@dataclass(frozen=True, slots=True)
class Source:
    """An entry that reports on a task, and how it is read."""

    entry: FrameReceived | PushReceived
    reader: ReplyReader = UNKNOWN

    @property
    def seq(self) -> int:
        return self.entry.seq

    @property
    def exchange(self) -> int:
        return self.entry.exchange

    @property
    def at_ms(self) -> float:
        return self.entry.at_ms

    @property
    def reply(self) -> Reply | None:
        """The reply that it is; None for a notification, and for an event without data."""
        if isinstance(self.entry, PushReceived):
            return None
        reply = self.reader.decode(self.entry)
        return None if reply.is_silent else reply

    @property
    def result(self) -> Result | None:
        """What it reports, read from its bytes again; None where it reports nothing."""
        if isinstance(self.entry, PushReceived):
            return read_push(self.entry).result
        return self.reader.decode(self.entry).result

    @property
    def as_received(self) -> Json:
        """The result as the agent wrote it."""
        if isinstance(self.entry, PushReceived):
            return read_push(self.entry).value
        return self.reader.decode(self.entry).payload


class Decoder:
    """Finds the readers of replies from the requests that it has taken."""

    def __init__(self) -> None:
        self._readers: dict[int, ReplyReader] = {}

    def take(self, entry: Entry) -> Source | None:
        """What `entry` may report on a task; None for a request and whatever reports nothing."""
        match entry:
            case RequestSent():
                self._readers[entry.exchange] = reader_of(entry)
                return None
            case FrameReceived():
                return Source(entry, self._readers.get(entry.exchange, UNKNOWN))
            case PushReceived():
                return Source(entry)
            case _:
                return None
