"""Skimming a session gives what each turn came to, as reading all of it does."""

from pathlib import Path

import pytest

from inspector.core.saved.recording import SessionHeader, encode_header, read_session
from inspector.core.saved.session_store import skim
from inspector.views.outcomes import compare_sessions, turns_of

LOG = Path(__file__).parents[2] / "tui" / "logs" / "transfer.jsonl"


@pytest.fixture
def saved(tmp_path: Path, header: SessionHeader) -> Path:
    path = tmp_path / "20261120T090210250Z-7f3a1c09.jsonl"
    path.write_text(f"{encode_header(header)}\n{LOG.read_text()}")
    return path


@pytest.mark.req("SESS-1")
def test_skimmed_turns_end_as_the_whole_log_tells(saved: Path) -> None:
    skimmed = skim(saved)
    whole = read_session(saved)
    assert len(skimmed.entries) < len(whole.entries)
    assert skimmed.size_bytes == saved.stat().st_size
    short, long = turns_of(skimmed.entries), turns_of(whole.entries)
    assert [(one.title, one.state, one.said, one.is_over) for one in short] == [
        (one.title, one.state, one.said, one.is_over) for one in long
    ]
    assert len(short) > 1


def test_lines_that_are_damaged_are_left_out(saved: Path) -> None:
    whole = skim(saved).entries
    with saved.open("a") as file:
        file.write('{"entry": "RequestSent", "seq": 90, "at_ms": 1, "exchange": 9}\n')
        file.write("garbage\n")
    assert skim(saved).entries == whole


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
