"""Hosts of URLs: an address however it is spelt, or a name in ASCII."""

import re
from ipaddress import IPv4Address, IPv6Address
from typing import TypeAlias

from mock_server.push.addresses import Address

Host: TypeAlias = Address | str

MAX_NAME_LENGTH = 253
MAX_PARTS = 4
LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
NAME = re.compile(rf"{LABEL}(?:\.{LABEL})*")
NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
V6_LITERAL = re.compile(r"\[([0-9A-Fa-f:.]+)\]")


def parse_host(text: str) -> Host:
    """Return the host that resolvers and sockets would take `text` for.

    A name that ends in a number is an IPv4 address, in decimal, octal or hexadecimal parts, or
    nothing (WHATWG URL §3.5). Names are in lower case, without the root's dot.

    Raises:
        ValueError: it is no host.
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
