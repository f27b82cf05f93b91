"""The SSE reader gives the same events however the bytes are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.sse import SseEvent, SseReader, SseTooLarge, parse_event

LINE_ENDS = (b"\n", b"\r", b"\r\n")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

lines = st.one_of(
    st.binary(max_size=12).filter(lambda line: b"\r" not in line and b"\n" not in line),
    st.sampled_from([b"data: x", b"data:", b": ping", b"event: e", b"id: 1", b"", b"", b"data"]),
)


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    return b"".join(draw(lines) + draw(st.sampled_from(LINE_ENDS)) for _ in range(draw(counts)))


counts = st.integers(0, 12)


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    bounds = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[start:end] for start, end in pairwise(bounds)]


def meaning(event: SseEvent) -> tuple[object, ...]:
    return event.data, event.event, event.id, event.comments, event.is_terminated


@given(streams(), st.lists(st.integers(0, 500), max_size=8))
def test_chunking_changes_nothing(stream: bytes, places: list[int]) -> None:
    whole = SseReader().feed(stream)
    reader = SseReader()
    cut_up = [event for chunk in cut(stream, places) for event in reader.feed(chunk)]
    assert [meaning(event) for event in cut_up] == [meaning(event) for event in whole]


@given(streams() | st.binary(), st.lists(st.integers(0, 500), max_size=8))
def test_no_byte_is_lost(stream: bytes, places: list[int]) -> None:
    reader = SseReader()
    raws = [event.raw for chunk in cut(stream, places) for event in reader.feed(chunk)]
    assert b"".join(raws) + reader.pending == stream


@given(streams() | st.binary())
def test_an_event_is_read_again_from_its_bytes(stream: bytes) -> None:
    for event in SseReader().feed(stream):
        assert parse_event(event.raw) == event
        assert event.is_terminated


@pytest.mark.parametrize("end", LINE_ENDS)
def test_an_event_comes_with_the_byte_that_ends_it(end: bytes) -> None:
    reader = SseReader()
    stream = b"data: x" + end + end
    before = [event for byte in stream[:-1] for event in reader.feed(bytes([byte]))]
    if end == b"\r\n":
        # the CR of the blank line already ends it; its LF is still to come
        assert [event.data for event in before] == [b"x"]
        assert reader.feed(stream[-1:]) == []
    else:
        assert before == []
        assert [event.data for event in reader.feed(stream[-1:])] == [b"x"]


def test_lines_of_data_are_joined() -> None:
    [event] = SseReader().feed(b"data: a\ndata:b\ndata\n\n")
    assert event.data == b"a\nb\n"


def test_fields_and_comments_are_read() -> None:
    [event] = SseReader().feed(b": ping\nevent: e\nid: 7\nretry: 5\ndata:  x\n\n")
    assert (event.event, event.id, event.comments, event.data) == ("e", "7", ("ping",), b" x")


def test_a_comment_alone_has_no_data() -> None:
    [event] = SseReader().feed(b": ping\r\n\r\n")
    assert event.data is None


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    [event] = SseReader().feed(BYTE_ORDER_MARK + b"data: x\n\n")
    assert event.data == b"x"
    assert event.raw.startswith(BYTE_ORDER_MARK)


def test_an_event_without_its_blank_line_is_not_terminated() -> None:
    reader = SseReader()
    assert reader.feed(b"data: x\r\n") == []
    rest = parse_event(reader.pending)
    assert rest.data == b"x"
    assert not rest.is_terminated


@pytest.mark.req("CONN-5")
def test_an_endless_event_is_refused() -> None:
    reader = SseReader(limit_bytes=100)
    reader.feed(b"data: " + b"x" * 94)
    with pytest.raises(SseTooLarge) as caught:
        reader.feed(b"x")
    assert caught.value.limit_bytes == 100
    assert len(reader.pending) == 101
