"""What is over stands in the file at once, and a disk that refuses stops nothing else."""

import asyncio
import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from inspector.core.entries import Log
from inspector.core.saved.recording import SessionHeader, read_session
from inspector.core.saved.session_store import (
    Recording,
    SessionWriter,
    append_writer,
    new_writer,
    record_again,
    session_paths,
)
from inspector.errors import UsageError

if TYPE_CHECKING:
    from tests.inspector.core.conftest import Begin

STARTED = datetime.fromisoformat("2026-11-20T10:02:10.250+01:00")
Exchange: TypeAlias = Callable[..., None]
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
    header = SessionHeader("1", "t", STARTED, "1")
    writer = new_writer(tmp_path / "sessions" / "x.jsonl", header, told.append)
    log = Log(lambda: 0.0)
    log.subscribe(writer.take)
    exchange(log, 1)
    exchange(log, 2)
    writer.close()
    assert len(told) == 1
    assert told[0].startswith("this session is not saved: ")
    assert writer.problem == told[0]


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
    again = record_again(saved, now=now, clock=lambda: 0.0, tell=pytest.fail)
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
    again = record_again(saved, now=now, clock=lambda: 0.0, tell=pytest.fail)
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
