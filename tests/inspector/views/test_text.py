"""No text of an agent can act on the terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.views.text import plain, plain_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("hello\n\tworld", "hello\n\tworld"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;c3RvbGVu\x07", ""),
        ("\x9b2Jgone", "gone"),
        ("\x1bPq#0\x1b\\x", "x"),
        ("\x1bc", ""),
        ("a\rb\r\nc", "ab\nc"),
        ("\x00\x07\x08\x7f\x85", ""),
        ("\u202eevil\u2066", "evil"),
        ("\ud800", "\N{REPLACEMENT CHARACTER}"),
        ("grün 日本 🎉", "grün 日本 🎉"),
    ],
)
@pytest.mark.req("TUI-5", "CONN-5")
def test_plain(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text(st.characters()))
def test_only_line_feeds_and_tabs_are_left_of_the_controls(text: str) -> None:
    shown = plain(text)
    assert all(char in "\n\t" or ord(char) >= 0xA0 or 0x20 <= ord(char) < 0x7F for char in shown)
    shown.encode()


def test_one_line_is_cut_with_an_ellipsis() -> None:
    assert plain_line("a\nb  c") == "a b c"
    assert plain_line("abcdef", 4) == "abc…"
    assert plain_line("abcd", 4) == "abcd"
