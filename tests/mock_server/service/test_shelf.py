"""What is kept of settled tasks, and for how long."""

from collections import OrderedDict
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.service.shelf import Limits, Shelf
from mock_server.service.snapshot import Snapshot
from mock_server.tasks.task import TaskState


@dataclass
class Clock:
    seconds: float = 0.0

    def now(self) -> float:
        return self.seconds


def snapshot(task_id: str, size_bytes: int = 1) -> Snapshot:
    return Snapshot(task_id, "c", TaskState.COMPLETED, b"x" * size_bytes)


def kept(shelf: Shelf[str], *keys: str) -> str:
    return "".join(key for key in keys if shelf.find(key))


def test_past_the_count_the_oldest_is_forgotten() -> None:
    shelf: Shelf[str] = Shelf(Limits(60, max_count=2), Clock().now)
    for key in "abcb":
        shelf.put(key, snapshot(key))
    assert kept(shelf, *"abc") == "bc"
    shelf.put("d", snapshot("d"))
    assert kept(shelf, *"abcd") == "bd"


def test_past_the_size_the_oldest_is_forgotten() -> None:
    shelf: Shelf[str] = Shelf(Limits(60, max_bytes=10), Clock().now)
    for key in "abc":
        shelf.put(key, snapshot(key, 4))
    assert kept(shelf, *"abc") == "bc"
    shelf.put("d", snapshot("d", 100))
    assert kept(shelf, *"abcd") == "d"


@pytest.mark.req("TURN-5")
def test_age_counts_from_the_last_put() -> None:
    clock = Clock()
    shelf: Shelf[str] = Shelf(Limits(60), clock.now)
    shelf.put("a", snapshot("a"))
    shelf.put("b", snapshot("b"))
    clock.seconds = 30
    shelf.put("a", snapshot("a"))
    clock.seconds = 60
    assert kept(shelf, *"ab") == "a"
    clock.seconds = 90
    assert kept(shelf, *"ab") == ""


@pytest.mark.req("TURN-5")
def test_lifetime_of_zero_keeps_nothing() -> None:
    shelf: Shelf[str] = Shelf(Limits(0), Clock().now)
    shelf.put("a", snapshot("a"))
    assert shelf.find("a") is None


puts = st.tuples(st.sampled_from("abcde"), st.integers(1, 9), st.floats(0, 30))


@given(st.lists(puts, max_size=40))
def test_shelf_holds_the_youngest_that_fit(steps: list[tuple[str, int, float]]) -> None:
    clock, model = Clock(), OrderedDict[str, tuple[int, float]]()
    shelf: Shelf[str] = Shelf(Limits(60, max_count=3, max_bytes=15), clock.now)
    for key, size_bytes, later in steps:
        clock.seconds += later
        shelf.put(key, snapshot(key, size_bytes))
        model.pop(key, None)
        model[key] = (size_bytes, clock.seconds)
        while len(model) > 1 and (
            len(model) > 3
            or sum(size for size, _ in model.values()) > 15
            or next(iter(model.values()))[1] + 60 <= clock.seconds
        ):
            model.popitem(last=False)
        assert kept(shelf, *"abcde") == "".join(sorted(model))
        assert len(shelf) == len(model)
