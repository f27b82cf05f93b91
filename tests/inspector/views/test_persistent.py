"""A series is a tuple that grows cheaply."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.views.persistent import Index, Series

lengths = st.integers(0, 40) | st.sampled_from([31, 32, 33, 1023, 1024, 1025, 1057])


@given(lengths)
def test_appending_gives_the_items_in_order(length: int) -> None:
    series: Series[int] = Series()
    for item in range(length):
        series = series.append(item)
    assert list(series) == list(range(length))
    assert len(series) == length
    assert series == Series(range(length))
    assert hash(series) == hash(Series(range(length)))


@given(st.lists(st.integers(), min_size=1, max_size=1100), st.integers(0))
def test_setting_changes_one_place_of_a_copy(items: list[int], place: int) -> None:
    place %= len(items)
    series = Series(items)
    changed = series.set(place, -7)
    assert list(series) == items
    assert list(changed) == [*items[:place], -7, *items[place + 1 :]]


def test_two_futures_of_one_series_do_not_meet() -> None:
    series = Series(range(33))
    assert list(series.append(1))[-1] == 1
    assert list(series.append(2))[-1] == 2
    assert len(series) == 33


def test_it_is_indexed_and_sliced_as_a_tuple() -> None:
    series = Series(range(100))
    assert (series[0], series[99], series[-1]) == (0, 99, 99)
    assert series[10:20:3] == (10, 13, 16, 19)
    assert series[-2:] == (98, 99)
    assert Series([1]).extend([2, 3]) == Series([1, 2, 3])
    assert repr(Series([1, 2])) == "Series([1, 2])"
    assert Series([1]) != (1,)


@pytest.mark.parametrize("place", [3, -4])
def test_there_is_nothing_outside(place: int) -> None:
    with pytest.raises(IndexError):
        Series([1, 2, 3])[place]


def test_only_places_that_are_there_can_be_set() -> None:
    with pytest.raises(IndexError):
        Series([1]).set(1, 2)


edits = st.lists(st.tuples(st.sampled_from(["append", "set", "cut"]), st.integers(0, 1100)))


def edit(series: Series[object], steps: list[tuple[str, int]]) -> Series[object]:
    for name, number in steps:
        if name == "append":
            series = series.extend(object() for _ in range(number % 70))
        elif name == "set" and len(series):
            series = series.set(number % len(series), object())
        elif name == "cut":
            series = series.cut(number)
    return series


@given(st.integers(0, 1100), edits, edits)
def test_changes_are_the_places_where_two_futures_differ(
    length: int, one: list[tuple[str, int]], other: list[tuple[str, int]]
) -> None:
    start = Series[object](object() for _ in range(length))
    before, after = edit(start, one), edit(start, other)
    known = list(before)
    expected = [
        place for place, item in enumerate(after) if place >= len(known) or known[place] is not item
    ]
    assert list(after.changes(before)) == expected


def test_what_was_added_to_a_small_series_is_all_that_changed() -> None:
    small = Series(range(10))
    assert list(small.extend(range(10, 1100)).changes(small)) == list(range(10, 1100))


@given(st.lists(st.integers(), max_size=80), st.integers(0, 90), st.lists(st.integers()))
def test_a_series_can_be_cut_and_go_on(items: list[int], length: int, more: list[int]) -> None:
    cut = Series(items).cut(length).extend(more)
    assert cut == Series(items[:length] + more)
    assert [cut[place] for place in range(len(cut))] == items[:length] + more


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


@given(steps, st.dictionaries(keys, st.integers(), max_size=200))
def test_many_pairs_at_once_are_what_they_are_one_by_one(
    steps: list[tuple[bool, Any, int]], more: dict[Any, int]
) -> None:
    known = {key: value for _, key, value in steps}
    index = Index(known.items()).union(more.items())
    assert index == {**known, **more}
    assert len(index) == len({**known, **more})
    for key in more:
        index = index.without(key)
    assert index == {key: value for key, value in known.items() if key not in more}


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
