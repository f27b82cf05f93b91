"""Headers that are handed on, and the circle that is noticed."""

import pytest

from inspector.net.events import forwarded_headers, has_passed


@pytest.mark.req("PUSHRX-2")
def test_what_belongs_to_the_connection_stays() -> None:
    headers = (
        ("Host", "a"),
        ("Content-Length", "2"),
        ("Connection", "close, X-Mine"),
        ("x-mine", "1"),
        ("Transfer-Encoding", "chunked"),
        ("X-A2A-Notification-Token", "t"),
        ("Content-Type", "application/json"),
    )
    assert forwarded_headers(headers, "me") == (
        ("X-A2A-Notification-Token", "t"),
        ("Content-Type", "application/json"),
        ("Via", "1.1 me"),
    )


@pytest.mark.req("PUSHRX-3")
@pytest.mark.parametrize(
    ("via", "is_circle"),
    [("1.1 me", True), ("1.1 proxy, 1.1 me", True), ("1.1 mee", False), ("1.1 other", False)],
)
def test_a_circle_is_noticed(via: str, is_circle: bool) -> None:
    assert has_passed((("via", via),), "me") is is_circle
    assert not has_passed((), "me")
