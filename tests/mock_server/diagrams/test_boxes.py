"""Texts in boxes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.diagrams.boxes import letters_in, size_of, wrap


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ("",)),
        ("short", ("short",)),
        ("utter_acknowledge_it", ("utter_", "acknowledge_", "it")),
        ("two\nlines", ("two", "lines")),
        ("if slots.a or b", ("if slots.a", "or b")),
        ("餐廳預訂系統們", ("餐廳預訂系統", "們")),
    ],
)
def test_lines_break_behind_underscores_and_blanks(text: str, lines: tuple[str, ...]) -> None:
    assert wrap(text, limit=12) == lines


@given(st.text(max_size=80), st.integers(2, 12))
def test_no_line_is_longer_than_the_limit_and_no_letter_is_lost(text: str, limit: int) -> None:
    lines = wrap(text, limit)
    assert all(letters_in(line) <= limit for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_size_grows_with_lines_and_letters() -> None:
    small, large = size_of(("ab",), 4, 2), size_of(("ab", "abcd"), 4, 2)
    assert small.width < large.width
    assert large.height - small.height == 16
