"""Which callback URLs are taken (server.md PUSH-3).

A URL is taken apart once, here; the request is built from the parts, so no other parser can read
another host out of it. What a client is told does not tell a name that leads into our network from
one that does not exist.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from mock_server.errors import PushRefused
from mock_server.push.addresses import Address, Kind, kind_of
from mock_server.push.hosts import Host, parse_host, written

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL_LENGTH = 2048
LAST_PORT = 65535
UNREADABLE = re.compile(r"[\x00-\x20\x7f\\]")
AUTHORITY = re.compile(r"(?P<host>\[[^\[\]@]*\]|[^\[\]:@]+)(?::(?P<port>[0-9]{0,5}))?")

NOT_A_URL = "it is not a URL"
WRONG_SCHEME = "its scheme is neither http nor https"
NO_HOST = "it names no valid host"
HAS_CREDENTIALS = "it carries credentials"
HOST_NOT_ALLOWED = "its host is not allowed"
NOT_PUBLIC = "its host is not known as a public one"


@dataclass(frozen=True, slots=True)
class UrlPolicy:
    """`allowed_hosts` None allows every host; `opens_loopback` is `--allow-local-push`."""

    allowed_hosts: tuple[Host, ...] | None = None
    opens_loopback: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """A callback URL in parts; `path` begins with `/` and includes the query."""

    scheme: str
    host: Host
    port: int
    path: str = field(repr=False)

    @property
    def authority(self) -> str:
        """The Host header: without the port that goes without saying."""
        host = written(self.host)
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def parse_target(url: str, policy: UrlPolicy) -> Target:
    """Take `url` apart and judge what can be judged without a resolver.

    Raises:
        PushRefused: `policy` does not take it.
    """
    if len(url) > MAX_URL_LENGTH or UNREADABLE.search(url) or not _is_text(url):
        raise PushRefused(NOT_A_URL)
    try:
        parts = urlsplit(url)
    except ValueError:
        # Python's versions differ in which hosts urlsplit itself refuses.
        raise PushRefused(NO_HOST) from None
    if parts.scheme not in DEFAULT_PORTS:
        raise PushRefused(WRONG_SCHEME)
    host, port = _parse_authority(parts.netloc)
    if policy.allowed_hosts is not None and not _is_allowed(host, policy.allowed_hosts):
        raise PushRefused(HOST_NOT_ALLOWED)
    if not isinstance(host, str):
        admit([host], policy)
    query = f"?{parts.query}" if parts.query else ""
    path = f"{parts.path or '/'}{query}"
    return Target(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme], path)


def admit(addresses: Iterable[Address], policy: UrlPolicy) -> tuple[Address, ...]:
    """Return `addresses`, all of which a callback may have.

    Raises:
        PushRefused: one of them is not public, or there is none.
    """
    admitted = tuple(addresses)
    if not admitted:
        raise PushRefused(NOT_PUBLIC, "no address")
    for address in admitted:
        kind = kind_of(address)
        is_opened = kind is Kind.LOOPBACK and policy.opens_loopback
        if kind is not Kind.PUBLIC and not is_opened:
            raise PushRefused(NOT_PUBLIC, f"{kind} address")
    return admitted


def _is_text(url: str) -> bool:
    try:
        url.encode()
    except UnicodeEncodeError:
        return False
    return True


def _parse_authority(authority: str) -> tuple[Host, int]:
    """The host and the port, 0 where none is written."""
    if "@" in authority:
        raise PushRefused(HAS_CREDENTIALS)
    match = AUTHORITY.fullmatch(authority)
    if match is None:
        raise PushRefused(NO_HOST)
    try:
        host = parse_host(match["host"])
    except ValueError:
        raise PushRefused(NO_HOST) from None
    port = int(match["port"] or 0)
    if port > LAST_PORT or (match["port"] and port == 0):
        raise PushRefused(NO_HOST)
    return host, port


def _is_allowed(host: Host, allowed: Iterable[Host]) -> bool:
    """An address must be listed itself; a name may be below a listed one."""
    return any(
        host == entry
        or (isinstance(host, str) and isinstance(entry, str) and host.endswith(f".{entry}"))
        for entry in allowed
    )
