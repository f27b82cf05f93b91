"""Callback URLs: what is refused before anybody looks a name up."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mock_server.errors import PushRefused
from mock_server.push import policy
from mock_server.push.addresses import Kind, kind_of
from mock_server.push.hosts import written
from mock_server.push.policy import Target, UrlPolicy, admit, parse_target

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
