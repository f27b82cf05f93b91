"""Which callback URLs are taken, and where they lead (server.md PUSH-3).

A URL is taken apart once, here; the request is built from the parts, so no other parser can read
another host out of it. The errors for clients do not distinguish a name that leads into our network
from one that does not exist.
"""

import asyncio
import re
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias
from urllib.parse import urlsplit

from mock_server.errors import PushRefused

Address: TypeAlias = IPv4Address | IPv6Address
Host: TypeAlias = Address | str
Resolve: TypeAlias = Callable[[str], Awaitable[tuple[Address, ...]]]
DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL_LENGTH = 2048
LAST_PORT = 65535
MAX_NAME_LENGTH = 253
MAX_PARTS = 4
LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
NAME = re.compile(rf"{LABEL}(?:\.{LABEL})*")
NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
V6_LITERAL = re.compile(r"\[([0-9A-Fa-f:.]+)\]")
# Lone surrogates cannot be encoded.
UNREADABLE = re.compile(r"[\x00-\x20\x7f\\\ud800-\udfff]")
AUTHORITY = re.compile(r"(?P<host>\[[^\[\]@]*\]|[^\[\]:@]+)(?::(?P<port>[0-9]{0,5}))?")
DNS_SECONDS = 5.0
MAX_LOOKUPS = 64
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


@dataclass(frozen=True, slots=True)
class Destination:
    """Where to connect to: one of `addresses`, and nowhere that a second look-up might lead."""

    target: Target
    addresses: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """`policy` with a resolver."""

    policy: UrlPolicy
    resolve: Resolve
    dns_seconds: float = DNS_SECONDS

    async def check(self, url: str) -> Destination:
        """Return where `url` leads.

        Raises:
            PushRefused: it leads where no callback may be, or nowhere within the time for DNS.
        """
        target = parse_target(url, self.policy)
        if not isinstance(target.host, str):
            return Destination(target, (target.host,))
        return Destination(target, admit(await self._addresses(target.host), self.policy))

    async def _addresses(self, name: str) -> tuple[Address, ...]:
        try:
            async with asyncio.timeout(self.dns_seconds):
                return await self.resolve(name)
        except TimeoutError:
            raise PushRefused(NOT_PUBLIC, "the name was not resolved in time") from None
        except OSError:
            raise PushRefused(NOT_PUBLIC, "the name cannot be resolved") from None


def parse_target(url: str, policy: UrlPolicy) -> Target:
    """Take `url` apart and judge what can be judged without a resolver.

    Raises:
        PushRefused: `policy` does not take it.
    """
    if len(url) > MAX_URL_LENGTH or UNREADABLE.search(url):
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


def parse_host(text: str) -> Host:
    """Return the host that resolvers and sockets would take `text` for.

    A name that ends in a number is an IPv4 address, in decimal, octal or hexadecimal parts, or
    nothing (WHATWG URL §3.5). Names are in lower case, without the root's dot.

    Raises:
        ValueError: it is not a host.
    """
    if literal := V6_LITERAL.fullmatch(text):
        return IPv6Address(literal[1])
    name = _ascii(text).lower().removesuffix(".")
    if len(name) > MAX_NAME_LENGTH or not NAME.fullmatch(name):
        raise ValueError("no hostname")
    parts = name.split(".")
    return _parse_ipv4(parts) if NUMBER.fullmatch(parts[-1]) else name


def written(host: Host) -> str:
    """`host` as it stands in a URL."""
    return f"[{host}]" if isinstance(host, IPv6Address) else str(host)


def _ascii(text: str) -> str:
    # The codec's work grows with the square of a label's length.
    if len(text) > MAX_NAME_LENGTH + 1:
        raise ValueError("no hostname")
    return text if text.isascii() else text.encode("idna").decode("ascii")


def _parse_ipv4(parts: list[str]) -> IPv4Address:
    """The last part fills all the bytes that the parts before it leave."""
    *leading, last = (_parse_number(part) for part in parts)
    free_bytes = MAX_PARTS - len(leading)
    if free_bytes < 1 or last >= 256**free_bytes:
        raise ValueError("no IPv4 address")
    return IPv4Address(bytes(leading) + last.to_bytes(free_bytes, "big"))


def _parse_number(part: str) -> int:
    if not NUMBER.fullmatch(part):
        raise ValueError("no number")
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8 if part.startswith("0") else 10)


class Kind(StrEnum):
    PUBLIC = "public"
    UNSPECIFIED = "unspecified"
    LOOPBACK = "loopback"
    LINK_LOCAL = "link-local"
    PRIVATE = "private"
    METADATA = "metadata"
    MULTICAST = "multicast"
    RESERVED = "reserved"


V4_KINDS = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("169.254.169.254/32", Kind.METADATA),  # most clouds
        ("169.254.170.0/24", Kind.METADATA),  # credentials of AWS containers
        ("100.100.100.200/32", Kind.METADATA),  # Alibaba
        ("168.63.129.16/32", Kind.METADATA),  # Azure, in the midst of public addresses
        ("192.0.0.192/32", Kind.METADATA),  # Oracle
        ("0.0.0.0/8", Kind.UNSPECIFIED),
        ("127.0.0.0/8", Kind.LOOPBACK),
        ("169.254.0.0/16", Kind.LINK_LOCAL),
        ("10.0.0.0/8", Kind.PRIVATE),
        ("172.16.0.0/12", Kind.PRIVATE),
        ("192.168.0.0/16", Kind.PRIVATE),
        ("100.64.0.0/10", Kind.PRIVATE),  # behind a carrier's NAT
        ("198.18.0.0/15", Kind.PRIVATE),  # benchmarks
        ("192.0.0.0/24", Kind.RESERVED),
        ("192.0.2.0/24", Kind.RESERVED),
        ("192.88.99.0/24", Kind.RESERVED),  # 6to4 relays
        ("198.51.100.0/24", Kind.RESERVED),
        ("203.0.113.0/24", Kind.RESERVED),
        ("224.0.0.0/4", Kind.MULTICAST),
        ("240.0.0.0/4", Kind.RESERVED),
        ("0.0.0.0/0", Kind.PUBLIC),
    )
)
V6_KINDS = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("fd00:ec2::254/128", Kind.METADATA),  # AWS
        ("fd20:ce::254/128", Kind.METADATA),  # Google
        ("::/128", Kind.UNSPECIFIED),
        ("::1/128", Kind.LOOPBACK),
        ("fe80::/10", Kind.LINK_LOCAL),
        ("fc00::/7", Kind.PRIVATE),
        ("fec0::/10", Kind.PRIVATE),  # site-local, deprecated
        ("ff00::/8", Kind.MULTICAST),
        ("2001::/23", Kind.RESERVED),  # Teredo among others
        ("2001:db8::/32", Kind.RESERVED),
        ("3fff::/20", Kind.RESERVED),
        ("2000::/3", Kind.PUBLIC),
        ("::/0", Kind.RESERVED),
    )
)
NAT64 = IPv6Network("64:ff9b::/96")
ISATAP_INTERFACE = 0x5EFE
ISATAP_UNIVERSAL_BIT = 0x0200_0000


def kind_of(address: Address) -> Kind:
    """What `address` is; an IPv4 address inside an IPv6 one counts as what it is itself."""
    if isinstance(address, IPv4Address):
        return next(kind for network, kind in V4_KINDS if address in network)
    if address.ipv4_mapped:
        return kind_of(address.ipv4_mapped)
    carried = _carried(address)
    if carried and kind_of(carried) is not Kind.PUBLIC:
        return Kind.RESERVED
    if carried and address in NAT64:
        return Kind.PUBLIC
    return next(kind for network, kind in V6_KINDS if address in network)


def _carried(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that a gateway (NAT64, 6to4, ISATAP) would send on to."""
    if address in NAT64 or _is_isatap(address):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.sixtofour


def _is_isatap(address: IPv6Address) -> bool:
    interface = (int(address) >> 32) & 0xFFFF_FFFF
    return interface & ~ISATAP_UNIVERSAL_BIT == ISATAP_INTERFACE


class Resolver:
    """Looks names up as the machine does, in threads that end by themselves if nobody waits."""

    def __init__(self, look_up: Callable[[str], tuple[Address, ...]] | None = None) -> None:
        self._look_up = look_up or system_addresses
        self._free = threading.Semaphore(MAX_LOOKUPS)

    async def __call__(self, name: str) -> tuple[Address, ...]:
        """Return the addresses of `name`, in the order in which to try them.

        Raises:
            OSError: there are none, or too many look-ups hang.
        """
        if not self._free.acquire(blocking=False):
            raise OSError("too many names are being looked up")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[tuple[Address, ...]] = loop.create_future()
        thread = threading.Thread(
            target=self._run, args=(name, loop, answer), name="push-resolver", daemon=True
        )
        thread.start()
        return await answer

    def _run(
        self,
        name: str,
        loop: asyncio.AbstractEventLoop,
        answer: "asyncio.Future[tuple[Address, ...]]",
    ) -> None:
        found: tuple[Address, ...] | OSError
        try:
            found = self._look_up(name)
        except (OSError, ValueError) as error:
            found = OSError(str(error))
        finally:
            self._free.release()
        try:
            loop.call_soon_threadsafe(_settle, answer, found)
        except RuntimeError:
            # The loop is closed: nobody waits for the answer.
            return


def _settle(
    answer: "asyncio.Future[tuple[Address, ...]]", found: tuple[Address, ...] | OSError
) -> None:
    if answer.done():
        return
    if isinstance(found, OSError):
        answer.set_exception(found)
    else:
        answer.set_result(found)


def system_addresses(name: str) -> tuple[Address, ...]:
    """All addresses of `name`, each once."""
    found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(ip_address(address[0]) for *_, address in found))
