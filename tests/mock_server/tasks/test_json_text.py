"""JSON in, JSON out, whatever comes."""

import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mock_server.tasks.json_text import MAX_DEPTH, encode_json, parse_json

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=150)
@given(values)
def test_what_is_encoded_can_be_parsed(value: object) -> None:
    assert parse_json(encode_json(value)) == value


@settings(max_examples=150)
@given(st.binary(max_size=40))
def test_bytes_are_a_value_or_a_value_error(body: bytes) -> None:
    try:
        value = parse_json(body)
    except ValueError:
        return
    json.loads(encode_json(value))


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_number_that_json_cannot_write_is_null(word: str) -> None:
    assert parse_json(f'{{"x": {word}, "y": "\\ud800"}}') == {"x": None, "y": "\ud800"}


def test_lone_surrogate_is_escaped() -> None:
    assert encode_json({"x": parse_json(b'"\\ud800"')}) == b'{"x":"\\ud800"}'


@dataclass(frozen=True, slots=True)
class Received:
    at: datetime
    texts: tuple[str, ...]


@pytest.mark.parametrize("text", ["caf\u00e9", "\ud800", "\udc00 half"])
def test_views_are_written_whatever_is_in_them(text: str) -> None:
    at = datetime(2026, 11, 20, 10, 0, 0, 5, tzinfo=UTC)
    assert json.loads(encode_json([Received(at, (text,))])) == [
        {"at": "2026-11-20T10:00:00.000005+00:00", "texts": [text]}
    ]


@pytest.mark.parametrize("text", ["x", "\ud800"])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(TypeError):
        encode_json([text, object()])


def test_byte_order_mark_is_skipped() -> None:
    assert parse_json(b"\xef\xbb\xbf1") == 1


@pytest.mark.parametrize("tail", ["", "NaN"])
def test_depth_is_bounded(tail: str) -> None:
    assert parse_json("[" * MAX_DEPTH + tail + "]" * MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(ValueError, match=r"nested|JSON|Expecting"):
            parse_json("[" * depth + tail + "]" * depth)


@pytest.mark.parametrize("value", [[], ["["] * 500, ['\\"[{'] * 300])
def test_brackets_that_do_not_nest_do_not_count(value: list[str]) -> None:
    assert parse_json(json.dumps([*value, math.nan])) == [*value, None]
    assert parse_json(json.dumps(value)) == value


def test_number_of_too_many_digits_is_not_json() -> None:
    with pytest.raises(ValueError, match=r"digits"):
        parse_json("[NaN, " + "1" * 5000 + "]")


@pytest.mark.parametrize("body", [b"\xff", b"", b"{", b"'a'"])
def test_invalid_json_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(body)
