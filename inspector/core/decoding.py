"""The one decoder of what passed the wire: each exchange is read in the dialect it was made in."""

from dataclasses import dataclass

from inspector.core.entries import Channel, Entry, FrameReceived, PushReceived, RequestSent
from inspector.wire.dialect import Dialect, Notification, Operation, Reply, Request, Result
from inspector.wire.endpoints import DEFAULT, dialect_of
from inspector.wire.json_values import Json


@dataclass(frozen=True, slots=True)
class Spoken:
    """How the replies of an exchange are to be read: the dialect, and what was asked in it."""

    dialect: Dialect = DEFAULT
    operation: Operation | None = None

    def decode(self, frame: FrameReceived) -> Reply:
        """The reply in `frame`; it is silent for an event without data, such as a keep-alive."""
        is_event = frame.channel is Channel.SSE
        return self.dialect.read(frame.raw, self.operation, is_event=is_event)


# that of an exchange whose request nobody has seen
UNKNOWN = Spoken()


def read_sent(request: RequestSent) -> Request:
    """What `request` asked, as its dialect reads it."""
    return dialect_of(request.endpoint).read_request(request.body)


def spoken_in(request: RequestSent) -> Spoken:
    """How the replies to `request` are to be read."""
    return Spoken(dialect_of(request.endpoint), read_sent(request).operation)


def read_push(push: PushReceived) -> Notification:
    """What the notification `push` tells."""
    return dialect_of(push.endpoint).read_notification(push.body)


@dataclass(frozen=True, slots=True)
class Source:
    """An entry that tells of a task, and how it is read."""

    entry: FrameReceived | PushReceived
    spoken: Spoken = UNKNOWN

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
        reply = self.spoken.decode(self.entry)
        return None if reply.is_silent else reply

    @property
    def result(self) -> Result | None:
        """What it tells, read from its bytes again; None where it tells nothing."""
        if isinstance(self.entry, PushReceived):
            return read_push(self.entry).result
        return self.spoken.decode(self.entry).result

    @property
    def as_received(self) -> Json:
        """The result as the agent wrote it."""
        if isinstance(self.entry, PushReceived):
            return read_push(self.entry).value
        return self.spoken.decode(self.entry).payload


class Decoder:
    """Knows how the exchanges are read whose requests it has seen."""

    def __init__(self) -> None:
        self._spoken: dict[int, Spoken] = {}

    def take(self, entry: Entry) -> Source | None:
        """What `entry` may tell of a task; None for a request and whatever tells nothing."""
        match entry:
            case RequestSent():
                self._spoken[entry.exchange] = spoken_in(entry)
                return None
            case FrameReceived():
                return Source(entry, self._spoken.get(entry.exchange, UNKNOWN))
            case PushReceived():
                return Source(entry)
            case _:
                return None
