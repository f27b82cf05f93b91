"""Callback URLs: what is refused before anybody looks a name up."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mock_server.errors import PushRefused
from mock_server.push import policy
from mock_server.push.policy import (
    MAX_LOOKUPS,
    NOT_PUBLIC,
    Address,
    Guard,
    Kind,
    Resolver,
    Target,
    UrlPolicy,
    admit,
    kind_of,
    parse_host,
    parse_target,
    system_addresses,
    written,
)

OPEN = UrlPolicy()
LOCAL = UrlPolicy(opens_loopback=True)


def reason_of(url: str, rules: UrlPolicy = OPEN) -> str:
    with pytest.raises(PushRefused) as caught:
        parse_target(url, rules)
    return caught.value.reason


@pytest.mark.req("PUSH-3")
@pytest.mark.parametrize(
    ("url", "authority", "port", "path"),
    [
        ("https://example.com", "example.com", 443, "/"),
        ("HTTPS://Example.Com./hook?a=1#f", "example.com", 443, "/hook?a=1"),
        ("http://example.com:80/", "example.com", 80, "/"),
        ("http://example.com:/", "example.com", 80, "/"),
        ("https://example.com:8443?x", "example.com:8443", 8443, "/?x"),
        ("http://example.com//other.com/@x", "example.com", 80, "//other.com/@x"),
        ("http://134744072/", "8.8.8.8", 80, "/"),
        ("http://[2606:4700::1]:81/", "[2606:4700::1]:81", 81, "/"),
    ],
)
def test_url_in_parts(url: str, authority: str, port: int, path: str) -> None:
    target = parse_target(url, OPEN)
    assert (target.authority, target.port, target.path) == (authority, port, path)


@pytest.mark.req("PUSH-3")
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", policy.WRONG_SCHEME),
        ("example.com/hook", policy.WRONG_SCHEME),
        ("//example.com/hook", policy.WRONG_SCHEME),
        ("ftp://example.com/", policy.WRONG_SCHEME),
        ("file:///etc/passwd", policy.WRONG_SCHEME),
        ("javascript:alert(1)", policy.WRONG_SCHEME),
        ("http:/example.com/", policy.NO_HOST),
        ("http:///hook", policy.NO_HOST),
        ("http://:80/", policy.NO_HOST),
        ("http://exa mple.com/", policy.NOT_A_URL),
        (" http://example.com/", policy.NOT_A_URL),
        ("http://example.com/\r\nX: y", policy.NOT_A_URL),
        ("ht\ttp://example.com/", policy.NOT_A_URL),
        ("http://example.com\\@127.0.0.1/", policy.NOT_A_URL),
        ("http://\ud800.com/", policy.NOT_A_URL),
        ("http://a℀b.com/", policy.NO_HOST),
        ("http://[::1/", policy.NO_HOST),
        ("http://e.com/" + "a" * 2048, policy.NOT_A_URL),
        ("http://user:pass@example.com/", policy.HAS_CREDENTIALS),
        ("http://user@example.com/", policy.HAS_CREDENTIALS),
        ("http://@example.com/", policy.HAS_CREDENTIALS),
        ("http://example.com:0/", policy.NO_HOST),
        ("http://example.com:65536/", policy.NO_HOST),
        ("http://example.com:8a/", policy.NO_HOST),
        ("http://example.com:80:80/", policy.NO_HOST),
        ("http://%31%32%37.0.0.1/", policy.NO_HOST),
        ("http://[fe80::1%25eth0]/", policy.NO_HOST),
        ("http://[::1].example.com/", policy.NO_HOST),
        ("http://127.0.0.1/", policy.NOT_PUBLIC),
        ("http://127.1/", policy.NOT_PUBLIC),
        ("http://2130706433/", policy.NOT_PUBLIC),
        ("http://0x7f000001/", policy.NOT_PUBLIC),
        ("http://0177.0.0.1/", policy.NOT_PUBLIC),
        ("http://127.0.0.1./", policy.NOT_PUBLIC),
        ("http://\uff11\uff12\uff17\u3002\uff11/", policy.NOT_PUBLIC),
        ("http://0/", policy.NOT_PUBLIC),
        ("http://[::1]/", policy.NOT_PUBLIC),
        ("http://[::]/", policy.NOT_PUBLIC),
        ("http://[::ffff:7f00:1]/", policy.NOT_PUBLIC),
        ("http://169.254.169.254/latest/meta-data/", policy.NOT_PUBLIC),
    ],
)
def test_url_is_refused(url: str, reason: str) -> None:
    assert reason_of(url) == reason


@pytest.mark.req("PUSH-3")
@given(st.ip_addresses(), st.sampled_from(["http", "https"]), st.integers(1, 65535))
def test_literal_address_is_taken_if_it_is_public(
    address: IPv4Address | IPv6Address, scheme: str, port: int
) -> None:
    url = f"{scheme}://{written(address)}:{port}/"
    if kind_of(address) is Kind.PUBLIC:
        assert parse_target(url, OPEN).host == address
    else:
        assert reason_of(url) == policy.NOT_PUBLIC


@pytest.mark.req("PUSH-5")
@given(
    st.ip_addresses() | st.sampled_from([ip_address(a) for a in ("127.9.9.9", "::1", "10.1.1.1")])
)
def test_local_push_opens_loopback_alone(address: IPv4Address | IPv6Address) -> None:
    assume(kind_of(address) is not Kind.PUBLIC)
    url = f"http://{written(address)}/"
    if kind_of(address) is Kind.LOOPBACK:
        assert parse_target(url, LOCAL).host == address
    else:
        assert reason_of(url, LOCAL) == policy.NOT_PUBLIC


@pytest.mark.req("PUSH-3")
@given(st.text() | st.from_regex(r"https?://[^/]{0,20}/?.{0,10}", fullmatch=True))
def test_any_text_is_a_target_or_refused(url: str) -> None:
    try:
        target = parse_target(url, OPEN)
    except PushRefused:
        return
    assert target.path.startswith("/")
    assert 0 < target.port <= 65535
    assert isinstance(target.host, str) or kind_of(target.host) is Kind.PUBLIC


@pytest.mark.req("PUSH-3")
@pytest.mark.parametrize(
    ("url", "is_taken"),
    [
        ("https://hooks.example.com/", True),
        ("https://a.b.HOOKS.example.com./", True),
        ("https://example.com/", False),
        ("https://xhooks.example.com/", False),
        ("https://hooks.example.com.evil.com/", False),
        ("https://8.8.8.8/", True),
        ("https://1.8.8.8.8.com/", False),
        ("https://8.8.4.4/", False),
    ],
)
def test_allowed_hosts_are_entries_and_their_subdomains(url: str, is_taken: bool) -> None:
    rules = UrlPolicy(("hooks.example.com", IPv4Address("8.8.8.8")))
    if is_taken:
        assert isinstance(parse_target(url, rules), Target)
    else:
        assert reason_of(url, rules) == policy.HOST_NOT_ALLOWED


@pytest.mark.req("PUSH-3")
def test_allowed_host_must_be_public_all_the_same() -> None:
    assert reason_of("http://127.0.0.1/", UrlPolicy((IPv4Address("127.0.0.1"),))) == (
        policy.NOT_PUBLIC
    )
    assert reason_of("http://example.com/", UrlPolicy(())) == policy.HOST_NOT_ALLOWED


@pytest.mark.req("PUSH-3")
def test_one_bad_address_spoils_them_all() -> None:
    good, bad = ip_address("8.8.8.8"), ip_address("10.0.0.1")
    assert admit([good], OPEN) == (good,)
    for addresses in ([good, bad], [bad, good], [ip_address("::1")], []):
        with pytest.raises(PushRefused) as caught:
            admit(addresses, OPEN)
        assert caught.value.reason == policy.NOT_PUBLIC
    assert admit([ip_address("::1"), good], LOCAL)


def test_target_shows_no_path() -> None:
    assert "secret" not in repr(parse_target("https://example.com/secret?secret", OPEN))


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


pytestmark = pytest.mark.anyio

PUBLIC = ip_address("8.8.8.8")


def names(**addresses: str) -> Callable[[str], Awaitable[tuple[Address, ...]]]:
    """A resolver that knows `addresses` and no more."""

    async def resolve(name: str) -> tuple[Address, ...]:
        if name not in addresses:
            raise OSError("nodename nor servname provided")
        return tuple(ip_address(address) for address in addresses[name].split())

    return resolve


async def hang(_: str) -> tuple[Address, ...]:
    await asyncio.Event().wait()
    return ()


async def refusal(guard: Guard, url: str) -> PushRefused:
    with pytest.raises(PushRefused) as caught:
        await guard.check(url)
    return caught.value


@pytest.mark.req("PUSH-3")
async def test_name_with_public_addresses_is_taken_with_all_of_them() -> None:
    guard = Guard(UrlPolicy(), names(hooks="8.8.8.8 2606:4700::1"))
    destination = await guard.check("https://Hooks./x")
    assert destination.target.host == "hooks"
    assert destination.addresses == (PUBLIC, ip_address("2606:4700::1"))


@pytest.mark.req("PUSH-3")
async def test_literal_address_is_not_looked_up() -> None:
    assert (await Guard(UrlPolicy(), hang).check("http://8.8.8.8/")).addresses == (PUBLIC,)


@pytest.mark.req("PUSH-3")
async def test_client_does_not_learn_why_a_name_is_refused() -> None:
    known = names(localhost="127.0.0.1", intra="10.0.0.1", mixed="8.8.8.8 ::1", empty="")
    guard = Guard(UrlPolicy(), known)
    refusals = [
        await refusal(guard, f"http://{name}/")
        for name in ("localhost", "intra", "mixed", "empty", "unknown")
    ]
    refusals.append(await refusal(Guard(UrlPolicy(), hang, dns_seconds=0.01), "http://slow/"))
    assert {refused.reason for refused in refusals} == {NOT_PUBLIC}
    assert len({refused.detail for refused in refusals}) == 5


@pytest.mark.req("PUSH-5")
async def test_local_push_opens_names_of_loopback() -> None:
    guard = Guard(UrlPolicy(opens_loopback=True), names(localhost="::1 127.0.0.1", lan="10.0.0.1"))
    assert len((await guard.check("http://localhost/")).addresses) == 2
    assert (await refusal(guard, "http://lan/")).reason == NOT_PUBLIC


@pytest.mark.req("PUSH-3")
async def test_host_that_is_not_allowed_is_not_looked_up() -> None:
    guard = Guard(UrlPolicy(("example.com",)), hang)
    assert "allowed" in (await refusal(guard, "http://example.org/")).reason


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
def test_what_is_not_a_host(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_host(text)


@pytest.mark.parametrize(
    ("host", "text"),
    [("a.b", "a.b"), (IPv4Address("1.2.3.4"), "1.2.3.4"), (IPv6Address("::1"), "[::1]")],
)
def test_host_as_a_url_has_it(host: IPv4Address | IPv6Address | str, text: str) -> None:
    assert written(host) == text
    assert parse_host(text) == host


async def test_machine_knows_itself() -> None:
    addresses = await Resolver()("localhost")
    assert addresses
    assert all(address.is_loopback for address in addresses)
    assert len({*addresses}) == len(addresses)


@pytest.mark.req("PUSH-3")
@pytest.mark.parametrize("name", ["nowhere.invalid", "a" * 70])
async def test_unknown_name_is_an_error(name: str) -> None:
    with pytest.raises(OSError, match=r".+"):
        await Resolver()(name)


def test_numbers_are_addresses_to_the_machine() -> None:
    assert system_addresses("127.1") == (ip_address("127.0.0.1"),)


@pytest.mark.req("PUSH-3")
async def test_hanging_lookups_hold_nobody_up_and_are_counted() -> None:
    let_go, left = threading.Event(), threading.Semaphore(0)

    def look_up(name: str) -> tuple[Address, ...]:
        if name == "slow":
            let_go.wait(60)
            left.release()
        return (ip_address("8.8.8.8"),)

    resolver = Resolver(look_up)
    hanging = [asyncio.create_task(resolver("slow")) for _ in range(MAX_LOOKUPS - 1)]
    await asyncio.sleep(0)
    assert await resolver("fast") == (ip_address("8.8.8.8"),)
    hanging.append(asyncio.create_task(resolver("slow")))
    await asyncio.sleep(0)
    with pytest.raises(OSError, match="too many"):
        await resolver("fast")
    for lookup in hanging[1:]:
        lookup.cancel()
    assert threading.active_count() > MAX_LOOKUPS
    let_go.set()
    assert await hanging[0] == (ip_address("8.8.8.8"),)
    for _ in hanging:
        assert await asyncio.to_thread(left.acquire, timeout=60)


def test_answer_that_comes_after_the_end_is_dropped() -> None:
    begun, let_go = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def look_up(_: str) -> tuple[Address, ...]:
        threads.append(threading.current_thread())
        begun.set()
        let_go.wait(60)
        return ()

    async def give_up() -> None:
        lookup = asyncio.create_task(Resolver(look_up)("slow"))
        await asyncio.to_thread(begun.wait, 60)
        lookup.cancel()

    asyncio.run(give_up())
    let_go.set()
    threads[0].join(60)
    assert not threads[0].is_alive()
