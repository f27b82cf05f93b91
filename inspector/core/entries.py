"""What the log of exchanges holds: raw bytes and headers, in the order they passed the wire.

An entry never holds a parsed payload: parsing is a view, so bytes that break a parser are kept.
`seq` counts from 1 and `at_ms` runs from the start of the session; the log gives both.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from inspector.net.events import FailureKind, Headers


class Channel(StrEnum):
    """The way by which an update of a task came."""

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


@dataclass(frozen=True, slots=True)
class RequestSent:
    seq: int
    at_ms: float
    exchange: int
    purpose: Purpose
    method: str
    url: str
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class ResponseStarted:
    """`connect_ms` is None where an open connection served again."""

    seq: int
    at_ms: float
    exchange: int
    status: int
    http_version: str
    headers: Headers
    connect_ms: float | None = None


@dataclass(frozen=True, slots=True)
class FrameReceived:
    """`raw` is a whole body, or one SSE event (or comment) with its line ends."""

    seq: int
    at_ms: float
    exchange: int
    channel: Channel
    raw: bytes


@dataclass(frozen=True, slots=True)
class ResponseEnded:
    seq: int
    at_ms: float
    exchange: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The exchange broke off; what had come before it is in the log."""

    seq: int
    at_ms: float
    exchange: int
    kind: FailureKind
    message: str


@dataclass(frozen=True, slots=True)
class PushReceived:
    """A request to the push receiver, an exchange of its own that the agent began.

    `status` is what the receiver answered; None where it was told to drop the connection.
    """

    seq: int
    at_ms: float
    exchange: int
    method: str
    url: str
    headers: Headers
    body: bytes
    verdict: PushVerdict
    status: int | None


Entry: TypeAlias = (
    RequestSent | ResponseStarted | FrameReceived | ResponseEnded | Failed | PushReceived
)
