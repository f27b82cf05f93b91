"""Slots written in a shape are read from it, and nothing else is lost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.commands import SlotShape, Turn
from inspector.core.requests import compose
from inspector.wire.dialect import Ask
from inspector.wire.slots import add_fence, add_line, read_slots, seedings, strip_markers
from inspector.wire.v0_3 import encode_request, read_request


def ask_of(params: dict[str, Any]) -> Ask:
    return read_request(encode_request("1", "message/send", params)).ask


letters = st.characters(categories=("L", "N", "Zs"))
values = st.none() | st.booleans() | st.integers() | st.text(letters)
slot_sets: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.text(letters, min_size=1), values, min_size=1, max_size=4
)
said = st.text(letters, max_size=20).map(str.strip)


@given(said, slot_sets, st.sets(st.sampled_from(SlotShape), min_size=1))
@pytest.mark.req("SLOT-1", "COMP-1a")
def test_every_shape_carries_the_slots(
    text: str, slots: dict[str, Any], shapes: set[SlotShape]
) -> None:
    ask = compose(Turn(text, slots, tuple(shapes)), "m")
    read, read_shapes = read_slots(ask)
    assert read == slots
    assert set(read_shapes) == shapes


@given(said, slot_sets)
@pytest.mark.req("SLOT-4")
def test_markers_are_stripped_and_nothing_else(text: str, slots: dict[str, Any]) -> None:
    assert strip_markers(add_line(text, slots)) == text
    assert strip_markers(add_fence(text, slots)) == text
    assert strip_markers(add_fence(add_line(text, slots), slots)) == text


@pytest.mark.parametrize(
    "text",
    ["SLOTS: none", "say SLOTS: {}", "```json\nnot json\n```", '```json\n{"a":1}\n```\nmore'],
)
def test_text_that_only_looks_like_a_marker_stays(text: str) -> None:
    assert strip_markers(text) == text


@pytest.mark.req("SLOT-1", "COMP-1")
def test_places_are_found_with_the_strongest_last() -> None:
    text = 'a\nSLOTS:{"a": 1}\nb\n  SLOTS: {}\n```json\n{"a": 2}\n```'
    parts: list[Any] = [{"kind": "text", "text": text}, {"kind": "data", "data": {"slots": []}}]
    params: Any = {"message": {"parts": parts}, "metadata": {"slots": {"a": 3}}}
    assert [(one.shape, one.slots) for one in seedings(ask_of(params))] == [
        ("line", {"a": 1}),
        ("line", {}),
        ("fence", {"a": 2}),
        ("request", {"a": 3}),
    ]
    assert strip_markers(text) == "a\nb"


def test_later_shapes_win() -> None:
    parts: list[Any] = [
        {"kind": "text", "text": 'hi\nSLOTS: {"a": 1, "b": 1, "c": 1, "d": 1}'},
        {"kind": "data", "data": {"slots": {"d": 4}}},
        {"kind": "data", "data": {"slots": {"d": 5}}},
    ]
    params: dict[str, Any] = {
        "message": {"parts": parts, "metadata": {"slots": {"c": 3, "d": 3}}},
        "metadata": {"slots": {"b": 2, "c": 2, "d": 2}},
    }
    slots, shapes = read_slots(ask_of(params))
    assert slots == {"a": 1, "b": 2, "c": 3, "d": 5}
    assert shapes == ("line", "request", "metadata", "data")
