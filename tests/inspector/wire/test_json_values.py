"""JSON of strangers is read without ever raising."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.json_values import (
    MAX_DEPTH,
    at,
    encode_as_read,
    encode_json,
    is_deep,
    list_at,
    object_at,
    parse_json,
    text_at,
)

trees: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.binary())
def test_any_bytes_are_a_value_or_a_problem(raw: bytes) -> None:
    parsed = parse_json(raw)
    assert parsed.value is None or not parsed.problem


@given(trees)
def test_what_is_encoded_is_read_again(tree: Any) -> None:
    assert parse_json(encode_json(tree)).value == tree


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", "not JSON: Expecting value at line 1 column 1"),
        (b"<html>", "not JSON: Expecting value at line 1 column 1"),
        (b'{"a": \xff}', "not UTF-8: byte 0xff at 6"),
        pytest.param(b"[" * 300 + b"]" * 300, f"nested deeper than {MAX_DEPTH} levels", id="deep"),
        pytest.param(b"[" * 100_000, f"nested deeper than {MAX_DEPTH} levels", id="deeper"),
        (
            b"1" * 5000,
            "not readable: Exceeds the limit (4300 digits) for integer string conversion",
        ),
    ],
)
@pytest.mark.req("CONN-5")
def test_a_problem_is_named(raw: bytes, problem: str) -> None:
    assert parse_json(raw).problem.startswith(problem)


def test_nan_is_read_with_a_warning() -> None:
    parsed = parse_json(b'{"a": NaN}')
    assert parsed.value == {"a": "NaN"}
    assert parsed.warning == "NaN is not JSON"


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" * 400 + ".0"])
@pytest.mark.req("CONN-5")
def test_number_beyond_every_float_is_read_as_its_digits(number: str) -> None:
    parsed = parse_json(f'{{"a": {number}}}'.encode())
    assert parsed.value == {"a": number}
    assert "larger than any number" in parsed.warning
    assert parse_json(encode_json(parsed.value)).warning == ""


@pytest.mark.parametrize(
    "text",
    ['{"a":1e999,"b":["1e999",NaN,{}],"\u00e4":[]}', "-1e999", "[1,[],{},-Infinity]"],
)
@pytest.mark.req("CONN-5")
def test_literals_are_written_as_they_were_read(text: str) -> None:
    assert encode_as_read(parse_json(text.encode()).value) == text.encode()


@given(trees)
def test_without_literals_both_ways_to_write_are_one(tree: Any) -> None:
    assert encode_as_read(tree) == encode_json(tree)


def test_depth_counts_containers() -> None:
    assert not is_deep(json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH))
    assert is_deep(json.loads("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)))


def test_a_lone_surrogate_travels_as_its_escape() -> None:
    assert encode_json("\ud800") == rb'"\ud800"'


@given(trees, st.lists(st.text() | st.integers(0, 3), max_size=3))
def test_a_path_never_raises(tree: Any, path: list[str | int]) -> None:
    at(tree, *path)
    assert text_at(tree, *path) is None or isinstance(at(tree, *path), str)
    assert isinstance(object_at(tree, *path), dict)
    assert isinstance(list_at(tree, *path), list)


def test_a_path_leads_through_objects_and_arrays() -> None:
    tree: Any = {"a": [{"b": "c"}]}
    assert text_at(tree, "a", 0, "b") == "c"
    assert at(tree, "a", 1) is None
    assert at(tree, 0) is None
