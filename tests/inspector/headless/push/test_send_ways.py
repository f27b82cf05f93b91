"""`a2a-inspect send` with several ways of following, against the real mock and its push faults."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from inspector.cli import main

if TYPE_CHECKING:
    from tests.inspector.conftest import StartAgent
    from tests.inspector.headless.push.conftest import Mock

ASK = "send 50 to Joe"
BRIEFLY = ("--patience", "0.5")
Capture = pytest.CaptureFixture[str]


def send(url: str, *flags: str, text: str = ASK) -> int:
    return main(["send", url, text, "--no-save", *flags])


def lines_of(capsys: Capture) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The updates and the final object that a command with --json printed."""
    *updates, final = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    return updates, final


def messages(final: dict[str, Any]) -> tuple[list[str], list[str]]:
    """What was found, and apart from it which notifications were late: a busy machine has some."""
    found = [one["message"] for one in final["findings"] if one["severity"] != "hint"]
    late = [one for one in found if one.startswith("late by")]
    return [one for one in found if one not in late], late


@pytest.mark.req("COMP-3", "CLI-1", "PUSHRX-1")
@pytest.mark.parametrize(
    ("flags", "channels"),
    [
        (("--poll",), {"response", "poll"}),
        (("--push",), {"response", "push"}),
        (("--push", "--no-blocking"), {"response", "push"}),
        (("--stream", "--push"), {"sse", "push"}),
        (("--stream", "--poll"), {"sse", "poll"}),
        (("--poll", "--push", "--resubscribe"), {"response", "sse", "poll", "push"}),
    ],
)
def test_all_ways_tell_one_truth(
    flags: tuple[str, ...], channels: set[str], mock: "Mock", capsys: Capture
) -> None:
    assert send(mock.url, "--json", "--expect-state", "input_required", *flags) == 0
    updates, final = lines_of(capsys)
    assert {one["channel"] for one in updates} == channels
    for one in updates:
        assert set(one) == {"at_ms", "channel", "kind", "state", "final", "raw"}
    last = {one["channel"]: one["state"] for one in updates if one["final"]}
    assert set(last.values()) == {"input-required"}
    assert final["state"] == "input-required"
    assert final["task"]["id"] == final["taskId"]
    assert final["data"][0]["active_flow"] == "transfer_money"
    assert final["text"][0].startswith("Which account?")
    assert messages(final)[0] == []


@pytest.mark.req("PUSHRX-1", "PUSHRX-3")
@pytest.mark.parametrize(
    ("effect", "state", "finding"),
    [
        ({"kind": "push_lost"}, "input_required", "missing: response reported input-required"),
        ({"kind": "push_duplicated"}, "working", "duplicate: the same notification of working"),
        ({"kind": "push_reordered"}, "submitted", "reordered: submitted is older than working"),
        ({"kind": "push_wrong_token"}, "working", "forged: its token is missing or wrong"),
    ],
)
def test_what_is_wrong_with_notifications_is_named(
    effect: dict[str, Any], state: str, finding: str, mock: "Mock", capsys: Capture
) -> None:
    mock.arm(effect, state)
    assert send(mock.url, "--push", "--patience", "3", "--json") == 0
    _, final = lines_of(capsys)
    [message], _ = messages(final)
    assert message.startswith(finding)


@pytest.mark.req("PUSHRX-1", "PUSHRX-3")
def test_a_late_notification_is_named_to_people_and_machines(mock: "Mock", capsys: Capture) -> None:
    mock.arm({"kind": "push_late", "seconds": 1.5}, "input_required")
    assert send(mock.url, "--push", "--patience", "60", "--json") == 0
    found, late = messages(lines_of(capsys)[1])
    assert found == []
    assert "late by" in late[-1]
    assert send(mock.url, "--push", "--patience", "60") == 0
    assert "late by" in capsys.readouterr().err


@pytest.mark.req("PUSHRX-3", "CLI-5")
def test_a_silent_receiver_is_explained(mock: "Mock", capsys: Capture) -> None:
    mock.arm({"kind": "push_lost"})
    assert send(mock.url, "--push", *BRIEFLY) == 0
    told = capsys.readouterr().err
    assert "no notification came to http://127.0.0.1:" in told
    assert "refuse callbacks to loopback addresses" in told
    assert "--public-url" in told
    assert "--allow-local-push" in told


@pytest.mark.req("PUSHRX-3", "CLI-5")
def test_a_refused_callback_is_explained(
    start_mock: Callable[..., "Mock"], capsys: Capture
) -> None:
    assert send(start_mock().url, "--push") == 5
    told = capsys.readouterr().err
    assert "-32602" in told
    assert "--allow-local-push" in told


@pytest.mark.req("PUSHRX-3", "CLI-5")
def test_a_card_without_push_is_named_as_the_cause(
    start_mock: Callable[..., "Mock"], capsys: Capture
) -> None:
    assert send(start_mock(offers_push=False).url, "--push", *BRIEFLY) == 0
    assert "the card says that the agent sends no push" in capsys.readouterr().err


@pytest.mark.req("PUSHRX-2")
def test_a_public_url_is_registered_in_place_of_the_receivers_own(
    mock: "Mock", capsys: Capture
) -> None:
    assert send(mock.url, "--push", "--public-url", "https://tunnel.invalid/a2a") == 5
    assert send(mock.url, "--push", "--public-url", "nonsense") == 2
    assert send(mock.url, "--public-url", "https://tunnel.invalid/") == 2
    assert send(mock.url, "--push-port", "9") == 2
    assert send(mock.url, "--patience", "9") == 2
    assert "is for --push" in capsys.readouterr().err


@pytest.mark.req("CLI-4")
def test_ways_are_told_to_people_line_by_line(mock: "Mock", capsys: Capture) -> None:
    assert send(mock.url, "--push", "--poll") == 0
    out = capsys.readouterr().out
    for word in ("submitted  push", "working  push", "■  push", "■  poll", "Which account?"):
        assert word in out
    assert "transfer_money" in out


def task(state: str) -> dict[str, Any]:
    return {"kind": "task", "id": "t", "contextId": "c", "status": {"state": state}}


def agent_that(*replies: Any) -> Callable[[str, bytes, asyncio.StreamWriter], Any]:
    """Answers each request with the next reply, the last again; None cuts the connection."""
    script = list(replies)

    async def answer(_: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        reply = script.pop(0) if len(script) > 1 else script[0]
        if reply is None:
            return
        request = json.loads(body)
        envelope = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": reply}).encode()
        if request["method"] in ("message/stream", "tasks/resubscribe"):
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
            writer.write(head + b"data: " + envelope + b"\n\n")
            return
        head = (
            f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(envelope)}"
        )
        writer.write(f"{head}\r\nConnection: close\r\n\r\n".encode() + envelope)

    return answer


@pytest.mark.req("COMP-3")
def test_a_stream_that_dropped_and_went_on_is_no_problem(
    start_agent: "StartAgent", capsys: Capture
) -> None:
    agent = start_agent(agent_that(task("working"), task("completed")))
    assert send(agent.url, "--stream", "--resubscribe", "--json") == 0
    updates, final = lines_of(capsys)
    assert [one["state"] for one in updates] == ["working", "completed"]
    assert final["state"] == "completed"


@pytest.mark.req("COMP-3", "CLI-5")
def test_an_agent_that_dies_midway_is_told(start_agent: "StartAgent", capsys: Capture) -> None:
    agent = start_agent(agent_that(task("working"), None))
    assert send(agent.url, "--poll", "--json") == 5
    captured = capsys.readouterr()
    assert json.loads(captured.out.splitlines()[-1])["state"] == "working"
    assert "still working" in captured.err
    assert "a2a-inspect tasks get TARGET t" in captured.err


@pytest.mark.req("PUSHRX-3")
def test_a_mock_that_is_killed_midway_leaves_nobody_hanging(
    start_mock: Callable[..., "Mock"],
) -> None:
    mock = start_mock("--allow-local-push")
    mock.arm({"kind": "push_late", "seconds": 60}, "submitted")
    command = [sys.executable, "-m", "inspector", "send", mock.url, ASK, "--push", "--poll"]
    sending = subprocess.Popen(
        [*command, *BRIEFLY, "--no-save", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert sending.stdout is not None
    assert json.loads(sending.stdout.readline())["channel"] == "response"
    mock.process.send_signal(signal.SIGKILL)
    out, err = sending.communicate(timeout=60)
    assert sending.returncode == 5
    assert json.loads(out.splitlines()[-1])["state"] == "submitted"
    assert "still submitted" in err


@pytest.mark.req("CLI-1")
def test_an_interruption_is_130_and_closes_the_receiver(mock: "Mock") -> None:
    mock.arm({"kind": "push_lost"})
    command = [sys.executable, "-m", "inspector", "send", mock.url, ASK, "--push", "--no-save"]
    sending = subprocess.Popen(
        [*command, "--no-blocking"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert sending.stdout is not None
    assert "response" in sending.stdout.readline()
    sending.send_signal(signal.SIGINT)
    _, err = sending.communicate(timeout=60)
    assert sending.returncode == 130
    assert "Traceback" not in err


@pytest.mark.req("PUSHRX-1", "SESS-1")
def test_no_token_is_printed_or_saved(
    start_agent: "StartAgent",
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    agent = start_agent(agent_that(task("completed")))
    for flags in ((), ("--json",)):
        assert main(["send", agent.url, ASK, "--push", *BRIEFLY, *flags]) == 0
    captured = capsys.readouterr()
    files = [file.read_text() for file in tmp_path.rglob("*.jsonl")]
    assert len(files) == 2
    tokens = [
        json.loads(body)["params"]["configuration"]["pushNotificationConfig"]["token"]
        for _, body in agent.requests
        if body
    ]
    assert len(set(tokens)) == 2
    told = "".join((captured.out, captured.err, *files))
    assert all(len(token) > 40 and token not in told for token in tokens)
