"""`a2a-inspect listen` as a process, with what agents and attackers post to it."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from inspector.cli import main

if TYPE_CHECKING:
    from tests.inspector.headless.push.conftest import Listener, Mock

Listen = Callable[..., "Listener"]
TASK: dict[str, Any] = {"id": "t", "kind": "task", "contextId": "c", "status": {"state": "working"}}


def post(url: str, token: str, body: Any = TASK, patience_seconds: float = 60) -> int:
    """The status of the answer, for which one waits so long."""
    headers = {"X-A2A-Notification-Token": token}
    timeout = httpx.Timeout(60, read=patience_seconds)
    return httpx.post(url, json=body, headers=headers, timeout=timeout).status_code


@pytest.mark.req("PUSHRX-1", "CLI-4")
def test_what_comes_is_printed_as_json_lines(listen: Listen) -> None:
    listener = listen("--json")
    assert post(listener.url, listener.token) == 200
    assert post(listener.url, "wrong") == 401
    first, second = json.loads(listener.line()), json.loads(listener.line())
    assert first == {
        "at_ms": first["at_ms"],
        "channel": "push",
        "kind": "task",
        "state": "working",
        "final": False,
        "raw": TASK,
        "verdict": "accepted",
        "status": 200,
        "taskId": "t",
        "contextId": "c",
        "findings": [],
    }
    assert (second["verdict"], second["status"], second["kind"]) == ("forged", 401, "error")
    assert "forged" in second["findings"][0]["message"]
    assert listener.stop() == (130, "", "")


@pytest.mark.req("PUSHRX-1", "TUI-5")
def test_what_comes_is_told_in_lines_that_a_terminal_survives(listen: Listen) -> None:
    listener = listen()
    assert listener.ready == f"ready: {listener.url} token={listener.token}\n"
    body = {**TASK, "id": "t\x1b]52;c;AAAA\x07"}
    post(listener.url, listener.token, body)
    line = listener.line()
    assert "✓ accepted  ◌ working  task t" in line
    assert "answered 200 OK" in line
    assert "\x1b" not in line
    httpx.get(listener.url, timeout=60)
    assert "✗ refused  answered 405 Method Not Allowed" in listener.line()
    status, _, err = listener.stop()
    assert (status, err) == (130, "")


@pytest.mark.req("PUSHRX-1")
def test_a_real_turn_is_received_whole(mock: "Mock", listen: Listen) -> None:
    listener = listen("--json")
    config = {"url": listener.url, "token": listener.token}
    message = {
        "messageId": "m1",
        "role": "user",
        "parts": [{"kind": "text", "text": "send 50 to Joe"}],
    }
    params = {"message": message, "configuration": {"pushNotificationConfig": config}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params}
    httpx.post(mock.url, json=request, timeout=60).raise_for_status()
    told = [json.loads(listener.line()) for _ in range(3)]
    assert [one["state"] for one in told] == ["submitted", "working", "input-required"]
    assert {one["verdict"] for one in told} == {"accepted"}


@pytest.mark.req("PUSHRX-2")
@pytest.mark.parametrize(("flags", "status"), [(("--fail", "500"), 500), (("--fail", "302"), 302)])
def test_failures_are_injected(flags: tuple[str, ...], status: int, listen: Listen) -> None:
    listener = listen("--json", *flags)
    assert post(listener.url, listener.token) == status
    assert json.loads(listener.line())["status"] == status


@pytest.mark.req("PUSHRX-2")
def test_an_answer_may_be_late_or_fail_to_come(listen: Listen) -> None:
    late, dropping, hanging = listen("--delay", "0.3"), listen("--drop"), listen("--hang")
    with pytest.raises(httpx.ReadTimeout):
        post(late.url, late.token, patience_seconds=0.1)
    assert post(late.url, late.token) == 200
    with pytest.raises(httpx.RemoteProtocolError):
        post(dropping.url, dropping.token)
    with pytest.raises(httpx.ReadTimeout):
        post(hanging.url, hanging.token, patience_seconds=0.3)
    assert "not answered" in dropping.line()
    assert "not answered" in hanging.line()


@pytest.mark.req("PUSHRX-2")
def test_verified_ones_are_handed_on(listen: Listen) -> None:
    second = listen("--json", "--token-env", "TOKEN", TOKEN="a-token-of-my-own")
    first = listen("--forward", second.url, "--token-env", "TOKEN", TOKEN="a-token-of-my-own")
    assert first.token == "$TOKEN"
    assert post(first.url, "wrong") == 401
    assert post(first.url, "a-token-of-my-own") == 200
    assert json.loads(second.line())["raw"] == TASK
    assert first.process.stderr is not None
    assert first.process.stderr.readline() == "a2a-inspect: forwarded: HTTP 200\n"
    assert second.stop()[0] == 130
    assert post(first.url, "a-token-of-my-own") == 200
    assert "not forwarded: Connection refused" in first.process.stderr.readline()


@pytest.mark.req("PUSHRX-1")
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--forward", "ftp://x/"), "is not an http or https URL"),
        (("--public-url", "nonsense"), "is not an http or https URL"),
        (("--interface", "203.0.113.1"), "cannot listen at 203.0.113.1 port 0"),
        (("--token-env", "NOT_SET"), "the variable NOT_SET is not set"),
        (("--ssl-certificate", "/nonexistent.pem"), "/nonexistent.pem: No such file"),
        (("--ssl-keyfile", "key.pem"), "has no effect without --ssl-certificate"),
        (("--jwks", "keys.json"), "is not an http or https URL"),
        (("--fail", "99"), "an HTTP status, 200 to 599"),
        (("--port", "70000"), "a port, 0 to 65535"),
        (("--fail", "500", "--drop"), "not allowed with"),
    ],
)
def test_wrong_usage_is_2(
    flags: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(["listen", *flags])
    except SystemExit as stopped:
        status = stopped.code
    assert status == 2
    assert message in capsys.readouterr().err


def test_a_taken_port_is_2(listen: Listen, capsys: pytest.CaptureFixture[str]) -> None:
    port = httpx.URL(listen().url).port
    assert main(["listen", "--port", str(port)]) == 2
    err = capsys.readouterr().err
    assert f"cannot listen at 127.0.0.1 port {port}: Address already in use\n" in err
    assert "0 takes a free one" in err
