"""Origins, and URLs that are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.urls import (
    below,
    is_same_origin,
    is_unspecified,
    last_segment,
    origin,
    root,
    split_url,
    with_host_of,
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://A.test/x", ("http", "a.test", 80)),
        ("https://a.test", ("https", "a.test", 443)),
        ("http://[::1]:8/", ("http", "localhost", 8)),
        ("http://user:pass@127.0.0.1:8/", ("http", "localhost", 8)),
        ("file:///x", None),
        ("//a.test/", None),
        ("http://a.test:0/", None),
    ],
)
def test_origin(url: str, expected: tuple[str, str, int] | None) -> None:
    assert origin(url) == expected


def test_two_urls_without_an_origin_do_not_share_one() -> None:
    assert not is_same_origin("file:///x", "file:///x")
    assert split_url("http://[") is None


def test_hosts() -> None:
    assert is_unspecified("http://0.0.0.0:1/")
    assert is_unspecified("http://[::]/")
    assert not is_unspecified("nonsense")
    assert with_host_of("http://0.0.0.0:1/x", "http://[::1]:2/y") == "http://[::1]:1/x"


@pytest.mark.req("CONN-5")
@given(st.text() | st.sampled_from(["http://[::1:70000/", "http://a]/", "http://[x]/"]))
def test_what_is_no_url_has_parts_all_the_same(text: str) -> None:
    assert isinstance(root(text), str)
    assert below(text, "name").endswith("name") or "?" in text or "#" in text
    assert "/" not in last_segment(text)
