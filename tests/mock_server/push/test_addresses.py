"""The kinds of addresses: the table, and IPv4 inside IPv6."""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.push.addresses import Kind, kind_of

V4 = st.ip_addresses(v=4)
EMBEDDINGS: tuple[Callable[[int], int], ...] = (
    lambda v4: (0x64_FF9B << 96) | v4,  # NAT64
    lambda v4: (0x2002 << 112) | (v4 << 80) | 1,  # 6to4
    lambda v4: (0x2606_4700 << 96) | (0x5EFE << 32) | v4,  # ISATAP
    lambda v4: (0x2606_4700 << 96) | (0x0200_5EFE << 32) | v4,
)


@pytest.mark.req("PUSH-3")
@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("8.8.8.8", Kind.PUBLIC),
        ("172.32.0.1", Kind.PUBLIC),
        ("100.128.0.1", Kind.PUBLIC),
        ("2606:4700:4700::1111", Kind.PUBLIC),
        ("64:ff9b::8.8.8.8", Kind.PUBLIC),
        ("2002:808:808::1", Kind.PUBLIC),
        ("0.0.0.0", Kind.UNSPECIFIED),
        ("0.1.2.3", Kind.UNSPECIFIED),
        ("::", Kind.UNSPECIFIED),
        ("127.0.0.1", Kind.LOOPBACK),
        ("127.255.255.254", Kind.LOOPBACK),
        ("::1", Kind.LOOPBACK),
        ("::ffff:127.0.0.1", Kind.LOOPBACK),
        ("169.254.1.1", Kind.LINK_LOCAL),
        ("fe80::1", Kind.LINK_LOCAL),
        ("fe80::1%eth0", Kind.LINK_LOCAL),
        ("febf::1", Kind.LINK_LOCAL),
        ("10.1.2.3", Kind.PRIVATE),
        ("172.16.0.1", Kind.PRIVATE),
        ("172.31.255.255", Kind.PRIVATE),
        ("192.168.1.1", Kind.PRIVATE),
        ("100.64.0.1", Kind.PRIVATE),
        ("198.18.0.1", Kind.PRIVATE),
        ("fd12:3456::1", Kind.PRIVATE),
        ("fec0::1", Kind.PRIVATE),
        ("169.254.169.254", Kind.METADATA),
        ("169.254.170.2", Kind.METADATA),
        ("100.100.100.200", Kind.METADATA),
        ("168.63.129.16", Kind.METADATA),
        ("192.0.0.192", Kind.METADATA),
        ("fd00:ec2::254", Kind.METADATA),
        ("fd20:ce::254", Kind.METADATA),
        ("224.0.0.1", Kind.MULTICAST),
        ("ff02::1", Kind.MULTICAST),
        ("192.0.2.1", Kind.RESERVED),
        ("192.88.99.1", Kind.RESERVED),
        ("198.51.100.1", Kind.RESERVED),
        ("203.0.113.1", Kind.RESERVED),
        ("240.0.0.1", Kind.RESERVED),
        ("255.255.255.255", Kind.RESERVED),
        ("::127.0.0.1", Kind.RESERVED),
        ("::ffff:0:127.0.0.1", Kind.RESERVED),
        ("64:ff9b::127.0.0.1", Kind.RESERVED),
        ("64:ff9b:1::8.8.8.8", Kind.RESERVED),
        ("2002:7f00:1::", Kind.RESERVED),
        ("2001:0:808:808::1", Kind.RESERVED),
        ("2001:db8::1", Kind.RESERVED),
        ("3fff::1", Kind.RESERVED),
        ("100::1", Kind.RESERVED),
        ("4000::1", Kind.RESERVED),
    ],
)
def test_kind_of_an_address(address: str, kind: Kind) -> None:
    assert kind_of(ip_address(address)) is kind


@pytest.mark.req("PUSH-3")
@given(V4)
def test_mapped_address_is_what_it_maps(address: IPv4Address) -> None:
    assert kind_of(IPv6Address(f"::ffff:{address}")) is kind_of(address)


@pytest.mark.req("PUSH-3")
@given(V4 | st.sampled_from([IPv4Address("127.0.0.1"), IPv4Address("10.0.0.1")]))
def test_gateway_leads_to_public_addresses_only(address: IPv4Address) -> None:
    for embed in EMBEDDINGS:
        kind = kind_of(IPv6Address(embed(int(address))))
        assert kind is (Kind.PUBLIC if kind_of(address) is Kind.PUBLIC else Kind.RESERVED)


@pytest.mark.req("PUSH-3")
@given(st.ip_addresses())
def test_public_is_public_to_python_too(address: IPv4Address | IPv6Address) -> None:
    # Judged by the IPv4 address inside; Python's versions differ on them.
    embedded = isinstance(address, IPv6Address) and (address.ipv4_mapped or address.sixtofour)
    if not embedded and kind_of(address) is Kind.PUBLIC:
        assert address.is_global
        assert not address.is_multicast
