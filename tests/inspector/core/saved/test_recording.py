"""A recording gives back the log that it was made of."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.core.entries import (
    Channel,
    Entry,
    Failed,
    FrameReceived,
    Purpose,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.core.saved.recording import BadRecording, decode_entries, encode_entry
from inspector.net.events import FailureKind

_stamp = (st.integers(1), st.floats(0, allow_infinity=False), st.integers(1))
_headers = st.lists(st.tuples(st.text(), st.text())).map(tuple)
_texts = st.text()
_entries: st.SearchStrategy[Entry] = st.one_of(
    st.builds(
        RequestSent, *_stamp, st.sampled_from(Purpose), _texts, _texts, _headers, st.binary()
    ),
    st.builds(
        ResponseStarted,
        *_stamp,
        st.integers(100, 599),
        _texts,
        _headers,
        st.none() | st.floats(0, allow_infinity=False),
    ),
    st.builds(FrameReceived, *_stamp, st.sampled_from(Channel), st.binary()),
    st.builds(ResponseEnded, *_stamp),
    st.builds(Failed, *_stamp, st.sampled_from(FailureKind), _texts),
)


@settings(max_examples=200)
@given(st.lists(_entries))
def test_recording_gives_back_every_entry(entries: list[Entry]) -> None:
    assert list(decode_entries(map(encode_entry, entries))) == entries


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        "{}",
        '{"entry": "Unknown", "seq": 1, "at_ms": 0, "exchange": 1}',
        '{"entry": "ResponseEnded", "seq": true, "at_ms": 0, "exchange": 1}',
        '{"entry": "Failed", "seq": 1, "at_ms": 0, "exchange": 1, "kind": "odd", "message": ""}',
    ],
)
def test_line_that_is_no_entry_is_named(line: str) -> None:
    good = encode_entry(ResponseEnded(1, 0.0, 1))
    with pytest.raises(BadRecording) as caught:
        list(decode_entries([good, line]))
    assert caught.value.line == 2
