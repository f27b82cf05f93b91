"""What differs between two cards."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.views.card import ChangeKind, card_changes
from inspector.views.card import told as told_change

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def told(before: Any, after: Any) -> list[tuple[str, str]]:
    return [(change.kind.value, change.path) for change in card_changes(before, after)]


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"name": "a"}, {"name": "b"}, [("changed", "$.name")]),
        ({"name": "a"}, {"version": "b"}, [("added", "$.version"), ("removed", "$.name")]),
        ({"c": {"push": False}}, {"c": {"push": True}}, [("changed", "$.c.push")]),
        ({"n": 1}, {"n": True}, [("changed", "$.n")]),
        ({"x y": 1}, {"x y": []}, [("changed", "$['x y']")]),
        (
            {"skills": [{"id": "a", "name": "A"}, {"id": "b"}]},
            {"skills": [{"id": "c"}, {"id": "a", "name": "B"}]},
            [
                ("added", "$.skills['c']"),
                ("changed", "$.skills['a'].name"),
                ("removed", "$.skills['b']"),
            ],
        ),
        ({"skills": [{"id": "a"}, {"id": "b"}]}, {"skills": [{"id": "b"}, {"id": "a"}]}, []),
        ({"t": ["a"]}, {"t": ["a", "b"]}, [("added", "$.t[1]")]),
        (
            {"t": [{"id": "a"}, {"id": "a"}]},
            {"t": [{"id": "a"}]},
            [("removed", "$.t[1]")],
        ),
    ],
)
@pytest.mark.req("CARDV-1")
def test_changes(before: Any, after: Any, changes: list[tuple[str, str]]) -> None:
    assert told(before, after) == changes


@pytest.mark.req("CARDV-1")
@pytest.mark.parametrize(
    ("before", "after", "text"),
    [({}, {"n": 1}, "1"), ({"n": 1}, {}, "1"), ({"n": 1}, {"n": 2}, "1 → 2")],
)
def test_a_change_is_told_by_what_was_and_what_is(before: Any, after: Any, text: str) -> None:
    [change] = card_changes(before, after)
    assert told_change(change, str) == text


@given(JSON)
def test_a_card_does_not_differ_from_itself(card: Any) -> None:
    assert card_changes(card, card) == ()


@given(JSON, JSON)
def test_the_way_back_has_the_same_changes(before: Any, after: Any) -> None:
    back = {
        ChangeKind.ADDED: ChangeKind.REMOVED,
        ChangeKind.REMOVED: ChangeKind.ADDED,
        ChangeKind.CHANGED: ChangeKind.CHANGED,
    }
    forth = {(change.path, back[change.kind]) for change in card_changes(before, after)}
    assert {(change.path, change.kind) for change in card_changes(after, before)} == forth
