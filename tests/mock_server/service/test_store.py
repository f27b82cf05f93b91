"""What is kept of settled tasks, and for how long."""

from collections import OrderedDict
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.state import BotUttered, Frame
from mock_server.service.conversation import Conversation
from mock_server.service.store import (
    CacheLimits,
    HappenedTurn,
    Snapshot,
    Store,
    StoreLimits,
    TtlCache,
    TurnLog,
)
from mock_server.tasks.task import TaskState
from mock_server.wire.v0_3 import V03


@dataclass
class Clock:
    seconds: float = 0.0

    def now(self) -> float:
        return self.seconds


def snapshot(task_id: str, size_bytes: int = 1) -> Snapshot:
    return Snapshot(task_id, "c", TaskState.COMPLETED, b"x" * size_bytes, V03())


def kept(cache: TtlCache[str], *keys: str) -> str:
    return "".join(key for key in keys if cache.find(key))


def test_past_the_count_the_oldest_is_forgotten() -> None:
    cache: TtlCache[str] = TtlCache(CacheLimits(60, max_count=2), Clock().now)
    for key in "abcb":
        cache.put(key, snapshot(key))
    assert kept(cache, *"abc") == "bc"
    cache.put("d", snapshot("d"))
    assert kept(cache, *"abcd") == "bd"


def test_past_the_size_the_oldest_is_forgotten() -> None:
    cache: TtlCache[str] = TtlCache(CacheLimits(60, max_bytes=10), Clock().now)
    for key in "abc":
        cache.put(key, snapshot(key, 4))
    assert kept(cache, *"abc") == "bc"
    cache.put("d", snapshot("d", 100))
    assert kept(cache, *"abcd") == "d"


@pytest.mark.req("TURN-5")
def test_age_counts_from_the_last_put() -> None:
    clock = Clock()
    cache: TtlCache[str] = TtlCache(CacheLimits(60), clock.now)
    cache.put("a", snapshot("a"))
    cache.put("b", snapshot("b"))
    clock.seconds = 30
    cache.put("a", snapshot("a"))
    clock.seconds = 60
    assert kept(cache, *"ab") == "a"
    clock.seconds = 90
    assert kept(cache, *"ab") == ""


@pytest.mark.req("TURN-5")
def test_lifetime_of_zero_keeps_nothing() -> None:
    cache: TtlCache[str] = TtlCache(CacheLimits(0), Clock().now)
    cache.put("a", snapshot("a"))
    assert cache.find("a") is None


puts = st.tuples(st.sampled_from("abcde"), st.integers(1, 9), st.floats(0, 30))


@given(st.lists(puts, max_size=40))
def test_cache_holds_the_youngest_that_fit(steps: list[tuple[str, int, float]]) -> None:
    clock, model = Clock(), OrderedDict[str, tuple[int, float]]()
    cache: TtlCache[str] = TtlCache(CacheLimits(60, max_count=3, max_bytes=15), clock.now)
    for key, size_bytes, later in steps:
        clock.seconds += later
        cache.put(key, snapshot(key, size_bytes))
        model.pop(key, None)
        model[key] = (size_bytes, clock.seconds)
        while len(model) > 1 and (
            len(model) > 3
            or sum(size for size, _ in model.values()) > 15
            or next(iter(model.values()))[1] + 60 <= clock.seconds
        ):
            model.popitem(last=False)
        assert kept(cache, *"abcde") == "".join(sorted(model))
        assert len(cache) == len(model)


def stored(*, max_contexts: int, max_silent: int = 100, max_bytes: int = 10_000) -> Store:
    return Store(StoreLimits(0, max_contexts, max_silent, max_bytes=max_bytes), Clock().now)


def test_silent_context_is_found_as_it_was_left() -> None:
    store = stored(max_contexts=1)
    first = store.enter("a", Assistant())
    store.leave(first)
    assert store.conversation("a") is first
    assert store.enter("a", Assistant()) is first
    assert [*store.conversations()] == [first]


@pytest.mark.req("TURN-6")
def test_cap_counts_contexts_and_not_turns() -> None:
    store = stored(max_contexts=2)
    first = store.enter("a", Assistant())
    store.enter("a", Assistant())
    assert store.has_room_for("b")
    store.enter("b", Assistant())
    assert not store.has_room_for("c")
    assert store.has_room_for("a")
    store.leave(first)
    assert not store.has_room_for("c")
    store.leave(first)
    assert store.has_room_for("c")
    assert not stored(max_contexts=0).conversation("a")


def test_context_that_was_silent_longest_is_forgotten_first(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = stored(max_contexts=0, max_silent=2)
    busy = store.enter("busy", Assistant())
    for context_id in ("a", "b", "a", "c"):
        store.leave(store.enter(context_id, Assistant()))
    remembered = [conversation.id for conversation in store.conversations()]
    assert remembered == ["busy", "a", "c"]
    assert "a2a_mock.conversation.forgotten" in caplog.text
    store.leave(busy)
    assert store.conversation("a") is None


def turn(store: Store, context_id: str, **held: object) -> Conversation:
    """A turn that leaves the context with these fields of its state."""
    conversation = store.enter(context_id, Assistant())
    conversation.state = replace(conversation.state, **held)
    store.leave(conversation)
    return conversation


@pytest.mark.parametrize(
    "held",
    [
        {"user_text": "x" * 4000},
        {"user_metadata": {"a": {"b": ["x" * 4000]}}},
        {"slots": {"note": [["x" * 100] for _ in range(20)]}},
        {"bot_uttered": (BotUttered("x" * 4000),)},
        {"stack": (Frame("1", "flow", "step", context={"note": "x" * 4000}),)},
    ],
    ids=lambda held: next(iter(held)),
)
def test_silent_contexts_are_bounded_in_bytes(held: dict[str, object]) -> None:
    store = stored(max_contexts=0)
    for context_id in "abc":
        turn(store, context_id, **held)
    assert [conversation.id for conversation in store.conversations()] == ["b", "c"]


def test_large_context_at_rest_makes_room_when_it_shrinks() -> None:
    store = stored(max_contexts=0)
    for context_id in "ab":
        turn(store, context_id, user_text="x" * 4000)
    turn(store, "a", user_text="short")
    turn(store, "c", user_text="x" * 4000)
    assert len([*store.conversations()]) == 3


@pytest.mark.req("TURN-6")
def test_contexts_that_wait_for_an_answer_are_bounded_in_bytes() -> None:
    store = stored(max_contexts=0, max_bytes=10_000)
    asked = store.enter("c", Assistant())
    store.leave_open(snapshot("t", 10_000), asked)
    store.leave(asked)
    assert store.has_room_for("c")
    assert not store.has_room_for("d")
    store.settle(snapshot("t", 10_000))
    assert store.has_room_for("d")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=20))
def test_room_for_contexts_does_not_leak(turns: list[tuple[str, int]]) -> None:
    store = stored(max_contexts=0, max_bytes=10_000)
    for context_id, thousands in turns:
        turn(store, context_id, user_text="x" * 1000 * thousands)
    store.enter("a", Assistant())
    assert store.has_room_for("d")
    turn(store, "b", user_text="")
    assert store.conversation("b")


@pytest.mark.req("ADMIN-2")
def test_turns_of_all_contexts_are_bounded_in_number_and_bytes() -> None:
    turns = TurnLog(max_count=3, max_bytes=10)
    for number in range(5):
        turns.keep(HappenedTurn(f"c{number % 2}", (), (), size_bytes=1))
    assert (len(turns.of("c0")), len(turns.of("c1"))) == (2, 1)
    turns.keep(HappenedTurn("c2", (), (), size_bytes=9))
    assert [len(turns.of(context)) for context in ("c0", "c1", "c2")] == [1, 0, 1]
    turns.keep(HappenedTurn("c3", (), (), size_bytes=11))
    assert [len(turns.of(context)) for context in ("c0", "c2", "c3")] == [0, 0, 0]
    turns.clear()
    turns.keep(HappenedTurn("c4", (), (), size_bytes=10))
    assert len(turns.of("c4")) == 1
