"""One reply taken by itself: right ones have no findings, each mistake has its own."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.card_rules import check_card
from inspector.wire.findings import Severity
from inspector.wire.jsonrpc import read_reply, read_request
from inspector.wire.validate import check_reply

REQUEST = read_request(b'{"jsonrpc":"2.0","id":"r1","method":"message/send","params":{}}')
TASK: dict[str, Any] = {
    "kind": "task",
    "id": "t",
    "contextId": "c",
    "status": {
        "state": "completed",
        "timestamp": "2026-11-20T10:00:00.000000+00:00",
        "message": {
            "kind": "message",
            "role": "agent",
            "messageId": "m",
            "taskId": "t",
            "contextId": "c",
            "parts": [{"kind": "text", "text": "hi"}, {"kind": "data", "data": {}}],
        },
    },
}
REPLY: dict[str, Any] = {"jsonrpc": "2.0", "id": "r1", "result": TASK}


def findings_of(reply: Any) -> list[tuple[str, str]]:
    raw = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
    return [(one.path, one.message) for one in check_reply(read_reply(raw), REQUEST)]


def changed(path: str, value: Any) -> dict[str, Any]:
    """REPLY with the node at `path` replaced, or removed where `value` is ..."""
    reply = json.loads(json.dumps(REPLY))
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    node = reply
    for key in way:
        node = node[key]
    if value is ...:
        del node[last]
    else:
        node[last] = value
    return reply


def test_a_right_reply_has_no_findings() -> None:
    assert findings_of(REPLY) == []


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        ("jsonrpc", ..., ("$.jsonrpc", "`jsonrpc` is missing: '2.0'")),
        ("jsonrpc", "1.0", ("$.jsonrpc", "expected '2.0', found '1.0'")),
        ("id", ..., ("$.id", "`id` is missing: 'r1'")),
        ("id", "r2", ("$.id", "the request's id is 'r1', this is 'r2'")),
        ("result.kind", ..., ("$.result", "`kind` is missing: 'task' | 'message'")),
        ("result.id", 7, ("$.result.id", "expected string, found number")),
        (
            "result.status.timestamp",
            "yesterday",
            (
                "$.result.status.timestamp",
                "expected an ISO 8601 date and time with its zone, found 'yesterday'",
            ),
        ),
        (
            "result.status.message.taskId",
            "other",
            ("$.result.status.message.taskId", "the task has 't', its message 'other'"),
        ),
        (
            "result.status.message.role",
            "user",
            (
                "$.result.status.message.role",
                "a status message is the agent's, this one says 'user'",
            ),
        ),
        (
            "result.status.message.parts.0.kind",
            "video",
            (
                "$.result.status.message.parts[0].kind",
                "expected 'text' | 'file' | 'data', found 'video'",
            ),
        ),
    ],
)
@pytest.mark.req("WIRE-0")
def test_each_mistake_has_its_finding(path: str, value: Any, found: tuple[str, str]) -> None:
    assert findings_of(changed(path, value)) == [found]


def test_an_unknown_state_is_found() -> None:
    [(path, message)] = findings_of(changed("result.status.state", "done"))
    assert path == "$.result.status.state"
    assert message.endswith("found 'done'")


@pytest.mark.parametrize("id", [1, 1.5, None])
def test_ids_of_raw_bodies_may_be_numbers(id: Any) -> None:
    request = read_request(json.dumps({"id": id, "method": "agent/other"}).encode())
    reply = {"jsonrpc": "2.0", "result": None}
    assert check_reply(read_reply(json.dumps({**reply, "id": id}).encode()), request) == ()
    [found] = check_reply(read_reply(json.dumps({**reply, "id": "2"}).encode()), request)
    assert found.message == f"the request's id is {json.dumps(id)}, this is '2'"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"<html>", "not JSON: Expecting value at line 1 column 1"),
        (b"[]", "a JSON-RPC reply must be an object"),
        (b'{"jsonrpc":"2.0","id":"r1"}', "neither `result` nor `error` in the reply"),
    ],
)
def test_what_is_no_reply_has_one_finding(raw: bytes, message: str) -> None:
    assert findings_of(raw) == [("$", message)]


def test_an_error_is_checked_too() -> None:
    error = {"jsonrpc": "2.0", "id": "r1", "result": 1, "error": {"code": "1", "message": "m"}}
    assert findings_of(error) == [
        ("$", "both `result` and `error`"),
        ("$.error.code", "expected integer, found '1'"),
    ]


def test_nan_is_an_error() -> None:
    raw = json.dumps(REPLY).encode().replace(b'"data": {}', b'"data": {"x": NaN}')
    assert findings_of(raw) == [("$", "NaN is not JSON")]


@given(st.binary())
def test_any_bytes_can_be_checked(raw: bytes) -> None:
    assert findings_of(raw)


@pytest.mark.parametrize("wire", ["sdk0326_v03", "sdk130_v03"])
def test_recorded_results_have_no_schema_errors(shared: Path, wire: str) -> None:
    """What two versions of the SDK really sent is right, unless they were asked wrongly."""
    text = (shared / f"wire/{wire}.txt").read_text()
    checked = 0
    pairs = re.findall(r'^REQ (\{.*"id": "r1".*\})\nHTTP 200.*\n(\{.*\})$', text, re.MULTILINE)
    for request, reply in pairs:
        read = read_reply(reply.encode())
        if read.error is None and "result" in reply:
            found = check_reply(read, read_request(request.encode()))
            schema = [one for one in found if "timestamp" not in one.path]
            assert schema == [], reply
            checked += 1
    assert checked > 10


@pytest.mark.req("CARDV-1")
def test_a_recorded_card_is_right(shared: Path) -> None:
    text = (shared / "wire/sdk0326_v03.txt").read_text()
    card = json.loads(next(line for line in text.splitlines() if line.startswith("{")))
    assert check_card(card) == ()
    del card["skills"][0]["tags"]
    [finding] = check_card(card)
    assert finding.path == "$.skills[0]"
    assert finding.section == "A2A 0.3 §5.5.4"
    assert finding.severity is Severity.ERROR
