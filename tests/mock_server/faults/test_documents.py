"""Tampered JSON documents."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.model import Json
from mock_server.faults.documents import merged, tampered_document
from mock_server.faults.effects import LyingCard, MalformedJson, WrongContextId, WrongId

ANSWER = {"id": "r1", "result": {"contextId": "c1", "history": [{"contextId": "c1", "id": "m"}]}}
DOCUMENT = json.dumps(ANSWER).encode()
VALUES = st.recursive(
    st.none() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)


def test_id_is_replaced_or_left_out() -> None:
    assert json.loads(tampered_document(DOCUMENT, [WrongId(id=7)]))["id"] == 7
    assert "id" not in json.loads(tampered_document(DOCUMENT, [WrongId(id=None)]))


def test_context_is_replaced_wherever_it_is_named() -> None:
    made = json.loads(tampered_document(DOCUMENT, [WrongContextId(context_id="x")]))
    assert made["result"] == {"contextId": "x", "history": [{"contextId": "x", "id": "m"}]}


def test_half_a_document_is_no_json() -> None:
    half = tampered_document(DOCUMENT, [MalformedJson(), WrongId()])
    assert DOCUMENT.startswith(half)
    with pytest.raises(json.JSONDecodeError):
        json.loads(half)


@pytest.mark.parametrize("document", [b"", b"Not Found", b"[1]"])
def test_what_is_no_object_stays(document: bytes) -> None:
    effects = [WrongId(), WrongContextId(), LyingCard(merge={"a": 1})]
    assert tampered_document(document, effects) == document


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [  # RFC 7396, appendix A
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patch(target: Json, patch: Json, result: Json) -> None:
    assert merged(target, patch) == result


@given(VALUES, VALUES)
def test_merging_twice_changes_nothing_more(target: Json, patch: Json) -> None:
    once = merged(target, patch)
    assert merged(once, patch) == once
