"""What faults ask of a turn."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.model import Json
from mock_server.faults.effects import (
    ConnectionReset,
    ContextEvicted,
    DuplicateEvents,
    Effect,
    ForcedState,
    LyingCard,
    MalformedJson,
    NoFinalEvent,
    ReorderedEvents,
    StuckWorking,
    TruncatedStream,
    WrongContextId,
    WrongId,
)
from mock_server.faults.tampering import (
    AS_USUAL,
    Cut,
    Handling,
    StreamTampering,
    handling,
    merged,
    tampered_document,
)
from mock_server.tasks.task import TaskState


def test_effects_on_the_turn_are_taken_together() -> None:
    effects = [
        ForcedState(state=TaskState.FAILED),
        StuckWorking(),
        ContextEvicted(),
        ForcedState(state=TaskState.REJECTED),
    ]
    assert handling("t", effects) == Handling("t", TaskState.REJECTED, True, True)


def test_other_effects_leave_the_turn_as_it_is() -> None:
    assert handling(None, [WrongId()]) == AS_USUAL


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


def test_half_a_document_is_not_json() -> None:
    half = tampered_document(DOCUMENT, [MalformedJson(), WrongId()])
    assert DOCUMENT.startswith(half)
    with pytest.raises(json.JSONDecodeError):
        json.loads(half)


@pytest.mark.parametrize("document", [b"", b"Not Found", b"[1]"])
def test_what_is_not_an_object_stays(document: bytes) -> None:
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


PING = b": ping\r\n\r\n"


def frame(number: int, *, is_final: bool = False) -> bytes:
    document = {"id": 1, "result": {"number": number, "final": is_final}}
    return b"data: " + json.dumps(document, separators=(",", ":")).encode() + b"\r\n\r\n"


def stream(count: int) -> list[bytes]:
    return [frame(number, is_final=number == count) for number in range(1, count + 1)]


def played(effects: Sequence[Effect], frames: Sequence[bytes]) -> list[bytes | Cut]:
    tampering = StreamTampering(tuple(effects))
    steps = [step for one in frames for step in tampering.frame(one)]
    return [*steps, *tampering.end()]


def numbers(steps: Sequence[bytes | Cut]) -> list[int]:
    contents = [step for step in steps if isinstance(step, bytes)]
    return [json.loads(content[6:])["result"]["number"] for content in contents]


@given(st.integers(0, 8))
def test_untouched_stream_stays(count: int) -> None:
    assert played([], stream(count)) == [*stream(count)]


@pytest.mark.req("ADMIN-1")
def test_final_event_is_left_out() -> None:
    assert numbers(played([NoFinalEvent()], stream(3))) == [1, 2]


@pytest.mark.req("ADMIN-1")
def test_events_are_repeated() -> None:
    assert numbers(played([DuplicateEvents(times=3)], stream(2))) == [1, 1, 1, 2, 2, 2]


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize(
    ("count", "order"), [(0, []), (1, [1]), (2, [2, 1]), (3, [2, 1, 3]), (5, [2, 1, 4, 3, 5])]
)
def test_neighbours_change_places(count: int, order: list[int]) -> None:
    assert numbers(played([ReorderedEvents()], stream(count))) == order


@given(st.integers(0, 8), st.integers(2, 4), st.booleans(), st.booleans())
def test_nothing_but_the_final_event_is_lost(
    count: int, times: int, drops: bool, swaps: bool
) -> None:
    effects: list[Effect] = [DuplicateEvents(times=times)]
    effects += [NoFinalEvent()] if drops else []
    effects += [ReorderedEvents()] if swaps else []
    kept = range(1, count if drops else count + 1)
    assert sorted(numbers(played(effects, stream(count)))) == sorted([*kept] * times)


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize("ending", ["cut", "clean"])
@given(st.integers(0, 4))
def test_truncated_stream_ends_in_the_middle_of_an_event(ending: str, after: int) -> None:
    effect = TruncatedStream.model_validate({"after_events": after, "ending": ending})
    *whole, half, cut = played([effect], stream(5))
    assert numbers(whole) == [*range(1, after + 1)]
    assert isinstance(half, bytes)
    assert stream(5)[after].startswith(half)
    assert len(half) < len(stream(5)[after])
    assert cut == Cut(ending)


@pytest.mark.req("ADMIN-1")
def test_reset_comes_after_the_first_event() -> None:
    steps = played([ConnectionReset(when="during")], stream(3))
    assert steps == [frame(1), Cut("reset")]


def test_cut_ends_repetition_and_what_is_held() -> None:
    effects = [TruncatedStream(after_events=1), DuplicateEvents(), ReorderedEvents()]
    steps = played(effects, stream(5))
    assert [type(step) for step in steps] == [bytes, bytes, Cut]


def test_comments_pass_and_count_as_no_event() -> None:
    steps = played([TruncatedStream(after_events=1), ReorderedEvents()], [PING, *stream(1)])
    assert steps == [PING, frame(1, is_final=True)]


def test_each_event_is_tampered_with() -> None:
    steps = played([WrongId(id="x")], stream(2))
    assert all(isinstance(step, bytes) and b'"id":"x"' in step for step in steps)
