"""`a2a-inspect sessions`: what a command saved is listed, shown, named, exported, thrown away."""

import json
import os
import pty
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from inspector.cli import main
from inspector.core.saved.session_store import lock

if TYPE_CHECKING:
    from tests.inspector.conftest import RawServer

Capture = pytest.CaptureFixture[str]


def printed(capsys: Capture, *words: str, status: int = 0) -> str:
    """What `a2a-inspect WORDS` prints."""
    capsys.readouterr()
    assert main(words) == status
    return capsys.readouterr().out


def listed(capsys: Capture) -> list[dict[str, Any]]:
    lines = printed(capsys, "sessions", "list", "--json").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.req("SESS-1")
def test_command_saves_its_session(sessions: Path, bank: "RawServer", capsys: Capture) -> None:
    printed(capsys, "send", bank.url, "hello")
    printed(capsys, "send", bank.url, "again")
    newest, oldest = listed(capsys)
    assert oldest["first"] == "hello"
    assert newest["first"] == "again"
    assert newest["target"] == bank.url
    assert newest["states"] == ["completed"]
    assert newest["turns"] == 1
    assert Path(newest["path"]).parent == sessions
    lines = printed(capsys, "sessions", "list").splitlines()
    assert "hello  1 turn  ✓ completed" in lines[1]


@pytest.mark.req("SESS-1")
def test_oldest_session_makes_room_for_the_newest(
    sessions: Path, tmp_path: Path, bank: "RawServer", capsys: Capture
) -> None:
    settings = tmp_path / "config" / "a2a-inspect" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("sessions_mb = 1")
    printed(capsys, "send", bank.url, "one")
    [old] = listed(capsys)
    with Path(old["path"]).open("a") as file:
        file.write(" " * 1_200_000 + "\n")
    assert main(["send", bank.url, "two"]) == 0
    said = capsys.readouterr().err
    assert f"deleted 1 old session of 1.2 MB ({old['id']})" in said
    assert [one["first"] for one in listed(capsys)] == ["two"]


@pytest.mark.req("SESS-1")
def test_commands_in_one_context_are_one_session(
    sessions: Path, bank: "RawServer", capsys: Capture
) -> None:
    printed(capsys, "send", bank.url, "one")
    printed(capsys, "send", bank.url, "two", "--context", "c-1")
    printed(capsys, "send", bank.url, "three", "--context", "c-1")
    [session] = listed(capsys)
    described = json.loads(printed(capsys, "sessions", "show", session["id"], "--json"))
    assert [turn["text"] for turn in described["turns"]] == ["one", "two", "three"]
    assert [turn["said"] for turn in described["turns"]][:2] == [
        "You said one, as t-1.",
        "You said two, as t-2.",
    ]
    printed(capsys, "send", bank.url, "four", "--context", "c-2")
    printed(capsys, "send", bank.url, "five", "--context", "c-1", "--no-save")
    assert len(listed(capsys)) == 2


@pytest.mark.req("SESS-1")
def test_session_that_is_open_elsewhere_is_not_continued(
    sessions: Path, bank: "RawServer", capsys: Capture
) -> None:
    printed(capsys, "send", bank.url, "one")
    (path,) = sessions.iterdir()
    with path.open("rb") as file:
        assert lock(file.fileno())
        printed(capsys, "send", bank.url, "two", "--context", "c-1")
    assert [one["first"] for one in listed(capsys)] == ["two", "one"]


@pytest.mark.req("SESS-1")
def test_session_need_not_be_saved(sessions: Path, bank: "RawServer", capsys: Capture) -> None:
    printed(capsys, "send", bank.url, "hello", "--no-save")
    assert not sessions.exists()
    assert listed(capsys) == []
    assert main(["sessions", "list"]) == 0
    assert "no session is saved" in capsys.readouterr().err


@pytest.mark.req("SESS-1")
def test_card_and_failed_connection_leave_no_session(
    sessions: Path, bank: "RawServer", capsys: Capture
) -> None:
    printed(capsys, "card", bank.url)
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        unreachable = f"http://127.0.0.1:{holder.getsockname()[1]}"
        printed(capsys, "card", unreachable, status=3)
        printed(capsys, "send", unreachable, "hello", status=3)
    assert listed(capsys) == []
    printed(capsys, "send", bank.url, "hello")
    [session] = listed(capsys)
    shown = printed(capsys, "sessions", "export", session["id"], "--format", "curl")
    assert "agent-card.json" in shown


@pytest.mark.req("SESS-1")
def test_session_is_shown(sessions: Path, bank: "RawServer", capsys: Capture) -> None:
    printed(capsys, "send", bank.url, "hello", "--slot", "vip=true")
    shown = printed(capsys, "sessions", "show", "last")
    assert " you\n  hello\n  vip=true  as metadata\n" in shown
    assert "✓ completed\n  You said hello, as t-1.\n" in shown
    described = json.loads(printed(capsys, "sessions", "show", "last", "--json"))
    assert described["damage"] == ""
    (turn,) = described["turns"]
    assert (turn["text"], turn["said"]) == ("hello", "You said hello, as t-1.")
    assert (turn["contextId"], turn["taskId"], turn["state"]) == ("c-1", "t-1", "completed")


@pytest.mark.req("SESS-1")
def test_session_is_found_by_name_id_and_file(
    sessions: Path, bank: "RawServer", capsys: Capture
) -> None:
    printed(capsys, "send", bank.url, "hello")
    printed(capsys, "send", bank.url, "other")
    _, session = listed(capsys)
    named = printed(capsys, "sessions", "name", session["id"][:6], "the refund bug", "--json")
    assert json.loads(named)["name"] == "the refund bug"
    for word in ("the refund bug", session["id"], session["path"]):
        assert "hello" in printed(capsys, "sessions", "show", word)
    assert "the refund bug  hello" in printed(capsys, "sessions", "list")
    printed(capsys, "sessions", "name", "the refund bug", "")
    assert listed(capsys)[1]["name"] == ""


def test_word_that_means_no_session_or_several_is_told(
    sessions: Path, bank: "RawServer", capsys: Capture
) -> None:
    for name in ("one", "two"):
        printed(capsys, "send", bank.url, name)
        printed(capsys, "sessions", "name", "last", "the same")
    for word, told in (
        ("none", "no session is named 'none'"),
        ("the same", "any of 2 sessions"),
        ("n" * 300, "no session is named"),
        (f"{'n' * 300}.jsonl", "no such file"),
    ):
        assert main(["sessions", "show", word]) == 2
        assert told in capsys.readouterr().err
    assert main(["sessions", "name", "last", "last"]) == 2
    assert "cannot be a session's name" in capsys.readouterr().err


@pytest.mark.req("WIRE-3")
@pytest.mark.parametrize(
    ("form", "begins"),
    [
        ("har", '{"log":{"version":"1.2"'),
        ("jsonl", '{"session": 1, "id": "'),
        ("md", "# Session "),
        ("curl", "#!/bin/sh\n\n# 1  GET\ncurl -sS -X GET "),
        ("httpx", "import sys\n\nimport httpx\n"),
    ],
)
def test_session_is_exported(
    form: str, begins: str, sessions: Path, bank: "RawServer", capsys: Capture
) -> None:
    printed(capsys, "send", bank.url, "hello")
    command = [sys.executable, "-m", "inspector", "sessions", "export", "last", "--format", form]
    run = subprocess.run(command, capture_output=True, check=True, timeout=60)
    assert run.stdout.decode().startswith(begins)
    assert b"hello" in run.stdout
    written = sessions.parent / "exported"
    said = printed(capsys, *command[3:], "--output", str(written), "--json")
    assert written.read_bytes() == run.stdout
    assert json.loads(said) == {"path": str(written), "size_bytes": len(run.stdout)}


def test_export_to_nowhere_is_told(sessions: Path, bank: "RawServer", capsys: Capture) -> None:
    printed(capsys, "send", bank.url, "hello")
    assert main(["sessions", "export", "last", "--output", str(sessions)]) == 2
    assert "Is a directory" in capsys.readouterr().err


@pytest.mark.req("SESS-1")
def test_sessions_are_compared_without_ids_and_times(
    sessions: Path, bank: "RawServer", capsys: Capture
) -> None:
    for text in ("hello", "hello", "other"):
        printed(capsys, "send", bank.url, text)
    other, second, first = (one["id"] for one in listed(capsys))
    same = json.loads(printed(capsys, "sessions", "compare", first, second, "--json"))
    assert same["same"]
    different = json.loads(printed(capsys, "sessions", "compare", first, other, "--json", status=1))
    assert [one["what"] for one in different["turns"][0]["changes"]] == ["said", "text"]
    told = printed(capsys, "sessions", "compare", first, other, status=1)
    assert "~ hello: completed" in told
    assert "    said: hello → other" in told


@pytest.mark.req("SESS-1")
def test_sessions_are_deleted_and_pruned(
    sessions: Path, bank: "RawServer", capsys: Capture
) -> None:
    for text in ("one", "two", "three", "four"):
        printed(capsys, "send", bank.url, text)
    four, three, two, one = (session["id"] for session in listed(capsys))
    printed(capsys, "sessions", "name", one, "keep me")
    assert printed(capsys, "sessions", "delete", three) == f"deleted {three}\n"
    pruned = json.loads(printed(capsys, "sessions", "prune", "--keep", "1", "--yes", "--json"))
    assert pruned == {"deleted": [two]}
    assert [session["id"] for session in listed(capsys)] == [four, one]
    assert printed(capsys, "sessions", "prune", "--older-than", "1") == ""
    printed(capsys, "sessions", "prune", "--older-than", "0", "--named-too", "--yes")
    assert listed(capsys) == []
    assert main(["sessions", "prune"]) == 2


def answered(answer: str, *words: str) -> tuple[str, str]:
    """What `a2a-inspect WORDS` prints, and asks at a terminal where `answer` is typed."""
    ours, theirs = pty.openpty()
    os.write(ours, f"{answer}\n".encode())
    run = subprocess.run(
        [sys.executable, "-m", "inspector", *words],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=True,
        timeout=60,
    )
    os.close(theirs)
    asked = os.read(ours, 65536).decode()
    os.close(ours)
    return run.stdout.decode(), asked


@pytest.mark.req("SESS-1")
def test_prune_asks(sessions: Path, bank: "RawServer", capsys: Capture) -> None:
    for text in ("one", "two"):
        printed(capsys, "send", bank.url, text)
    two, one = (session["id"] for session in listed(capsys))
    assert main(["sessions", "prune", "--keep", "1"]) == 2
    told = capsys.readouterr().err
    assert "1 session would be deleted" in told
    assert "--yes deletes without asking" in told
    deleted, asked = answered("", "sessions", "prune", "--keep", "1")
    assert "Delete 1 session? [y/N]" in asked
    assert one in asked
    assert two not in asked
    assert (deleted, len(listed(capsys))) == ("", 2)
    deleted, _ = answered("y", "sessions", "prune", "--keep", "1")
    assert deleted == f"deleted {one}\n"
    assert [session["id"] for session in listed(capsys)] == [two]


def test_file_that_is_no_session_does_not_hide_the_others(
    sessions: Path, bank: "RawServer", capsys: Capture
) -> None:
    printed(capsys, "send", bank.url, "hello")
    (sessions / "20260101T000000000Z-broken.jsonl").write_text("?\n")
    assert main(["sessions", "list", "--json"]) == 0
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 1
    assert "broken.jsonl:1: this is not a saved session" in captured.err


@pytest.mark.req("SESS-1")
def test_torn_session_is_shown_and_told(sessions: Path, bank: "RawServer", capsys: Capture) -> None:
    printed(capsys, "send", bank.url, "hello")
    (path,) = sessions.iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:-10])
    assert main(["sessions", "show", "last"]) == 0
    captured = capsys.readouterr()
    assert "You said hello" in captured.out
    assert "bytes are torn; the rest is shown" in captured.err


@pytest.mark.parametrize("days", ["-1", "nan", "inf", "1e300"])
def test_prune_refuses_days_that_are_none(days: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "prune", "--older-than", days]) == 2
    assert f"expected 0 to 36500 days; found {days!r}" in capsys.readouterr().err


@pytest.mark.req("SESS-1", "CONN-5")
@pytest.mark.parametrize("time", ["1e999", "1e300", "-1e300", "NaN"])
def test_time_that_no_clock_shows_makes_its_line_unreadable(
    sessions: Path, bank: "RawServer", capsys: Capture, time: str
) -> None:
    printed(capsys, "send", bank.url, "hi")
    [path] = sessions.glob("*.jsonl")
    content = re.sub(r'"at_ms": [^,]+', f'"at_ms": {time}', path.read_text())
    path.write_text(content)
    for words in (["list"], ["show", "last"], ["export", "last", "--format", "har"]):
        assert main(["sessions", *words]) == 0
        assert "Traceback" not in capsys.readouterr().err
