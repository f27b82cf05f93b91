"""What is kept of settled tasks, and for how long."""

from collections import OrderedDict
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.assistant import Assistant
from mock_server.service.store import Conversations, Limits, Snapshot, TtlCache
from mock_server.tasks.task import TaskState
from mock_server.wire.v0_3 import V03


@dataclass
class Clock:
    seconds: float = 0.0

    def now(self) -> float:
        return self.seconds


def snapshot(task_id: str, size_bytes: int = 1) -> Snapshot:
    return Snapshot(task_id, "c", TaskState.COMPLETED, b"x" * size_bytes, V03())


def kept(shelf: TtlCache[str], *keys: str) -> str:
    return "".join(key for key in keys if shelf.find(key))


def test_past_the_count_the_oldest_is_forgotten() -> None:
    shelf: TtlCache[str] = TtlCache(Limits(60, max_count=2), Clock().now)
    for key in "abcb":
        shelf.put(key, snapshot(key))
    assert kept(shelf, *"abc") == "bc"
    shelf.put("d", snapshot("d"))
    assert kept(shelf, *"abcd") == "bd"


def test_past_the_size_the_oldest_is_forgotten() -> None:
    shelf: TtlCache[str] = TtlCache(Limits(60, max_bytes=10), Clock().now)
    for key in "abc":
        shelf.put(key, snapshot(key, 4))
    assert kept(shelf, *"abc") == "bc"
    shelf.put("d", snapshot("d", 100))
    assert kept(shelf, *"abcd") == "d"


@pytest.mark.req("TURN-5")
def test_age_counts_from_the_last_put() -> None:
    clock = Clock()
    shelf: TtlCache[str] = TtlCache(Limits(60), clock.now)
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
    shelf: TtlCache[str] = TtlCache(Limits(0), Clock().now)
    shelf.put("a", snapshot("a"))
    assert shelf.find("a") is None


puts = st.tuples(st.sampled_from("abcde"), st.integers(1, 9), st.floats(0, 30))


@given(st.lists(puts, max_size=40))
def test_shelf_holds_the_youngest_that_fit(steps: list[tuple[str, int, float]]) -> None:
    clock, model = Clock(), OrderedDict[str, tuple[int, float]]()
    shelf: TtlCache[str] = TtlCache(Limits(60, max_count=3, max_bytes=15), clock.now)
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


def test_silent_context_is_found_as_it_was_left() -> None:
    conversations = Conversations(max_reserved=1)
    first = conversations.enter("a", Assistant())
    conversations.leave(first)
    assert conversations.find("a") is first
    assert conversations.enter("a", Assistant()) is first
    assert [*conversations] == [first]


@pytest.mark.req("TURN-6")
def test_cap_counts_contexts_and_not_turns() -> None:
    conversations = Conversations(max_reserved=2)
    first = conversations.enter("a", Assistant())
    conversations.enter("a", Assistant())
    assert conversations.has_room_for("b")
    conversations.enter("b", Assistant())
    assert not conversations.has_room_for("c")
    assert conversations.has_room_for("a")
    conversations.leave(first)
    assert not conversations.has_room_for("c")
    conversations.leave(first)
    assert conversations.has_room_for("c")
    assert not Conversations(0).find("a")


def test_context_that_was_silent_longest_is_forgotten_first(
    caplog: pytest.LogCaptureFixture,
) -> None:
    conversations = Conversations(max_reserved=0, max_silent=2)
    busy = conversations.enter("busy", Assistant())
    for context_id in ("a", "b", "a", "c"):
        conversations.leave(conversations.enter(context_id, Assistant()))
    remembered = [conversation.id for conversation in conversations]
    assert remembered == ["busy", "a", "c"]
    assert "a2a_mock.conversation.forgotten" in caplog.text
    conversations.leave(busy)
    assert conversations.find("a") is None
