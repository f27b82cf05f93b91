"""What the log of exchanges holds: raw bytes and headers, in the order they passed the wire.

An entry never holds a parsed payload: parsing is a view, so bytes that break a parser are kept.
`seq` counts from 1 and `at_ms` runs from the start of the session; the log gives both.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias, TypeVar

from inspector.core.bodies import Body, BodyMemory
from inspector.net.events import FailureKind, Headers
from inspector.wire.dialect import Endpoint
from inspector.wire.tokens import MASK


class Channel(StrEnum):
    """The channel by which an update of a task came."""

    RESPONSE = "response"
    SSE = "sse"
    POLL = "poll"
    PUSH = "push"


class Purpose(StrEnum):
    """Why an exchange was made."""

    CARD = "card"
    SEND = "send"
    STREAM = "stream"
    POLL = "poll"
    GET = "get"
    CANCEL = "cancel"
    RESUBSCRIBE = "resubscribe"
    ADMIN = "admin"
    FORWARD = "forward"
    KEYS = "keys"


# exchanges beside the conversation: its views leave them out
ASIDE = frozenset({Purpose.CARD, Purpose.ADMIN, Purpose.FORWARD, Purpose.KEYS})


class PushVerdict(StrEnum):
    """What the receiver made of a notification before it answered (inspector.md PUSHRX-1)."""

    ACCEPTED = "accepted"
    UNKNOWN_TASK = "unknown-task"
    FORGED = "forged"
    BAD_BODY = "bad-body"
    REFUSED = "refused"


# Metadata of a field that stays in memory: no session file has it.
NEVER_SAVED: Mapping[str, bool] = {"is_saved": False}


@dataclass(frozen=True, slots=True)
class RequestSent:
    """`endpoint` is the agent's; None for a request outside its protocol.

    `is_replay`: a live replay sent it, beside the session's own conversation. `redirected_from` is
    the exchange whose answer sent it on to this URL; None for what the user or the session asked.

    `unmasked` is the body as it went out, where `body` masks something; it is never saved.
    `is_reopened` says that this was read from a saved session.
    """

    seq: int
    at_ms: float
    exchange: int
    purpose: Purpose
    method: str
    url: str
    headers: Headers
    content: bytes | Body = field(metadata={"saved_as": "body"})
    endpoint: Endpoint | None = None
    is_replay: bool = False
    redirected_from: int | None = None
    unmasked: bytes | None = field(default=None, repr=False, compare=False, metadata=NEVER_SAVED)

    is_reopened: bool = field(default=False, compare=False, metadata=NEVER_SAVED)

    @property
    def is_masked(self) -> bool:
        """The body as it went out is known no more: its file holds masks in place of secrets."""
        return self.is_reopened and MASK.encode() in self.body

    @property
    def body(self) -> bytes:
        return bytes_of(self.content)

    @property
    def sent_body(self) -> bytes:
        """The body as it went out; with the masks of its file where it `is_masked`."""
        return self.body if self.unmasked is None else self.unmasked


@dataclass(frozen=True, slots=True)
class ResponseStarted:
    """`connect_ms` is None where an open connection served again.

    `is_redirect`: the request goes on at another address, as an exchange of its own.
    """

    seq: int
    at_ms: float
    exchange: int
    status: int
    http_version: str
    headers: Headers
    connect_ms: float | None = None
    is_redirect: bool = False


@dataclass(frozen=True, slots=True)
class FrameReceived:
    """`raw` is a whole body, or one SSE event (or comment) with its line ends.

    `is_unfinished`: it is a part, as reading stopped while the agent was still sending.
    """

    seq: int
    at_ms: float
    exchange: int
    channel: Channel
    content: bytes | Body = field(metadata={"saved_as": "raw"})
    is_unfinished: bool = False

    @property
    def raw(self) -> bytes:
        return bytes_of(self.content)


@dataclass(frozen=True, slots=True)
class ResponseEnded:
    seq: int
    at_ms: float
    exchange: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The exchange broke off; what came before is in the log."""

    seq: int
    at_ms: float
    exchange: int
    kind: FailureKind
    message: str


@dataclass(frozen=True, slots=True)
class PushReceived:
    """A request to the push receiver, an exchange of its own that the agent began.

    `status` is what the receiver answered; None where it dropped the connection.
    """

    seq: int
    at_ms: float
    exchange: int
    method: str
    url: str
    headers: Headers
    content: bytes | Body = field(metadata={"saved_as": "body"})
    verdict: PushVerdict
    status: int | None
    endpoint: Endpoint | None = None

    @property
    def body(self) -> bytes:
        return bytes_of(self.content)


# what has a body, which may leave the memory
WithBody: TypeAlias = RequestSent | FrameReceived | PushReceived


def bytes_of(content: bytes | Body) -> bytes:
    """The bytes themselves; those that left the memory are read again."""
    return content if isinstance(content, bytes) else content.read()


def is_cut(entry: WithBody) -> bool:
    """Say whether the end of what came is kept nowhere."""
    return isinstance(entry.content, Body) and entry.content.is_cut


def size_of(entry: WithBody) -> int:
    """How many bytes came."""
    content = entry.content
    return len(content) if isinstance(content, bytes) else content.size_bytes


# what begins an exchange, in either direction
OpeningRequest: TypeAlias = RequestSent | PushReceived
Entry: TypeAlias = (
    RequestSent | ResponseStarted | FrameReceived | ResponseEnded | Failed | PushReceived
)


EntryT = TypeVar("EntryT", bound=Entry)


class Log:
    """Entries in order. `clock` counts seconds; `at_ms` of an entry is since the log began.

    A log goes on with the entries `before`, made in `before_seconds` by another process. What
    came in the bodies of entries is in `memory` as long as that has room.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        before: Iterable[Entry] = (),
        before_seconds: float = 0.0,
        *,
        memory: BodyMemory | None = None,
    ) -> None:
        self.memory = memory or BodyMemory()
        self._clock = clock
        self._began = clock() - before_seconds
        self._entries: list[Entry] = list(before)
        self._last_seq = self._entries[-1].seq if self._entries else 0
        self._subscribers: list[Callable[[Entry], None]] = []

    @property
    def now_ms(self) -> float:
        """The time since the log began."""
        return (self._clock() - self._began) * 1000

    @property
    def last_exchange(self) -> int:
        """The highest number of an exchange; 0 where there is none."""
        return max((entry.exchange for entry in self._entries), default=0)

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    def append(self, make: Callable[[int, float], EntryT]) -> EntryT:
        """Append what `make` returns for the next seq and the time; subscribers get it too."""
        at_ms = self.now_ms
        self._last_seq += 1
        entry = make(self._last_seq, at_ms)
        self._entries.append(entry)
        for subscriber in tuple(self._subscribers):
            subscriber(entry)
        return entry

    def subscribe(self, subscriber: Callable[[Entry], None]) -> Callable[[], None]:
        """Call `subscriber` with each entry from now on, until the returned function is called."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)
