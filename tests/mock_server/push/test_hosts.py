"""Hosts: one address in all its spellings, names in one."""

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.push.hosts import parse_host, written

NUMERALS: tuple[Callable[[int], str], ...] = (
    str,
    hex,
    lambda number: hex(number).upper().replace("X", "x"),
    lambda number: f"0{number:o}",
)
IDEOGRAPHIC_DOTS = "\u3002\uff0e\uff61"


def widened(text: str) -> str:
    """`text` in full-width letters, which IDNA takes for the plain ones."""
    return text.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})


@st.composite
def spellings(draw: st.DrawFn) -> tuple[IPv4Address, str]:
    """An address, and one way in which a resolver may be told it."""
    address = IPv4Address(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 4))
    octets = address.packed
    parts = [*octets[: count - 1], int.from_bytes(octets[count - 1 :], "big")]
    text = ".".join(draw(st.sampled_from(NUMERALS))(part) for part in parts)
    text += draw(st.sampled_from(["", "."]))
    if draw(st.booleans()):
        dot = draw(st.sampled_from(IDEOGRAPHIC_DOTS))
        text = dot.join(widened(part) for part in text.split("."))
    return address, text


@pytest.mark.req("PUSH-3")
@given(spellings())
def test_every_spelling_is_the_address(spelling: tuple[IPv4Address, str]) -> None:
    address, text = spelling
    assert parse_host(text) == address


@pytest.mark.req("PUSH-3")
@given(st.text("0123456789abcdefx.", min_size=1, max_size=16))
def test_no_name_is_an_address_to_the_resolver(text: str) -> None:
    try:
        told = IPv4Address(socket.inet_aton(text))
    except OSError:
        return
    try:
        assert parse_host(text) == told
    except ValueError:
        return


@pytest.mark.req("PUSH-3")
@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("localhost.", "localhost"),
        (widened("localhost"), "localhost"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("my_host-1.internal", "my_host-1.internal"),
        ("0x7f.1", IPv4Address("127.0.0.1")),
        ("0x", IPv4Address("0.0.0.0")),
        ("[::1]", IPv6Address("::1")),
        ("[::FFFF:127.0.0.1]", IPv6Address("::ffff:127.0.0.1")),
    ],
)
def test_host_in_its_one_form(text: str, host: object) -> None:
    assert parse_host(text) == host


@pytest.mark.req("PUSH-3")
@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "a..b",
        "example.com..",
        "-a.com",
        "a b",
        "a%2eb",
        "127.0.0.1%00",
        "[::1",
        "::1",
        "[fe80::1%25eth0]",
        "[127.0.0.1]",
        "256.0.0.1",
        "1.2.3.4.5",
        "127.0.0.09",
        "1_0.2.3.4",
        "0x1_0.2",
        "0x1ffffffff",
        "1.16777216",
        "a.0x7f",
        "a.1",
        "4294967296",
        "a" * 64,
        ".".join(["a" * 60] * 5),
        "ü" * 60,
        "ü" * 300,
    ],
)
def test_what_is_no_host(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_host(text)


@pytest.mark.parametrize(
    ("host", "text"),
    [("a.b", "a.b"), (IPv4Address("1.2.3.4"), "1.2.3.4"), (IPv6Address("::1"), "[::1]")],
)
def test_host_as_a_url_has_it(host: IPv4Address | IPv6Address | str, text: str) -> None:
    assert written(host) == text
    assert parse_host(text) == host
