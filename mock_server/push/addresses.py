"""What an address is good for: a table after the IANA special-purpose registries (RFC 6890).

The first row that holds an address names its kind. Python's own `is_private` and `is_global` differ
between patch releases; what a callback may reach should not.
"""

from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address


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
