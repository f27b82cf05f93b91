"""What the composer can do, done by flags: raw bodies, twins, snippets and slot sets."""

import asyncio
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from inspector.cli import main
from inspector.core.commands import FollowMode, SlotShape, Turn
from inspector.core.saved.targets import Targets, encode_turn, targets_file, write_targets

if TYPE_CHECKING:
    from tests.inspector.conftest import Http, RawServer, StartAgent


TASK: dict[str, Any] = {
    "kind": "task",
    "id": "t",
    "contextId": "c",
    "status": {"state": "completed", "timestamp": "2026-11-20T10:00:00Z"},
}


REPLY = {"jsonrpc": "2.0", "id": None, "result": TASK}
BUSY = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "busy"}}


@pytest.fixture
def one_after_another(http: "Http") -> Callable[..., Any]:
    """Makes a handler that answers each request with the next status."""

    def answering(*statuses: str) -> Callable[..., Any]:
        left = list(statuses)

        async def handle(_head: str, _body: bytes, writer: asyncio.StreamWriter) -> None:
            status = left.pop(0)
            writer.write(http(REPLY if status == "200 OK" else BUSY, status))

        return handle

    return answering


def posted(server: "RawServer") -> list[bytes]:
    return [body for head, body in server.requests if head.startswith("POST")]


@pytest.mark.req("COMP-1")
@pytest.mark.parametrize("body", [b'{"broken', b"\xff\xfe\r\n", b'{"method": "message/send"}'])
def test_raw_file_goes_out_byte_for_byte(
    body: bytes, start_agent: "StartAgent", tmp_path: Path
) -> None:
    server = start_agent((REPLY,))
    file = tmp_path / "body"
    file.write_bytes(body)
    main(["send", server.url, "--raw", str(file)])
    assert posted(server) == [body]


@pytest.mark.req("COMP-1")
def test_raw_body_comes_from_stdin(
    start_agent: "StartAgent", monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start_agent((REPLY,))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[1]\n\n")))
    main(["send", server.url, "--raw", "-"])
    assert posted(server) == [b"[1]\n\n"]


@pytest.mark.req("COMP-1", "CLI-5")
def test_answer_to_a_raw_request_of_another_version_is_printed(
    start_agent: "StartAgent", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = {"tasks": [{"id": "t", "status": {"state": "TASK_STATE_COMPLETED"}}]}
    server = start_agent(result=result)
    file = tmp_path / "body"
    file.write_text('{"jsonrpc": "2.0", "id": "1", "method": "ListTasks", "params": {}}')
    assert main(["send", server.url, "--raw", str(file)]) == 0
    assert json.loads(capsys.readouterr().out) == result


NEWER_STATUS: dict[str, Any] = {
    "state": "TASK_STATE_INPUT_REQUIRED",
    "timestamp": "2026-11-20T10:00:00Z",
    "message": {"role": "ROLE_AGENT", "messageId": "m", "parts": [{"text": "Which account?"}]},
}
NEWER_TASK: dict[str, Any] = {"id": "t", "contextId": "c"}
WORKING: dict[str, Any] = {"state": "TASK_STATE_WORKING"}


def newer_reply(result: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}).encode()


def send_newer(url: str, method: str, folder: Path, *flags: str) -> int:
    """Send a raw request of A2A 1.0 and return the exit status."""
    file = folder / "body"
    file.write_text(json.dumps({"jsonrpc": "2.0", "id": "1", "method": method, "params": {}}))
    return main(["send", url, "--raw", str(file), "--no-save", *flags])


@pytest.mark.req("COMP-1", "CLI-4")
def test_raw_request_of_a2a_1_0_is_answered_with_its_task(
    start_agent: "StartAgent", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start_agent((newer_reply({"task": {**NEWER_TASK, "status": NEWER_STATUS}}),))
    expecting = ("--expect-state", "input-required")
    assert send_newer(server.url, "SendMessage", tmp_path, *expecting) == 0
    out, err = capsys.readouterr()
    assert "input-required" in out
    assert "Which account?" in out
    assert err == ""
    assert send_newer(server.url, "SendMessage", tmp_path, "--expect-state", "failed") == 1
    assert "found TASK_STATE_INPUT_REQUIRED" in capsys.readouterr().err


@pytest.mark.parametrize("flags", [[], ["--stream"], ["--stream", "--json"]])
@pytest.mark.req("COMP-1", "CLI-4")
def test_raw_stream_of_a2a_1_0_ends_where_its_task_rests(
    flags: list[str],
    start_agent: "StartAgent",
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    update = {"taskId": "t", "contextId": "c"}
    results = (
        {"task": {**NEWER_TASK, "status": {"state": "TASK_STATE_SUBMITTED"}}},
        {"statusUpdate": {**update, "status": WORKING}},
        {"statusUpdate": {**update, "status": NEWER_STATUS}},
    )
    stream = b"".join(b"data: " + newer_reply(one) + b"\n\n" for one in results)
    server = start_agent((stream, "200 OK", "text/event-stream"))
    expecting = ("--expect-state", "input-required")
    assert send_newer(server.url, "SendStreamingMessage", tmp_path, *flags, *expecting) == 0
    out, err = capsys.readouterr()
    assert "Which account?" in out
    assert err == ""


@pytest.mark.req("COMP-1", "CLI-5")
def test_raw_stream_of_a2a_1_0_that_is_cut_is_told(
    start_agent: "StartAgent", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = newer_reply({"statusUpdate": {"taskId": "t", "contextId": "c", "status": WORKING}})
    server = start_agent((b"data: " + stream + b"\n\n", "200 OK", "text/event-stream"))
    assert send_newer(server.url, "SendStreamingMessage", tmp_path, "--stream") == 4
    assert "the stream ended without a final update" in capsys.readouterr().err


@pytest.mark.req("CONN-5")
def test_number_beyond_every_float_goes_out_as_it_is_or_not_at_all(
    start_agent: "StartAgent", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start_agent((REPLY,))
    part = '{"kind": "data", "data": {"n": 1e999, "m": [1, "1e999"]}}'
    assert main(["send", server.url, "hi", "--part", part]) == 0
    assert b'{"n":1e999,"m":[1,"1e999"]}' in posted(server)[0]
    file = tmp_path / "slots.json"
    file.write_text('{"n": 1e999}')
    assert main(["send", server.url, "hi", "--slots", str(file)]) == 2
    assert "1e999 is larger than any number that can be read" in capsys.readouterr().err
    assert len(posted(server)) == 1


@pytest.mark.req("CONN-5")
def test_number_beyond_every_float_is_a_finding_and_json_stays_json(
    start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    answered = json.dumps({**REPLY, "result": {**TASK, "metadata": {"n": 0}}})
    body = answered.replace('"n": 0', '"n": 1e999').encode()
    server = start_agent((body,))
    assert main(["send", server.url, "hi", "--json"]) == 0
    printed = capsys.readouterr().out
    assert "Infinity" not in printed
    outcome = json.loads(printed)
    assert outcome["task"]["metadata"] == {"n": "1e999"}
    messages = [finding["message"] for finding in outcome["findings"]]
    assert "1e999 is larger than any number that can be read" in messages


@pytest.mark.req("COMP-1", "CLI-5")
def test_part_in_the_home_of_nobody_is_a_missing_file(
    start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    server = start_agent((REPLY,))
    assert main(["send", server.url, "hi", "--part", "~no-such-user/file"]) == 2
    assert "~no-such-user/file: No such file" in capsys.readouterr().err
    assert posted(server) == []


@pytest.mark.req("COMP-2")
@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        (("200 OK", "409 Conflict"), 0),
        (("409 Conflict", "200 OK"), 0),
        (("200 OK", "200 OK"), 1),
        (("409 Conflict", "409 Conflict"), 1),
        (("500 Oops", "409 Conflict"), 1),
    ],
)
def test_twice_succeeds_where_one_of_two_is_refused(
    statuses: tuple[str, str],
    status: int,
    start_agent: "StartAgent",
    one_after_another: Callable[..., Any],
) -> None:
    server = start_agent(one_after_another(*statuses))
    assert main(["send", server.url, "hi", "--twice"]) == status
    first, second = (json.loads(body)["params"]["message"] for body in posted(server))
    assert first == second
    assert first["contextId"]


def test_twice_prints_both_as_json(
    start_agent: "StartAgent",
    one_after_another: Callable[..., Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = start_agent(one_after_another("200 OK", "409 Conflict"))
    assert main(["send", server.url, "hi", "--twice", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line.get("state") for line in lines} >= {"completed"}
    assert [line["status"] for line in lines if "status" in line] == [409]


@pytest.mark.parametrize("words", [["--poll"], ["--expect-state", "completed"]])
def test_twice_takes_no_other_way(
    words: list[str], start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    server = start_agent((REPLY,))
    assert main(["send", server.url, "hi", "--twice", *words]) == 2
    assert "--twice compares two replies" in capsys.readouterr().err


@pytest.fixture
def kept(start_agent: "StartAgent") -> "RawServer":
    """An agent for which a turn and a slot set are kept."""
    server = start_agent((REPLY,))
    turn = Turn(
        "pay",
        {"amount": 50, "to": "Joe"},
        (SlotShape.DATA,),
        metadata={"user": "u"},
        headers=(("X-Key", "${TURN_KEY}"),),
        follow=FollowMode.NO_BLOCKING,
    )
    targets = Targets().with_snippet(server.url, "fifty", encode_turn(turn))
    write_targets(targets_file(), targets.with_slot_set(server.url, "ann", {"to": "Ann"}))
    return server


@pytest.mark.req("COMP-4")
def test_snippet_is_sent_with_what_flags_add(
    kept: "RawServer", monkeypatch: pytest.MonkeyPatch, secret: Callable[[str], str]
) -> None:
    monkeypatch.setenv("TURN_KEY", secret("turn-key-4711"))
    assert main(["send", kept.url, "--snippet", "fifty", "--slot", "amount=60"]) == 0
    params = json.loads(posted(kept)[0])["params"]
    assert params["configuration"] == {"blocking": False}
    assert params["message"]["metadata"] == {"user": "u"}
    assert params["message"]["parts"] == [
        {"kind": "text", "text": "pay"},
        {"kind": "data", "data": {"slots": {"amount": 60, "to": "Joe"}}},
    ]
    assert "turn-key-4711" in next(head for head, _ in kept.requests if head.startswith("POST"))


@pytest.mark.req("COMP-4")
def test_slot_set_yields_to_a_file_and_a_flag(kept: "RawServer", tmp_path: Path) -> None:
    file = tmp_path / "slots.json"
    file.write_text('{"amount": 1}')
    words = ["--slot-set", "ann", "--slots", str(file), "--slot", "vip=true"]
    assert main(["send", kept.url, "hi", *words]) == 0
    metadata = json.loads(posted(kept)[0])["params"]["message"]["metadata"]
    assert metadata == {"slots": {"to": "Ann", "amount": 1, "vip": True}}


def test_unset_variable_of_a_snippet_is_told(
    kept: "RawServer", capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["send", kept.url, "--snippet", "fifty"]) == 2
    assert "TURN_KEY is not set" in capsys.readouterr().err
