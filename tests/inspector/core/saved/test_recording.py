"""A recording gives back the log that it was made of."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from record_session import decode_entries

from inspector.core.entries import (
    Channel,
    Entry,
    Failed,
    FrameReceived,
    Log,
    Purpose,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.core.saved.recording import (
    LONGEST_MS,
    BadRecording,
    cut_off,
    encode_entry,
    read_header,
    read_session,
)
from inspector.core.saved.session_store import session_paths
from inspector.errors import UsageError
from inspector.net.events import FailureKind

if TYPE_CHECKING:
    from tests.inspector.core.conftest import Begin


_times = st.floats(0, LONGEST_MS)
_stamp = (st.integers(1), _times, st.integers(1))
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
        st.none() | _times,
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
        '{"entry": "ResponseEnded", "seq": 1, "at_ms": 1e999, "exchange": 1}',
        '{"entry": "ResponseEnded", "seq": 1, "at_ms": -1e300, "exchange": 1}',
        '{"entry": "ResponseEnded", "seq": 1, "at_ms": NaN, "exchange": 1}',
        pytest.param(
            f'{{"entry": "ResponseEnded", "seq": 1, "at_ms": 1{"0" * 400}, "exchange": 1}}',
            id="a number of 400 digits",
        ),
        '{"entry": "Failed", "seq": 1, "at_ms": 0, "exchange": 1, "kind": "odd", "message": ""}',
    ],
)
@pytest.mark.req("SESS-1")
def test_line_that_is_no_entry_is_named(line: str) -> None:
    good = encode_entry(ResponseEnded(1, 0.0, 1))
    with pytest.raises(BadRecording) as caught:
        list(decode_entries([good, line]))
    assert caught.value.line == 2


Exchange: TypeAlias = Callable[..., None]


@pytest.fixture
def path(begin: "Begin", exchange: Exchange, tmp_path: Path) -> Path:
    async def run() -> None:
        recording = begin()
        exchange(recording.log, 1)
        exchange(recording.log, 2)
        recording.close()

    asyncio.run(run())
    return session_paths(tmp_path / "sessions")[0]


@pytest.mark.req("SESS-1")
def test_file_gives_back_header_and_entries(path: Path) -> None:
    saved = read_session(path)
    assert saved.header.id == "7f3a1c09"
    assert saved.header.target == "http://agent.test"
    assert saved.header.started.isoformat(timespec="milliseconds").startswith("2026-11-20T")
    assert saved.header == read_header(path)
    assert [entry.seq for entry in saved.entries] == [1, 2, 3, 4, 5, 6]
    assert saved.damage == ""


@pytest.mark.req("SESS-1")
def test_any_torn_end_loses_no_whole_line(path: Path) -> None:
    content = path.read_bytes()
    whole = read_session(path).entries

    @settings(max_examples=60)
    @given(st.integers(content.index(b"\n") + 1, len(content)))
    def holds(length: int) -> None:
        path.write_bytes(content[:length])
        saved = read_session(path)
        lines = content[:length].count(b"\n") - 1
        assert saved.entries == whole[:lines]
        assert bool(saved.torn_bytes) == bool(saved.damage) == (content[length - 1] != 10)

    holds()


def test_unreadable_line_is_told_and_the_rest_read(path: Path) -> None:
    lines = path.read_bytes().split(b"\n")
    lines[2] = b'{"entry": "FrameRec\x00'
    path.write_bytes(b"\n".join(lines))
    saved = read_session(path)
    assert saved.unreadable == (3,)
    assert [entry.seq for entry in saved.entries] == [1, 3, 4, 5, 6]
    assert saved.damage == f"{path.name}: line 3 is unreadable; the rest is shown"


@pytest.mark.parametrize(
    ("first_line", "told"),
    [
        (b"", "log.jsonl:1: this is not a saved session: expected .*, found nothing"),
        (b'{"session": 1}', "this is not a saved session"),
        (
            b'{"session": 1, "id": "1", "target": "t", "started": "soon", "product": ""}',
            "this is not a saved session",
        ),
        (b'{"session": 2}', "format 2 is newer than this a2a-inspect, which reads 1"),
    ],
)
def test_file_that_is_no_session_is_refused(tmp_path: Path, first_line: bytes, told: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(first_line + b"\n")
    with pytest.raises(UsageError, match=told):
        read_session(path)


def test_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for read in (read_session, read_header):
        with pytest.raises(UsageError, match="No such file"):
            read(tmp_path / "none.jsonl")


def test_each_exchange_without_an_end_gets_one(exchange: Exchange) -> None:
    log = Log(lambda: 0.0)
    exchange(log, 1, ends=False)
    exchange(log, 2)
    exchange(log, 3, ends=False)
    endings = list(cut_off(log.entries))
    assert [(one.seq, one.exchange, one.kind) for one in endings] == [
        (8, 1, FailureKind.STOPPED),
        (9, 3, FailureKind.STOPPED),
    ]
    assert all(isinstance(one, Failed) for one in endings)
    assert list(cut_off([])) == []
