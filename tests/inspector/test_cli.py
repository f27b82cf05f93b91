"""The exit status and the words of each command, against agents that behave and that do not."""

import asyncio
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from inspector.cli import main
from inspector.headless.command_line import COMMANDS
from inspector.headless.options import AppOptions, read_options
from inspector.settings import DEFAULT_TIMEOUT_SECONDS

ROOT = Path(__file__).resolve().parents[2]

if TYPE_CHECKING:
    from conftest import Http, StartAgent, StartServer

TASK: dict[str, Any] = {
    "kind": "task",
    "id": "t",
    "contextId": "c",
    "status": {"state": "completed", "timestamp": "2026-11-20T10:00:00Z"},
}


def stream_of(*results: Any, end: bytes = b"") -> Callable[[str, bytes, asyncio.StreamWriter], Any]:
    """A handler that streams `results`, then the bytes `end`."""

    async def handle(_: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for result in results:
            envelope = {"jsonrpc": "2.0", "id": json.loads(body)["id"], "result": result}
            writer.write(f"data: {json.dumps(envelope)}\r\n\r\n".encode())
        writer.write(end)

    return handle


def update(state: str, *, final: bool = False) -> dict[str, Any]:
    return {
        "kind": "status-update",
        "taskId": "t",
        "contextId": "c",
        "final": final,
        "status": {"state": state},
    }


def run(*words: str, **more: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "inspector", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **more,
    )


# Help and start-up


@pytest.mark.parametrize("words", [("--help",), ("send", "--help"), ("--version",)])
@pytest.mark.req("CLI-3")
def test_help_imports_nothing_heavy(words: tuple[str, ...]) -> None:
    heavy = ("httpx", "pydantic", "textual", "a2a", "asyncio", "ruamel", "starlette")
    script = (
        "import sys\nfrom inspector.cli import main\n"
        f"try:\n    main({list(words)!r})\nexcept SystemExit:\n    pass\n"
        f"sys.exit(', '.join(name for name in {heavy!r} if name in sys.modules) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_of_the_help_are_accepted(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    examples = re.findall(r"^  a2a-inspect (.+)", capsys.readouterr().out, re.MULTILINE)
    assert examples
    for example in examples:
        module, _ = read_options(shlex.split(example))
        assert module in ("inspector.app", f"inspector.headless.{example.split()[0]}")


def printed_help(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    return capsys.readouterr().out


@pytest.mark.req("CLI-3")
def test_flags_of_the_app_are_in_help_and_reference(capsys: pytest.CaptureFixture[str]) -> None:
    own = {f"--{one.name.replace('_', '-')}" for one in fields(AppOptions)} - {
        "--target",
        "--connection",
    }
    assert own <= set(re.findall(r"--[a-z-]+", printed_help(capsys)))
    of_app = printed_help(capsys, "TARGET")
    reference = (ROOT / "docs/reference/a2a-inspect.md").read_text(encoding="utf-8")
    _, _, section = reference.partition("\n## a2a-inspect TARGET\n")
    shown = section.partition("\n## ")[0]
    assert own <= set(re.findall(r"--[a-z-]+", shown))
    assert set(re.findall(r"--[a-z-]+", of_app)) == set(re.findall(r"--[a-z-]+", shown))
    for example in re.findall(r"^  a2a-inspect (.+)", of_app, re.MULTILINE):
        assert read_options(shlex.split(example))[0] == "inspector.app"


def test_help_tells_the_default_timeout(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["send", "--help"])
    assert f"(default: {DEFAULT_TIMEOUT_SECONDS:g})" in " ".join(capsys.readouterr().out.split())


def test_the_app_needs_a_terminal() -> None:
    done = run(stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("send",), "required: TARGET"),
        (("send", "http://127.0.0.1:1"), "nothing to send"),
        (("send", "http://127.0.0.1:1", "hi", "--raw", "x.json"), "takes neither a TEXT"),
        (("send", "http://127.0.0.1:1", "--raw", "gone.json"), "--raw gone.json: No such file"),
        (
            ("send", "http://127.0.0.1:1", "--raw", "x.json", "--message-id", "m"),
            "--message-id would be ignored",
        ),
        (("send", "http://127.0.0.1:1", "hi", "--slots-as", "data"), "has no effect without slots"),
        (("send", "http://127.0.0.1:1", "hi", "--header", "Content-Length: 3"), "cannot be given"),
        (("tasks", "get", "http://127.0.0.1:1", "t", "--context", "a\nb"), "no header may hold"),
        (("card", "http://127.0.0.1:1", "--raw", "--json"), "not allowed with"),
        (("send", "http://127.0.0.1:1", "--snippet", "gone"), "nothing is kept"),
        (("send", "http://127.0.0.1:1", "hi", "--slot-set", "gone"), "nothing is kept"),
        (("send", "http://127.0.0.1:1", "hi", "--part", '{"a": 1}'), "without `kind`"),
        (("send", "http://127.0.0.1:1", "hi", "--part", "{"), "expected a part as JSON"),
        (("send", "nowhere", "hi"), "neither a URL nor a file"),
        (("send", "ftp://x", "hi"), "not a URL that can be reached"),
        (("send", "http://127.0.0.1:1", "hi", "--slot", "x"), "is not NAME=VALUE"),
        (
            ("send", "http://127.0.0.1:1", "hi", "--slots", "gone.json"),
            "--slots gone.json: No such file",
        ),
        (("send", "http://127.0.0.1:1", "hi", "--part", "gone.png"), "No such file"),
        (("send", "http://127.0.0.1:1", "hi", "--expect-state", "done"), "is not a state"),
        (("send", "http://127.0.0.1:1", "hi", "--header", "secret"), "6 characters that are not"),
        (("send", "http://127.0.0.1:1", "hi", "--header", "A: ${NOT_SET}"), "NOT_SET is not set"),
        (("send", "http://127.0.0.1:1", "hi", "--cacert", "gone.pem"), "no such file"),
        (
            ("send", "http://127.0.0.1:1", "hi", "--timeout", "0"),
            "expected a number of seconds above 0; found '0'",
        ),
        (("send", "http://127.0.0.1:1", "hi", "--stream", "--no-blocking"), "not allowed with"),
        (("send", "http://127.0.0.1:1", "hi", "--nonsense"), "unrecognized arguments: --nonsense"),
        (("send", "http://127.0.0.1:1", "hi", "there"), "several words goes in quotes"),
        (("tasks", "list", "http://127.0.0.1:1"), "invalid choice: 'list'"),
    ],
)
@pytest.mark.req("CLI-1")
def test_wrong_usage_is_2(
    words: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(words)
    except SystemExit as left:
        status = left.code
    assert status == 2
    assert complaint in capsys.readouterr().err


# What agents do


@pytest.mark.req("CLI-1", "CLI-5")
def test_nobody_there_is_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["send", "http://127.0.0.1:1", "hi", "--json"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "Connection refused" in err
    assert re.search(r"outstanding +the agent's card", err)
    assert re.search(r"try +check that the agent runs", err)


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ((b"Not Found", "404 Not Found", "text/plain"), "no agent card"),
        ((b"<html></html>", "200 OK", "text/html"), "no agent card"),
        ((b"[]",), "no agent card"),
        ((b"{}",), "offers no JSON-RPC interface"),
        ((b"moved", "302 Found\r\nLocation: http://127.0.0.1:1/"), "HTTP 302"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "illegal status line"),
    ],
)
@pytest.mark.req("CLI-1", "CONN-1")
def test_no_card_is_4(
    reply: bytes | tuple[Any, ...],
    complaint: str,
    start_server: "StartServer",
    http: "Http",
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def handle(_head: str, _body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(reply if isinstance(reply, bytes) else http(*reply))

    assert main(["send", start_server(handle).url, "hi"]) == 4
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("reply", "status", "complaint"),
    [
        ((b"<html>",), 4, "not in JSON-RPC: not JSON"),
        ((b"",), 4, "the reply is empty"),
        ((b"gone", "404 Not Found"), 5, "answers HTTP 404"),
        ((b"no", "401 Unauthorized"), 5, "no credentials were sent"),
        ((b"no", "409 Conflict"), 5, "still being worked on"),
        ((b"oops", "500 Internal Server Error"), 5, "has failed"),
        (
            (b"", "307 X\r\nLocation: http://other.test/"),
            4,
            "redirects to 'http://other.test/'",
        ),
        (
            (b'{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"Method not found"}}',),
            5,
            "error -32601: Method not found",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", 3, "broken off"),
    ],
)
@pytest.mark.req("CLI-1", "CLI-5")
def test_each_refusal_has_its_status(
    reply: bytes | tuple[Any, ...],
    status: int,
    complaint: str,
    start_agent: "StartAgent",
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["send", start_agent(reply).url, "hi"]) == status
    err = capsys.readouterr().err
    assert complaint in err or complaint == "broken off"
    assert "outstanding" in err


@pytest.mark.parametrize(
    "words", [("send", "hi"), ("send", "hi", "--stream"), ("tasks", "get", "t")]
)
@pytest.mark.req("CLI-1", "CONN-5")
def test_no_result_is_4_with_its_finding(
    words: tuple[str, ...], start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    *command, argument = [word for word in words if not word.startswith("-")]
    flags = [word for word in words if word.startswith("-")]
    url = start_agent(result=None).url
    assert main([*command, url, argument, *flags, "--json"]) == 4
    out, err = capsys.readouterr()
    answer = json.loads(out.splitlines()[-1])
    assert "found null" in answer["findings"][0]["message"]
    assert "with null, not with a" in err


@pytest.mark.req("CLI-4")
def test_a_failed_task_is_no_failed_command(
    start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    url = start_agent(result={**TASK, "status": {"state": "failed"}}).url
    assert main(["send", url, "hi"]) == 0
    assert main(["send", url, "hi", "--expect-state", "FAILED"]) == 0
    assert main(["send", url, "hi", "--expect-state", "completed"]) == 1
    assert "expected the state completed, found failed" in capsys.readouterr().err


@pytest.mark.req("CLI-1")
def test_silence_is_5(start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]) -> None:
    async def say_nothing(_head: str, _body: bytes, _writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    assert main(["send", start_agent(say_nothing).url, "hi", "--timeout", "0.3"]) == 5
    err = capsys.readouterr().err
    assert "no end within 0.3 s" in err
    assert "outstanding  the answer to message/send" in err


@pytest.mark.req("CLI-1")
def test_an_interruption_is_130_and_says_what_was_under_way(start_agent: "StartAgent") -> None:
    async def stream_a_little(_: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        await stream_of(update("working"))(_, body, writer)
        await writer.drain()
        await asyncio.Event().wait()

    url = start_agent(stream_a_little).url
    process = subprocess.Popen(
        [sys.executable, "-m", "inspector", "send", url, "hi", "--stream"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert "working" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "outstanding  the answer to message/stream of task t" in err
    assert "last seen    state working" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("way", [(), ("--stream",), ("--stream", "--push")])
def test_a_closed_pipe_is_no_traceback(way: tuple[str, ...], start_agent: "StartAgent") -> None:
    handle = stream_of(update("working"), update("completed", final=True))
    url = (start_agent(handle) if way else start_agent(result=TASK)).url
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "send", url, "hi", "--json", *way],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


# What is sent and printed


@pytest.mark.parametrize("shape", ["metadata", "request", "data", "line", "fence"])
@pytest.mark.req("COMP-1a")
def test_slots_go_out_in_each_shape(shape: str, start_agent: "StartAgent", tmp_path: Path) -> None:
    agent = start_agent(result=TASK)
    file = tmp_path / "slots.json"
    file.write_text('{"amount": 1, "vip": true}')
    words = ["--slots", str(file), "--slot", "amount=50", "--slot", "to=Joe", "--slots-as", shape]
    assert main(["send", agent.url, "hi", *words]) == 0
    params = json.loads(agent.requests[-1][1])["params"]
    slots: dict[str, Any] = {"amount": 50, "vip": True, "to": "Joe"}
    text = json.dumps(slots, separators=(",", ":"))
    expected: dict[str, Any] = {
        "metadata": params["message"].get("metadata"),
        "request": params.get("metadata"),
        "data": params["message"]["parts"][-1].get("data"),
    }
    if shape in expected:
        assert expected[shape] == {"slots": slots}
        assert params["message"]["parts"][0]["text"] == "hi"
    else:
        marker = {"line": f"hi\nSLOTS: {text}", "fence": f"hi\n```json\n{text}\n```"}[shape]
        assert params["message"]["parts"][0]["text"] == marker


@pytest.mark.parametrize(
    "words", [("--no-save", "hi"), ("hi", "--no-save"), ("--no-save", "--", "-hi"), ("--", "-hi")]
)
def test_flags_may_stand_before_the_text(words: tuple[str, ...], start_agent: "StartAgent") -> None:
    agent = start_agent(result=TASK)
    assert main(["send", agent.url, *words]) == 0
    [part] = json.loads(agent.requests[-1][1])["params"]["message"]["parts"]
    assert part["text"] == ("-hi" if "--" in words else "hi")


@pytest.mark.req("COMP-2")
def test_the_turn_is_the_users(start_agent: "StartAgent", tmp_path: Path) -> None:
    agent = start_agent(result=TASK)
    part = tmp_path / "part.json"
    part.write_text('{"kind": "data", "data": {"x": 1}}')
    (tmp_path / "note.txt").write_text("note")
    words = ["--context", "c7", "--message-id", "m7", "--task", "t7", "--metadata", "k=v"]
    words += ["--history-length", "0", "--accept", "text/plain", "--no-blocking"]
    words += ["--part", str(part), "--part", str(tmp_path / "note.txt")]
    done = run("send", agent.url, "-", *words, input="\ufefffrom stdin\r\n")
    assert done.returncode == 0
    params = json.loads(agent.requests[-1][1])["params"]
    assert params["message"] == {
        "kind": "message",
        "messageId": "m7",
        "role": "user",
        "contextId": "c7",
        "taskId": "t7",
        "metadata": {"k": "v"},
        "parts": [
            {"kind": "text", "text": "from stdin"},
            {"kind": "data", "data": {"x": 1}},
            {
                "kind": "file",
                "file": {"name": "note.txt", "mimeType": "text/plain", "bytes": "bm90ZQ=="},
            },
        ],
    }
    assert params["configuration"] == {
        "acceptedOutputModes": ["text/plain"],
        "historyLength": 0,
        "blocking": False,
    }


@pytest.mark.req("CLI-1", "CLI-4")
def test_json_has_the_shape_of_the_reference(
    start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["send", start_agent(result=TASK).url, "hi", "--json"]) == 0
    out, err = capsys.readouterr()
    [line] = out.splitlines()
    assert list(json.loads(line)) == [
        "contextId",
        "taskId",
        "messageId",
        "state",
        "text",
        "data",
        "artifacts",
        "transport",
        "protocol",
        "elapsed_ms",
        "findings",
        "task",
    ]
    assert err == ""


def test_a_refusal_in_json_still_prints_the_reply(
    start_agent: "StartAgent", http: "Http", capsys: pytest.CaptureFixture[str]
) -> None:
    error = {"code": -32001, "message": "Task not found"}
    reply = json.dumps({"jsonrpc": "2.0", "id": "x", "error": error}).encode()
    assert main(["tasks", "get", start_agent(http(reply)).url, "t", "--json"]) == 5
    out, err = capsys.readouterr()
    assert json.loads(out)["error"] == {**error, "data": None}
    assert "forgotten" in err


@pytest.mark.req("COMP-3")
def test_a_stream_in_json_is_a_line_an_event(
    start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    results = (update("working"), update("completed", final=True))
    url = start_agent(stream_of(*results, end=b": bye\n\n")).url
    assert main(["send", url, "hi", "--stream", "--json"]) == 0
    *updates, answer = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [list(one) for one in updates] == [
        ["at_ms", "channel", "kind", "state", "final", "raw"]
    ] * 2
    assert [(one["state"], one["final"]) for one in updates] == [
        ("working", False),
        ("completed", True),
    ]
    assert updates[0]["raw"]["result"] == results[0]
    assert answer["state"] == "completed"
    assert answer["task"] == results[1]


@pytest.mark.req("WIRE-0")
def test_findings_are_told(start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]) -> None:
    url = start_agent(stream_of(update("completed", final=True), update("dancing"))).url
    assert main(["send", url, "hi", "--stream"]) == 0
    err = capsys.readouterr().err
    assert "found 'dancing'" in err
    assert "a status-update after the final update" in err
    assert "A2A 0.3 §7.2.2" in err


def test_a_task_under_way_is_told_by_its_state(
    start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    url = start_agent(result={**TASK, "status": {"state": "submitted"}}).url
    assert main(["send", url, "hi", "--no-blocking"]) == 0
    assert "○ submitted" in capsys.readouterr().out


def test_a_refusal_prints_nothing_but_the_diagnosis(
    start_agent: "StartAgent", http: "Http", capsys: pytest.CaptureFixture[str]
) -> None:
    error = {"code": -32001, "message": "Task not found"}
    reply = json.dumps({"jsonrpc": "2.0", "id": "x", "error": error}).encode()
    assert main(["tasks", "get", start_agent(http(reply)).url, "t"]) == 5
    assert capsys.readouterr().out == ""


@pytest.mark.req("TIME-1")
def test_a_stream_cut_off_inside_an_event_is_told(
    start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    url = start_agent(stream_of(update("working"), end=b'data: {"jsonrpc"')).url
    assert main(["send", url, "hi", "--stream"]) == 4
    out, err = capsys.readouterr()
    assert "the stream ended inside an event" in err
    assert "tasks resubscribe" in err
    assert "◌ working" in out


# Safety


@pytest.mark.req("CONN-5", "TUI-5")
def test_no_text_of_an_agent_acts_on_the_terminal(
    start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "\x1b]0;owned\x07\x1b[2Jhello\x9b31m\u202e"
    text = {"kind": "text", "text": evil}
    data = {"kind": "data", "data": {"slots": {evil: evil}, "active_flow": evil, "reason": evil}}
    task = {
        "kind": "task",
        "id": evil,
        "contextId": evil,
        "status": {"state": evil, "message": {"parts": [text, data]}},
        "artifacts": [{"artifactId": evil, "parts": [text]}],
    }
    url = start_agent(card={"name": evil, "description": evil, evil: 1}, result=task).url
    for words in (["send", url, "hi"], ["send", url, "hi", "--json"], ["card", url]):
        assert main(words) == 0
    out, err = capsys.readouterr()
    assert "hello" in out
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", out + err)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(
            b'{"jsonrpc":"2.0","id":1,"result":' + b'{"a":' * 5000 + b"1" + b"}" * 5001,
            id="deep result",
        ),
        b"\xff\xfe\x00",
        b'{"jsonrpc":"2.0","id":NaN,"result":{"kind":"task","id":Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"kind":["task"],"status":"x","parts":5}}',
        pytest.param(b'{"jsonrpc":"2.0","id":' + b"9" * 6000 + b"}", id="long number"),
        rb'{"jsonrpc":"2.0","id":1,"result":{"kind":"message","parts":[{"text":"\ud800"}]}}',
    ],
)
@pytest.mark.req("CONN-5")
def test_no_body_is_a_traceback(
    body: bytes, start_agent: "StartAgent", http: "Http", capsys: pytest.CaptureFixture[str]
) -> None:
    url = start_agent(http(body)).url
    assert main(["send", url, "hi"]) in (0, 4, 5)
    assert main(["send", url, "hi", "--json"]) in (0, 4, 5)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.req("CONN-5")
def test_a_body_of_50_mb_is_not_swallowed(
    start_agent: "StartAgent", http: "Http", capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["send", start_agent(http(b"x" * 50_000_000)).url, "hi"]) == 4
    assert "a body larger than 8 MiB; the rest is not read" in capsys.readouterr().err


@pytest.mark.parametrize("block", [b"data: x", b": ping\n\n", b"\n"])
@pytest.mark.req("CONN-5")
def test_an_endless_stream_ends(
    block: bytes, start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    async def stream(_head: str, _body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        while True:
            writer.write(block * 100)
            await writer.drain()

    url = start_agent(stream).url
    assert main(["send", url, "hi", "--stream", "--timeout", "1"]) in (4, 5)
    assert "outstanding" in capsys.readouterr().err


@pytest.mark.req("TUI-6")
def test_credentials_stay_with_the_card(
    start_agent: "StartAgent",
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TOKEN", "s3cret-token")
    header = ["--header", "Authorization: Bearer ${TOKEN}"]
    elsewhere = start_agent(result=TASK)
    trusted = start_agent(result=TASK)
    assert main(["send", trusted.url, "hi", *header]) == 0
    assert all("s3cret-token" in head for head, _ in trusted.requests)
    lured = start_agent(card={"url": elsewhere.url}, result=TASK)
    assert main(["send", lured.url, "hi", *header]) == 2
    assert elsewhere.requests == []
    assert f"--allow-origin {elsewhere.url.rstrip('/')}" in capsys.readouterr().err
    assert main(["send", lured.url, "hi", *header, "--allow-origin", elsewhere.url]) == 0
    assert all("s3cret-token" in head for head, _ in elsewhere.requests)


@pytest.mark.req("CONN-3")
def test_a_secret_that_the_agent_repeats_is_masked(
    start_agent: "StartAgent",
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TOKEN", 's3cret-"token')
    parts = [{"kind": "text", "text": 'you sent s3cret-"token'}]
    message = {"kind": "message", "messageId": "m", "role": "agent", "parts": parts}
    url = start_agent(result=message).url
    words = ["send", url, "hi", "--header", "X-Key: Key ${TOKEN}"]
    assert main(words) == 0
    assert main([*words, "--json"]) == 0
    out, err = capsys.readouterr()
    assert "s3cret" not in out + err
    assert "you sent ***" in out


@pytest.mark.req("CONN-3")
def test_a_literal_header_changes_nothing_of_the_reply(
    start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [{"kind": "text", "text": "the message for tenant-42"}]
    message = {"kind": "message", "messageId": "m", "role": "agent", "parts": parts}
    url = start_agent(result={**message, "contextId": "tenant-42"}).url
    words = ["--header", "X-Trace: result", "--header", "X-Kind: message"]
    assert main(["send", url, "hi", *words, "--header", "X-Tenant: tenant-42"]) == 0
    assert "the message for tenant-42" in capsys.readouterr().out


# The card


@pytest.mark.req("CONN-1")
def test_the_deprecated_place_is_tried(
    start_server: "StartServer", http: "Http", capsys: pytest.CaptureFixture[str]
) -> None:
    async def handle(head: str, _body: bytes, writer: asyncio.StreamWriter) -> None:
        is_old = head.startswith("GET /.well-known/agent.json")
        host = re.search(r"(?i)host: (\S+)", head)
        assert host is not None
        card = json.dumps({"name": "Old", "url": f"http://{host[1]}/"}).encode()
        writer.write(http(card) if is_old else http(b"", "404 Not Found"))

    assert main(["card", start_server(handle).url]) == 0
    out = capsys.readouterr().out
    assert "Old" in out
    assert "which 0.3 replaced" in out


@pytest.mark.req("CARDV-1")
def test_validate_fails_on_errors(
    start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["card", start_agent(b"").url, "--validate"]) == 0
    wrong = start_agent(b"", {"skills": [{"id": 1}]}).url
    assert main(["card", wrong]) == 0
    assert main(["card", wrong, "--validate"]) == 1
    assert "$.skills[0].id" in capsys.readouterr().out


def test_raw_is_what_came(
    start_agent: "StartAgent", capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["card", start_agent(b"").url, "--raw"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["name"] == "Raw"


@pytest.mark.req("CONN-1")
def test_a_card_file_is_a_target(
    start_agent: "StartAgent", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = start_agent(result=TASK)
    file = tmp_path / "card.json"
    file.write_text(json.dumps({"name": "Filed", "url": agent.url}))
    assert main(["card", str(file)]) == 0
    assert main(["send", str(file), "hi"]) == 0
    assert [head.split()[0] for head, _ in agent.requests] == ["POST"]
    file.write_text("nonsense")
    assert main(["send", str(file), "hi"]) == 4
    assert "no agent card" in capsys.readouterr().err


def test_a_redirect_of_the_same_origin_is_followed(
    start_server: "StartServer", http: "Http", capsys: pytest.CaptureFixture[str]
) -> None:
    async def handle(head: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        host = re.search(r"(?i)host: (\S+)", head)
        assert host is not None
        if head.startswith("GET"):
            writer.write(http(json.dumps({"name": "R", "url": f"http://{host[1]}/rpc"}).encode()))
        elif head.startswith("POST /rpc/"):
            envelope = {"jsonrpc": "2.0", "id": json.loads(body)["id"], "result": TASK}
            writer.write(http(envelope))
        else:
            writer.write(http(b"", "307 Temporary Redirect\r\nLocation: /rpc/"))

    url = start_server(handle).url
    assert main(["send", url, "hi", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "completed"
    assert main(["send", url, "hi", "--poll"]) == 0
    shown = capsys.readouterr()
    assert "307" not in shown.out + shown.err
    assert shown.out.count("completed") == 1


def test_a_task_of_another_context_is_1(
    start_agent: "StartAgent", capsys: pytest.CaptureFixture[str]
) -> None:
    url = start_agent(result=TASK).url
    assert main(["tasks", "get", url, "t", "--context", "c"]) == 0
    assert main(["tasks", "get", url, "t", "--context", "other"]) == 1
    assert "expected context other, found c" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["sned", "http://a", "hi"], ["http://a", "hi"]])
def test_two_words_without_a_command_name_the_commands(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    err = capsys.readouterr().err
    assert f"unknown command {words[0]!r}" in err
    assert "card, send, tasks" in err
