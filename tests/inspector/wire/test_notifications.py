"""Notifications are read as what they are, and checked as what A2A 0.3 sends."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.findings import Severity
from inspector.wire.notifications import (
    asks_for_notifications,
    callback_name,
    callback_of,
    check_notification,
    read_notification,
)
from inspector.wire.tree import Json
from inspector.wire.urls import below

TASK: dict[str, Any] = {
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
    assert read(TASK) == ("", "task", "")
    assert check_notification(read_notification(json.dumps(TASK).encode())) == ()


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
    wrong = {**TASK, "status": {"state": "dancing", "timestamp": "now"}}
    found = check_notification(read_notification(json.dumps(wrong).encode()))
    assert [one.path for one in found] == ["$.status.state", "$.status.timestamp"]


@given(st.binary(max_size=50))
def test_anything_can_be_read(raw: bytes) -> None:
    notification = read_notification(raw)
    assert bool(notification.problem) == (notification.result is None)


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
    assert asks_for_notifications(params) is asks


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
    assert callback_name(callback) == "ab12"
    params: Json = {"configuration": {"pushNotificationConfig": {"url": callback}}}
    assert callback_of(params) == "ab12"


@pytest.mark.parametrize("params", [None, {}, {"configuration": {"pushNotificationConfig": 1}}])
def test_without_a_callback_there_is_none(params: Json) -> None:
    assert callback_of(params) == ""
