"""The events of one exchange from a transport: bytes and times, no meaning."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from inspector.wire.dialect import Headers, Outgoing


def find_header(headers: Headers, name: str) -> str | None:
    """The first value of the header `name`, however it is spelt; None where there is none."""
    return next((value for key, value in headers if key.lower() == name.lower()), None)


USER_AGENT = "a2a-inspect"
# What every HTTP client writes itself.
_WRITTEN_BY_TRANSPORT = frozenset({"host", "content-length", "connection", "accept-encoding"})


def is_written_by_transport(name: str, value: str) -> bool:
    """Say whether the user had no part in a header; a User-Agent may name another program."""
    name = name.lower()
    return name in _WRITTEN_BY_TRANSPORT or (name == "user-agent" and value == USER_AGENT)


class FailureKind(StrEnum):
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"
    DISCONNECTED = "disconnected"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Sending:
    """The request goes out with exactly these headers."""

    headers: Headers


@dataclass(frozen=True, slots=True)
class Started:
    """`connect_ms` is None where an open connection was used again."""

    status: int
    http_version: str
    headers: Headers
    connect_ms: float | None


@dataclass(frozen=True, slots=True)
class Chunk:
    content: bytes


@dataclass(frozen=True, slots=True)
class Ended:
    pass


@dataclass(frozen=True, slots=True)
class Broken:
    kind: FailureKind
    message: str


NetEvent: TypeAlias = Sending | Started | Chunk | Ended | Broken


class Transport(Protocol):
    """Makes one exchange at a time or many at once; the last event is Ended or Broken."""

    def exchange(self, outgoing: Outgoing) -> AsyncGenerator[NetEvent, None]: ...

    async def aclose(self) -> None: ...


# RFC 9110 §7.6.1, and what the new connection writes itself
_HOP_BY_HOP = frozenset(
    {
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


def forwarded_headers(headers: Headers, pseudonym: str) -> Headers:
    """`headers` as they go on, with `pseudonym` in Via (RFC 9110 §7.6.3)."""
    named = {
        name.strip().lower()
        for key, value in headers
        if key.lower() == "connection"
        for name in value.split(",")
    }
    kept = tuple(one for one in headers if one[0].lower() not in _HOP_BY_HOP | named)
    return (*kept, ("Via", f"1.1 {pseudonym}"))


def has_passed(headers: Headers, pseudonym: str) -> bool:
    """Say whether the request was forwarded under `pseudonym` before, and so goes in a circle."""
    vias = (value for key, value in headers if key.lower() == "via")
    return any(pseudonym in via.replace(",", " ").split() for via in vias)
