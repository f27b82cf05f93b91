"""The persistent mapping: what a dict would hold, whatever the steps."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.views.persistent import Index


class Clash:
    """A key whose hash is that of all its kind."""

    def __init__(self, name: int) -> None:
        self.name = name

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clash) and other.name == self.name


keys: st.SearchStrategy[Any] = st.one_of(
    st.integers(0, 60), st.text(max_size=2), st.integers(0, 20).map(Clash)
)
steps = st.lists(st.tuples(st.booleans(), keys, st.integers()), max_size=120)


@given(steps)
def test_it_holds_what_a_dict_would(steps: list[tuple[bool, Any, int]]) -> None:
    index, expected = Index[Any, int](), dict[Any, int]()
    for puts, key, value in steps:
        if puts:
            index, expected = index.set(key, value), {**expected, key: value}
        else:
            index = index.without(key)
            expected.pop(key, None)
    assert index == expected
    assert len(index) == len(expected)
    assert all(index[key] == value for key, value in expected.items())


@given(steps, keys)
def test_a_step_leaves_what_it_stepped_from(steps: list[tuple[bool, Any, int]], key: Any) -> None:
    index = Index((key, value) for _, key, value in steps)
    before = dict(index)
    index.set(key, -1)
    index.without(key)
    assert index == before


def test_what_is_missing_is_no_key() -> None:
    index = Index((number, number) for number in range(5000))
    assert 5000 not in index
    with pytest.raises(KeyError):
        index[-1]
    assert sorted(index) == list(range(5000))
    assert repr(Index([("a", 1)])) == "Index({'a': 1})"


def test_a_large_mapping_shrinks_again() -> None:
    index = Index((number, number) for number in range(200))
    for number in range(0, 200, 2):
        index = index.without(number)
    assert sorted(index) == list(range(1, 200, 2))
    assert len(index) == 100
