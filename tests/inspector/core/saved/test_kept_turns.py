"""A turn kept in a file is the same turn again, but for what belongs to one moment."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.commands import Also, FollowMode, SlotShape, Turn
from inspector.core.requests import read_part
from inspector.core.saved.targets import decode_turn, encode_turn
from inspector.wire.json_values import Json

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
pairs = st.dictionaries(words, st.none() | st.booleans() | st.integers() | words, max_size=2)
DATA = read_part('{"kind": "data", "data": {}}')
turns = st.builds(
    Turn,
    text=words,
    slots=st.dictionaries(words, st.integers(), min_size=1, max_size=2),
    slot_shapes=st.sampled_from([(SlotShape.DATA,), (SlotShape.LINE, SlotShape.METADATA)]),
    metadata=pairs,
    parts=st.just(()) | st.just((DATA,)),
    history_length=st.none() | st.integers(0, 5),
    accepted_output_modes=st.just(()) | st.just(("text/plain",)),
    follow=st.sampled_from(FollowMode),
    also=st.frozensets(st.sampled_from(Also)),
    headers=st.just(()) | st.just((("Authorization", "Bearer ${TOKEN}"), ("A2A-Version", "1"))),
)


@given(turns)
@pytest.mark.req("COMP-4")
def test_kept_turn_is_read_back(turn: Turn) -> None:
    kept = json.loads(json.dumps(encode_turn(turn)))
    assert decode_turn(kept) == turn


def test_text_alone_is_kept_as_text() -> None:
    assert encode_turn(Turn("hi", follow=FollowMode.STREAM)) == "hi"
    assert decode_turn("hi", FollowMode.STREAM) == Turn("hi", follow=FollowMode.STREAM)


def test_ids_and_values_that_may_be_secret_are_left_out() -> None:
    turn = Turn("hi", headers=(("X-Key", "hunter2-hunter2"), ("X-Env", "${KEY}")))
    kept = encode_turn(replace(turn, context_id="c-1", message_id="m-1", task_id="t-1"))
    assert kept == {"text": "hi", "headers": [["X-Env", "${KEY}"]], "follow": "blocking"}


def test_raw_body_is_kept() -> None:
    turn = Turn("", raw='{"ä"'.encode(), follow=FollowMode.STREAM)
    assert decode_turn(encode_turn(turn)) == turn


@pytest.mark.parametrize("kept", [None, 1, [], {}, {"follow": 1, "slots": [], "headers": [1]}])
def test_any_json_reads_as_some_turn(kept: Json) -> None:
    assert decode_turn(kept).text == ""
