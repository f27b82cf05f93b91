"""A turn is read back from its request as it was, or kept as the bytes that were sent."""

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.commands import FollowMode, SlotShape, Turn
from inspector.core.entries import Purpose, RequestSent
from inspector.core.requests import (
    compose,
    operation_of,
    read_sent_turn,
    read_to_end,
    read_user_file,
)
from inspector.errors import UsageError
from inspector.net.events import Headers
from inspector.wire import v0_3
from inspector.wire.dialect import Part

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
leaves = st.none() | st.booleans() | st.integers() | words
slot_sets = st.dictionaries(st.text("abc", min_size=1), leaves, max_size=3)
parts: st.SearchStrategy[Any] = st.just({"kind": "data", "data": {"a": 1}}) | st.just(
    {"kind": "file", "file": {"name": "a.txt", "bytes": "eA=="}}
)


def part_of(raw: Any) -> Part:
    return v0_3.read_part(raw) or Part(raw=raw)


turns = st.builds(
    Turn,
    text=words,
    slots=slot_sets,
    slot_shapes=st.sets(st.sampled_from(SlotShape), min_size=1).map(
        lambda chosen: tuple(shape for shape in SlotShape if shape in chosen)
    ),
    context_id=st.none() | st.just("c-1"),
    message_id=st.just("m-1"),
    task_id=st.none() | st.just("t-1"),
    metadata=st.dictionaries(st.sampled_from(["user", "locale"]), leaves, max_size=2),
    parts=st.lists(parts.map(part_of), max_size=2).map(tuple),
    history_length=st.none() | st.integers(0, 9),
    accepted_output_modes=st.lists(st.just("text/plain"), max_size=1).map(tuple),
    follow=st.sampled_from(FollowMode),
)


def request_of(turn: Turn, headers: Headers = ()) -> RequestSent:
    is_stream = turn.follow is FollowMode.STREAM
    purpose = Purpose.STREAM if is_stream else Purpose.SEND
    body = turn.raw
    if body is None:
        ask = compose(turn, "m-1")
        body = v0_3.encode(operation_of(turn), ask, url="http://x/", request_id="1").body
    return RequestSent(1, 0, 1, purpose, "POST", "http://x/", headers, body)


@given(turns)
@pytest.mark.req("COMP-4")
def test_what_was_sent_is_composed_again_byte_for_byte(turn: Turn) -> None:
    request = request_of(turn)
    read = read_sent_turn(request)
    assert request_of(read).body == request.body
    assert read.follow is turn.follow


@pytest.mark.parametrize("shape", SlotShape)
@pytest.mark.parametrize("text", ["", "send 50", "two\nlines"])
@pytest.mark.req("COMP-4")
def test_slots_come_back_out_of_their_shape(shape: SlotShape, text: str) -> None:
    turn = Turn(text, {"amount": 50, "vip": True}, (shape,), message_id="m-1")
    assert read_sent_turn(request_of(turn)) == turn


def test_slots_typed_into_the_text_stay_there_where_others_win() -> None:
    turn = Turn('hi\nSLOTS: {"amount": 1}', {"amount": 2}, message_id="m-1")
    assert read_sent_turn(request_of(turn)) == turn


@pytest.mark.parametrize(
    "body",
    [
        b"no JSON at all",
        b'{"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": {}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"}}',
        b"\xff\xfe",
        b"[]",
    ],
)
@pytest.mark.req("COMP-1")
def test_what_no_turn_composes_is_kept_raw(body: bytes) -> None:
    assert read_sent_turn(request_of(Turn("", raw=body))).raw == body


def test_masked_and_own_headers_are_left_out() -> None:
    sent = (("Accept", "*/*"), ("Authorization", "***"), ("X-A2A-Context-Id", "c-1"))
    sent += (("X-Mock-Trace", "1"),)
    assert read_sent_turn(request_of(Turn("hi"), sent)).headers == (("X-A2A-Context-Id", "c-1"),)


def test_content_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\0b")
    assert read_user_file(tmp_path / "file", "--raw file") == b"a\0b"


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--raw x: No such file or directory"):
        read_user_file(tmp_path / "none", "--raw x")
    with pytest.raises(UsageError, match="--raw x: Is a directory"):
        read_user_file(tmp_path, "--raw x")


def test_what_does_not_end_is_refused() -> None:
    assert read_to_end(io.BytesIO(b"1234"), "stdin", most_bytes=4) == b"1234"
    with pytest.raises(UsageError, match="stdin: more than 4 bytes"):
        read_to_end(io.BytesIO(b"12345"), "stdin", most_bytes=4)
