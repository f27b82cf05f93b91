"""The folder of sessions: bounded, and nothing that is in use is thrown away."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from inspector.core.bodies import Body, BodyMemory
from inspector.core.entries import Channel, Entry, FrameReceived, Log, WithBody
from inspector.core.saved.quota import DEFAULT_MB, MEGABYTE, NOT_A_SIZE, read_quota
from inspector.core.saved.recording import SessionHeader, encode_header, read_session
from inspector.core.saved.session_store import (
    Recording,
    SessionWriter,
    append_writer,
    delete_session,
    find_session,
    id_of,
    is_open,
    make_room,
    name_session,
    prune,
    read_name,
    record,
    record_again,
    session_paths,
    summarize,
)
from inspector.errors import UsageError
from inspector.views.outcomes import compare_sessions, turns_of

if TYPE_CHECKING:
    from tests.inspector.core.conftest import Begin


Exchange: TypeAlias = Callable[..., None]


@pytest.fixture
async def five(begin: "Begin", exchange: Exchange, tmp_path: Path, started: datetime) -> Path:
    """A folder with five sessions begun an hour apart, id0 the oldest."""
    for number in range(5):
        recording = begin(f"id{number}", started + timedelta(hours=number))
        exchange(recording.log)
        recording.close()
    return tmp_path / "sessions"


def ids(folder: Path) -> list[str]:
    return [id_of(path) for path in session_paths(folder)]


@pytest.mark.anyio
async def test_newest_come_first(five: Path) -> None:
    assert ids(five) == ["id4", "id3", "id2", "id1", "id0"]


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no FIFOs in folders")
@pytest.mark.req("SESS-1")
async def test_fifo_among_the_sessions_is_not_one(five: Path) -> None:
    fifo = five / "20991231T000000000Z-f1f0.jsonl"
    os.mkfifo(fifo)
    assert ids(five) == ["id4", "id3", "id2", "id1", "id0"]
    prune(five, keep=5)
    assert find_session(five, "last").stem.endswith("id4")
    with pytest.raises(UsageError, match="it is not a file"):
        find_session(five, str(fifo))


@pytest.mark.anyio
@pytest.mark.req("SESS-1")
async def test_oldest_go_beyond_a_number_an_age_or_a_size(five: Path, started: datetime) -> None:
    assert [id_of(path) for path in prune(five, keep=4)] == ["id0"]
    assert [id_of(path) for path in prune(five, before=started + timedelta(hours=2))] == ["id1"]
    size = session_paths(five)[0].stat().st_size
    assert [id_of(path) for path in prune(five, most_bytes=2 * size)] == ["id2"]
    assert prune(five, keep=2) == []
    assert ids(five) == ["id4", "id3"]


@pytest.mark.anyio
@pytest.mark.req("SESS-1")
async def test_named_session_stays(five: Path) -> None:
    for path in session_paths(five):
        name_session(path, "kept" if id_of(path) == "id1" else "")
    prune(five, keep=0)
    assert ids(five) == ["id1"]
    prune(five, keep=0, named_too=True)
    assert ids(five) == []


@pytest.mark.anyio
@pytest.mark.req("SESS-1")
async def test_session_that_is_recorded_stays(
    recording: Recording, only_path: Callable[[], Path]
) -> None:
    path = only_path()
    assert is_open(path)
    assert prune(path.parent, keep=0) == []
    with pytest.raises(UsageError, match="is open in an a2a-inspect"):
        delete_session(path)
    recording.close()
    assert not is_open(path)
    delete_session(path)
    with pytest.raises(UsageError, match="No such file"):
        delete_session(path)


@pytest.mark.anyio
async def test_word_finds_a_session_by_name_before_id(five: Path) -> None:
    paths = session_paths(five)
    name_session(paths[0], "id1")
    assert find_session(five, "id1") == paths[0]
    assert find_session(five, "id2") == paths[2]
    assert find_session(five, "last") == paths[0]
    assert find_session(five, str(paths[3])) == paths[3]
    with pytest.raises(UsageError, match="any of 5 sessions"):
        find_session(five, "id")
    for word, told in (
        ("", "name is empty"),
        ("none", "no session is named"),
        ("none.jsonl", "no such file"),
        (f"{five}/", "it is a folder"),
    ):
        with pytest.raises(UsageError, match=told):
            find_session(five, word)


@pytest.mark.anyio
async def test_what_cannot_be_read_hides_no_session(five: Path) -> None:
    (five / "20990101T000000000Z-gone.jsonl").symlink_to(five / "nowhere")
    (five / "20990102T000000000Z-folder.jsonl").mkdir()
    assert find_session(five, "id3").name.endswith("id3.jsonl")


def test_no_session_is_the_last_of_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no session is saved"):
        find_session(tmp_path / "none", "last")


@pytest.mark.anyio
async def test_name_survives_a_torn_end(five: Path) -> None:
    path = session_paths(five)[0]
    with path.open("ab") as file:
        file.write(b'{"entry": "Re')
    whole = read_session(path).entries
    name_session(path, "the bug")
    assert read_name(path) == read_session(path).name == "the bug"
    assert read_session(path).entries == whole


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["last", "a\nb", "\x1b[31m", "x" * 81])
async def test_name_that_could_be_something_else_is_refused(five: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be a session's name"):
        name_session(session_paths(five)[0], name)


STARTED = datetime.fromisoformat("2026-11-20T10:02:10.250+01:00")
OnlyPath: TypeAlias = Callable[[], Path]


@pytest.mark.anyio
@pytest.mark.req("SESS-1")
async def test_what_is_over_is_in_the_file_at_once(
    recording: Recording, only_path: OnlyPath
) -> None:
    assert read_session(only_path()).entries == tuple(recording.log.entries)
    recording.close()


@pytest.mark.anyio
async def test_what_still_runs_is_in_the_file_soon(exchange: Exchange) -> None:
    reading, writing = os.pipe()
    came = asyncio.Event()
    asyncio.get_running_loop().add_reader(reading, came.set)
    writer = SessionWriter(lambda: writing, ("header",), pytest.fail)
    log = Log(lambda: 0.0)
    log.subscribe(writer.take)
    exchange(log, 1, ends=False)
    assert not came.is_set()
    async with asyncio.timeout(60):
        await came.wait()
    assert os.read(reading, 10_000).count(b"\n") == 3
    asyncio.get_running_loop().remove_reader(reading)
    os.close(reading)
    writer.close()


@pytest.mark.anyio
async def test_closing_writes_the_rest(
    begin: "Begin", exchange: Exchange, only_path: OnlyPath
) -> None:
    recording = begin()
    exchange(recording.log, 1, ends=False)
    recording.close()
    assert len(read_session(only_path()).entries) == 2


@pytest.mark.anyio
async def test_session_without_an_entry_leaves_no_file(begin: "Begin", tmp_path: Path) -> None:
    begin().close()
    assert not session_paths(tmp_path / "sessions")


@pytest.mark.anyio
@pytest.mark.req("SESS-1")
async def test_only_its_owner_may_read_a_session(recording: Recording, only_path: OnlyPath) -> None:
    path = only_path()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    recording.close()


@pytest.mark.anyio
async def test_disk_that_refuses_is_told_once(exchange: Exchange, tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("no folder")
    told: list[str] = []
    folder = tmp_path / "sessions"
    begun = record(folder, "t", id="1", now=STARTED, clock=lambda: 0.0, warn=told.append)
    exchange(begun.log, 1)
    exchange(begun.log, 2)
    begun.close()
    assert len(told) == 1
    assert told[0].startswith("this session is not saved: ")
    assert begun.writer is not None
    assert begun.writer.problem == told[0]


@pytest.mark.anyio
async def test_full_disk_is_told_once(exchange: Exchange) -> None:
    told: list[str] = []
    writer = SessionWriter(lambda: os.open("/dev/full", os.O_WRONLY), (), told.append)
    log = Log(lambda: 0.0)
    log.subscribe(writer.take)
    exchange(log, 1)
    exchange(log, 2)
    writer.close()
    assert told == ["this session is not saved: No space left on device"]


@pytest.mark.anyio
@pytest.mark.req("SESS-1")
async def test_session_goes_on_where_it_was_cut_off(
    recording: Recording, exchange: Exchange, only_path: OnlyPath
) -> None:
    exchange(recording.log, 2, ends=False)
    recording.close()
    path = only_path()
    with path.open("ab") as file:
        file.write(b'{"entry": "Frame')
    saved = read_session(path)
    now = STARTED + timedelta(seconds=90)
    again = record_again(saved, now=now, clock=lambda: 0.0, warn=pytest.fail)
    exchange(again.log, again.log.last_exchange + 1)
    again.close()
    entries = read_session(path).entries
    assert read_session(path).damage == ""
    assert list(entries) == list(again.log.entries)
    assert [entry.seq for entry in entries] == list(range(1, 10))
    assert entries[-1].at_ms == 90_000


@pytest.mark.anyio
async def test_time_never_runs_backwards(recording: Recording, only_path: OnlyPath) -> None:
    recording.close()
    now = STARTED - timedelta(days=1)
    saved = read_session(only_path())
    again = record_again(saved, now=now, clock=lambda: 0.0, warn=pytest.fail)
    assert again.log.now_ms == saved.entries[-1].at_ms
    again.close()


@pytest.mark.anyio
@pytest.mark.req("SESS-1")
async def test_two_cannot_go_on_with_one_session(recording: Recording, only_path: OnlyPath) -> None:
    saved = read_session(only_path())
    with pytest.raises(UsageError, match="is open in another a2a-inspect"):
        append_writer(saved, pytest.fail)
    recording.close()
    append_writer(saved, pytest.fail).close()


@pytest.mark.anyio
async def test_exchange_that_ends_after_closing_is_left_out(
    recording: Recording, exchange: Exchange, only_path: OnlyPath
) -> None:
    recording.close()
    count = len(recording.log.entries)
    exchange(recording.log, 2)
    assert len(read_session(only_path()).entries) == count


LOG = Path(__file__).parents[2] / "tui" / "logs" / "transfer.jsonl"


@pytest.fixture
def saved(tmp_path: Path, header: SessionHeader) -> Path:
    path = tmp_path / "20261120T090210250Z-7f3a1c09.jsonl"
    path.write_text(f"{encode_header(header)}\n{LOG.read_text()}")
    return path


@pytest.mark.req("SESS-1")
def test_skimmed_turns_end_as_the_whole_log_tells(saved: Path) -> None:
    summary = summarize(saved)
    whole = read_session(saved)
    assert len(summary.entries) < len(whole.entries)
    assert summary.size_bytes == saved.stat().st_size
    short, long = turns_of(summary.entries), turns_of(whole.entries)
    assert [(one.title, one.state, one.said, one.is_over) for one in short] == [
        (one.title, one.state, one.said, one.is_over) for one in long
    ]
    assert len(short) > 1


def test_lines_that_are_damaged_are_left_out(saved: Path) -> None:
    whole = summarize(saved).entries
    with saved.open("a") as file:
        file.write('{"entry": "RequestSent", "seq": 90, "at_ms": 1, "exchange": 9}\n')
        file.write("garbage\n")
    assert summarize(saved).entries == whole


@pytest.mark.req("SESS-1")
def test_shorter_session_lacks_turns(saved: Path) -> None:
    turns = turns_of(read_session(saved).entries)
    assert not any(pair.changes for pair in compare_sessions(turns, turns))
    last = compare_sessions(turns, turns[:-1])[-1]
    assert last.new is None
    assert [(one.what, one.old, one.new) for one in last.changes] == [
        ("turn", turns[-1].title, "none")
    ]
    first = compare_sessions((), turns)[0]
    assert [(one.old, one.new) for one in first.changes] == [("none", turns[0].title)]


# Bodies beyond the memory


def big_frames(log: Log, count: int, size_bytes: int) -> list[FrameReceived]:
    """Frames of an exchange that goes on, each with a body of its own."""
    frames: list[FrameReceived] = []
    for number in range(count):
        body = log.memory.hold(f"{number:04}".encode() * (size_bytes // 4))
        frames.append(
            log.append(partial(FrameReceived, exchange=1, channel=Channel.SSE, content=body))
        )
    return frames


def held_bytes(entries: Iterable[Entry]) -> int:
    bodies = [one.content for one in entries if isinstance(one, WithBody)]
    return sum(one.held_bytes if isinstance(one, Body) else len(one) for one in bodies)


@pytest.mark.anyio
@pytest.mark.req("SESS-1")
async def test_long_stream_is_held_in_the_file(
    begin: "Begin", exchange: Exchange, only_path: OnlyPath
) -> None:
    recording = begin()
    assert recording.writer is not None
    recording.log.memory = BodyMemory(20_000, flush=recording.writer.flush, warn=pytest.fail)
    exchange(recording.log, 1, ends=False)
    frames = big_frames(recording.log, 20, 4000)
    # a name that is given meanwhile stands between the lines
    name_session(only_path(), "long")
    frames += big_frames(recording.log, 20, 4000)
    recording.writer.flush()
    assert held_bytes(recording.log.entries) <= 20_000 + 1000
    assert [one.raw[:4] for one in frames] == [f"{number:04}".encode() for number in range(20)] * 2
    assert {len(one.raw) for one in frames} == {4000}
    recording.close()
    assert [one.raw[:4] for one in frames] == [f"{number:04}".encode() for number in range(20)] * 2


@pytest.mark.anyio
@pytest.mark.req("SESS-1")
async def test_long_session_is_reopened_without_its_bodies(
    begin: "Begin", exchange: Exchange, only_path: OnlyPath
) -> None:
    recording = begin()
    exchange(recording.log, 1, ends=False)
    big_frames(recording.log, 40, 4000)
    recording.close()
    saved = read_session(only_path(), BodyMemory(20_000, warn=pytest.fail))
    assert held_bytes(saved.entries) <= 20_000
    assert saved.entries == tuple(recording.log.entries)
    again = record_again(saved, now=STARTED, clock=lambda: 0.0, warn=pytest.fail)
    big_frames(again.log, 40, 4000)
    again.close()
    assert held_bytes(again.log.entries) <= 20_000
    assert read_session(only_path()).whole == tuple(again.log.entries)


@pytest.mark.anyio
async def test_full_disk_leaves_no_empty_file(exchange: Exchange, tmp_path: Path) -> None:
    path, told = tmp_path / "x.jsonl", list[str]()

    def open_file() -> int:
        path.touch()
        return os.open("/dev/full", os.O_WRONLY)

    writer = SessionWriter(open_file, ("header",), told.append, remove=path.unlink)
    log = Log(lambda: 0.0)
    log.subscribe(writer.take)
    exchange(log, 1)
    exchange(log, 2)
    writer.close()
    assert told == ["this session is not saved: No space left on device"]
    assert not path.exists()


# The quota


@pytest.mark.anyio
@pytest.mark.req("SESS-1")
async def test_oldest_make_room_and_a_line_says_which(
    five: Path, begin: "Begin", exchange: Exchange, started: datetime
) -> None:
    said: list[str] = []
    name_session(five / session_paths(five)[3].name, "kept")
    size = session_paths(five)[0].stat().st_size
    open_one = begin("id9", started - timedelta(days=1))
    exchange(open_one.log)
    make_room(five, said.append, most_bytes=2 * size)
    assert ids(five) == ["id4", "id3", "id1", "id9"]
    [line] = said
    assert line.startswith("deleted 2 old sessions of 0.0 MB (id2, id0): ")
    make_room(five, said.append, most_bytes=2 * size)
    assert len(said) == 1
    open_one.close()


@pytest.mark.anyio
@pytest.mark.req("SESS-1")
async def test_newest_session_stays_whatever_its_size(five: Path) -> None:
    make_room(five, lambda _: None, most_bytes=1)
    assert ids(five) == ["id4"]


@pytest.mark.anyio
@pytest.mark.req("SESS-1")
async def test_session_that_begins_finds_room(five: Path, exchange: Exchange) -> None:
    said: list[str] = []
    record(five, "t", id="new", now=STARTED, clock=lambda: 0.0, warn=said.append, most_bytes=1)
    assert ids(five) == ["id4"]
    assert said[0].startswith("deleted 4 old sessions of 0.0 MB (id3, id2, id1, …): ")


@pytest.mark.parametrize(
    ("text", "expected", "problem"),
    [
        ("", DEFAULT_MB * MEGABYTE, ""),
        ("sessions_mb = 20", 20 * MEGABYTE, ""),
        ("sessions_mb = 0", None, ""),
        ("sessions_mb = -1", DEFAULT_MB * MEGABYTE, NOT_A_SIZE),
        ("sessions_mb = true", DEFAULT_MB * MEGABYTE, NOT_A_SIZE),
        ("sessions_mb = '1'", DEFAULT_MB * MEGABYTE, NOT_A_SIZE),
        ("sessions_mb =", DEFAULT_MB * MEGABYTE, "config.toml: "),
    ],
)
def test_quota_is_read_from_the_users_settings(
    tmp_path: Path, text: str, expected: int | None, problem: str
) -> None:
    said: list[str] = []
    assert read_quota(tmp_path, pytest.fail) == DEFAULT_MB * MEGABYTE
    (tmp_path / "config.toml").write_text(text)
    assert read_quota(tmp_path, said.append) == expected
    assert [problem in one for one in said] == ([True] if problem else [])
