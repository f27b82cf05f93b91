"""The folder of sessions: bounded, and nothing that is in use is thrown away."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from inspector.core.saved.recording import read_session
from inspector.core.saved.session_store import (
    Recording,
    delete_session,
    find_session,
    id_of,
    is_open,
    name_session,
    prune,
    read_name,
    session_paths,
)
from inspector.errors import UsageError

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
        ("", "named by ''"),
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
