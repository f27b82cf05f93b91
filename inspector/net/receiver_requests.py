"""What the receiver takes and says, and what one request may cost."""

from dataclasses import dataclass

from inspector.net.events import Headers

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not looked at any further, and the status that says so."""

    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request as it came; a refused one has no body, and garbage has no method."""

    method: str
    target: str
    headers: Headers = ()
    body: bytes = b""
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What to say; `status` None says nothing: hang for as long as the client does, or drop."""

    status: int | None
    headers: Headers = ()
    text: str = ""
    delay_seconds: float = 0.0
    is_hanging: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one request may cost, and how many there may be at once."""

    head_bytes: int = 16 * 1024
    body_bytes: int = 8 * MIB
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    drain_seconds: float = 5.0
    drain_bytes: int = 256 * MIB
    hang_seconds: float = 600.0
    connections: int = 64
