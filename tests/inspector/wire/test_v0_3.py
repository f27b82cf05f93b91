"""Envelopes: what we encode we read back, and anything can be read."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.card import check_card
from inspector.wire.dialect import Ask, Callback, Operation
from inspector.wire.findings import Severity
from inspector.wire.json_values import Json
from inspector.wire.urls import below, last_segment
from inspector.wire.v0_3 import (
    check,
    check_notification,
    compact,
    encode_request,
    read_notification,
    read_reply,
    read_request,
    read_result,
    readdress,
)

texts = st.text(st.characters(exclude_categories=("Cs",)))


@given(texts, texts, st.dictionaries(texts, texts))
def test_a_request_is_read_back(id_: str, method: str, params: dict[str, Any]) -> None:
    request = read_request(encode_request(id_, method, params))
    assert (request.id, request.method) == (id_, method)
    assert json.loads(compact(encode_request(id_, method, params)))["params"] == params


@pytest.mark.parametrize("number", ["1e999", "NaN"])
def test_body_that_cannot_be_laid_out_the_same_stays_as_it_is(number: str) -> None:
    body = encode_request("1", "m", {"n": 0}).replace(b'"n":0', f'"n": {number}'.encode())
    assert compact(body) == body


@pytest.mark.req("CONN-5", "LIVE-1")
def test_readdressed_body_keeps_a_number_that_no_float_holds() -> None:
    params: dict[str, Json] = {
        "message": {"messageId": "m", "parts": [{"kind": "data", "data": {"n": 0}}]}
    }
    body = encode_request("1", "message/send", params).replace(b'"n":0', b'"n":1e999')
    again = readdress(body, request_id="2", context_id="c", message_id="n", task_id=None)
    assert b'"data":{"n":1e999}' in again
    assert b'"messageId":"n"' in again


@given(st.binary())
def test_any_bytes_are_a_request_with_what_they_have(raw: bytes) -> None:
    assert isinstance(read_request(raw).ask, Ask)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ('{"code": -32001, "message": "m", "data": [1]}', -32001, "m"),
        ('{"code": "x"}', None, ""),
        ('{"code": true}', None, ""),
        ("null", None, ""),
    ],
)
def test_errors_are_read_leniently(error: str, code: int | None, message: str) -> None:
    found = read_reply(f'{{"error": {error}}}'.encode()).error
    assert found is not None
    assert (found.code, found.message) == (code, message)


def test_a_result_of_null_is_a_result() -> None:
    reply = read_reply(b'{"jsonrpc": "2.0", "id": 1, "result": null}')
    assert (reply.problem, reply.error, reply.payload) == ("", None, None)


STATUS: dict[str, Any] = {
    "state": "input-required",
    "message": {"messageId": "m", "parts": [{"text": "hi"}]},
}


@pytest.mark.parametrize(
    ("result", "kind", "is_final"),
    [
        ({"kind": "task", "id": "t", "status": STATUS}, "task", True),
        ({"id": "t", "status": STATUS}, "task", True),
        ({"kind": "task", "id": "t", "status": {"state": "working"}}, "task", False),
        ({"kind": "status-update", "taskId": "t", "status": STATUS}, "status-update", False),
        ({"taskId": "t", "status": STATUS, "final": True}, "status-update", True),
        ({"kind": "message", "parts": []}, "message", True),
        ({"parts": []}, "message", True),
        ({"artifact": {"artifactId": "a"}}, "artifact-update", False),
        ({"kind": "party"}, "party", False),
        (None, "unknown", False),
    ],
)
def test_kinds(result: Any, kind: str, is_final: bool) -> None:
    read = read_result(result)
    assert (read.kind, read.is_final) == (kind, is_final)


def test_a_status_carries_its_message() -> None:
    read = read_result({"kind": "task", "id": "t", "contextId": "c", "status": STATUS})
    assert (read.task_id, read.context_id, read.message_id) == ("t", "c", "m")
    assert [part.raw for part in read.parts] == [{"text": "hi"}]


def test_artifacts_of_a_task_are_whole() -> None:
    artifact: Any = {"artifactId": "a", "name": "n", "parts": [{"text": "x"}]}
    [read] = read_result({"kind": "task", "artifacts": [artifact]}).artifacts
    assert (read.artifact_id, read.name, read.is_append, read.is_last) == ("a", "n", False, True)


WORDS = st.sampled_from(["kind", "task", "status", "state", "message", "artifacts", "parts", "id"])
TEXTS = WORDS | st.text(max_size=3)


@given(
    st.recursive(
        st.none() | TEXTS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=5),
        max_leaves=20,
    )
)
def test_anything_can_be_read(result: Any) -> None:
    assert read_result(result).kind


PUSHED_TASK: dict[str, Any] = {
    "kind": "task",
    "id": "t",
    "contextId": "c",
    "status": {"state": "working"},
}


def read(body: Any) -> tuple[str, str | None, str]:
    notification = read_notification(json.dumps(body).encode())
    result = notification.result
    return notification.wrapper, None if result is None else result.kind, notification.problem


def test_a_bare_task_is_what_it_should_be() -> None:
    assert read(PUSHED_TASK) == ("", "task", "")
    assert check_notification(read_notification(json.dumps(PUSHED_TASK).encode())) == ()


@pytest.mark.parametrize(
    ("body", "wrapper", "kind"),
    [
        ({"task": {"id": "t", "status": {"state": "x"}}}, "task", "task"),
        ({"statusUpdate": {"taskId": "t"}}, "statusUpdate", "status-update"),
        ({"artifactUpdate": {"taskId": "t"}}, "artifactUpdate", "artifact-update"),
        ({"message": {"taskId": "t"}}, "message", "message"),
    ],
)
def test_a_stream_response_is_unwrapped(body: Any, wrapper: str, kind: str) -> None:
    assert read(body) == (wrapper, kind, "")
    [finding] = check_notification(read_notification(json.dumps(body).encode()))
    assert finding.severity is Severity.HINT


def test_number_of_a_notification_that_no_float_holds_is_found() -> None:
    body = json.dumps({**PUSHED_TASK, "metadata": {"n": 0}}).replace('"n": 0', '"n": 1e999')
    [finding] = check_notification(read_notification(body.encode()))
    assert finding.severity is Severity.ERROR
    assert finding.message == "1e999 is larger than any number that can be read"


@pytest.mark.parametrize(
    "result",
    [
        {"task": {"id": "t", "status": {"state": "TASK_STATE_FAILED"}}},
        {"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_FAILED"}}},
    ],
)
@pytest.mark.req("COMP-1")
def test_only_the_answer_to_another_versions_method_is_unwrapped(result: Any) -> None:
    raw = json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}).encode()
    found = read_reply(raw, None).result
    assert found is not None
    assert (found.task_id, found.state, found.is_final) == ("t", "failed", True)
    assert found.spelling == "TASK_STATE_FAILED"
    asked = read_reply(raw, Operation.SEND).result
    assert asked is not None
    assert asked.state is None


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"<", "not JSON: Expecting value at line 1 column 1"),
        (b"[]", "a notification must be a JSON object"),
        (b"{}", "the body names no task"),
    ],
)
def test_what_is_none_says_why(raw: bytes, problem: str) -> None:
    notification = read_notification(raw)
    assert (notification.result, notification.problem) == (None, problem)
    [finding] = check_notification(notification)
    assert (finding.severity, finding.message) == (Severity.ERROR, problem)


def test_a_task_is_checked_like_any_other() -> None:
    wrong = {**PUSHED_TASK, "status": {"state": "dancing", "timestamp": "now"}}
    found = check_notification(read_notification(json.dumps(wrong).encode()))
    assert [one.path for one in found] == ["$.status.state", "$.status.timestamp"]


@given(st.binary(max_size=50))
def test_any_notification_can_be_read(raw: bytes) -> None:
    notification = read_notification(raw)
    assert bool(notification.problem) == (notification.result is None)


def callback_in(params: Json) -> Callback | None:
    return read_request(json.dumps({"params": params}).encode()).ask.callback


@pytest.mark.parametrize(
    ("params", "asks"),
    [
        ({"configuration": {"pushNotificationConfig": {"url": "http://a"}}}, True),
        ({"configuration": {"pushNotificationConfig": None}}, False),
        ({"configuration": {}}, False),
        (None, False),
    ],
)
def test_a_message_may_ask_for_notifications(params: Any, asks: bool) -> None:
    assert (callback_in(params) is not None) is asks


@pytest.mark.req("PUSHRX-1")
@pytest.mark.parametrize(
    ("url", "callback"),
    [
        ("http://127.0.0.1:4040/", "http://127.0.0.1:4040/ab12"),
        ("https://tunnel.test", "https://tunnel.test/ab12"),
        ("https://tunnel.test/a2a", "https://tunnel.test/a2a/ab12"),
        ("https://tunnel.test/a2a/?key=/1", "https://tunnel.test/a2a/ab12?key=/1"),
    ],
)
def test_a_callback_is_known_by_its_last_segment(url: str, callback: str) -> None:
    assert below(url, "ab12") == callback
    assert last_segment(callback) == "ab12"
    params: Json = {"configuration": {"pushNotificationConfig": {"url": callback}}}
    found = callback_in(params)
    assert found is not None
    assert found.url == callback


@pytest.mark.parametrize("params", [None, {}, {"configuration": {"pushNotificationConfig": 1}}])
def test_without_a_callback_there_is_none(params: Json) -> None:
    found = callback_in(params)
    assert last_segment(found.url if found is not None else "") == ""


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
    return [(one.path, one.message) for one in check(read_reply(raw), REQUEST)]


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
    assert check(read_reply(json.dumps({**reply, "id": id}).encode()), request) == ()
    [found] = check(read_reply(json.dumps({**reply, "id": "2"}).encode()), request)
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
            found = check(read, read_request(request.encode()))
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
