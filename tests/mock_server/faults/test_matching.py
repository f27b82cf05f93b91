"""Requests read from their bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.faults.matching import (
    Match,
    Miss,
    OutgoingPush,
    ReceivedRequest,
    delivers,
    misses,
    read_request,
)
from mock_server.tasks.task import TaskState


def read(params: object, method: str = "message/send"):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    return read_request("POST", "/", [(b"x-tenant", b"acme")], body)


@pytest.mark.req("ADMIN-1")
def test_message_is_read() -> None:
    message: dict[str, object] = {
        "messageId": "m1",
        "contextId": "c1",
        "taskId": "t1",
        "parts": [{"kind": "text", "text": "send"}, {"kind": "data", "data": {}}, {"text": "5 €"}],
    }
    request = read({"message": message})
    assert (request.method, request.context_id, request.task_id) == ("message/send", "c1", "t1")
    assert (request.message_id, request.text) == ("m1", "send\n5 €")
    assert request.headers == {"x-tenant": "acme"}


def test_operation_on_a_task_names_it() -> None:
    assert read({"id": "t1"}, "tasks/get").task_id == "t1"
    assert read({"taskId": "t1"}, "tasks/pushNotificationConfig/set").task_id == "t1"


def test_id_beside_a_message_is_not_a_task() -> None:
    assert read({"id": "x", "message": {}}).task_id is None


@given(st.binary(max_size=60))
def test_any_body_is_read(body: bytes) -> None:
    assert read_request("POST", "/", [], body).verb == "POST"


KEYS = st.sampled_from(["message", "parts", "text", "id", "taskId", "contextId", "messageId"])
LEAVES = st.none() | st.booleans() | st.text(max_size=3) | st.integers()


@given(
    st.recursive(
        LEAVES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=20,
    )
)
def test_any_params_are_read(params: object) -> None:
    assert read(params).method == "message/send"


REQUEST = ReceivedRequest(
    verb="POST",
    path="/",
    headers={"x-tenant": "acme-2"},
    method="message/send",
    context_id="c1",
    task_id="t1",
    message_id="m1",
    text="Send 50 € to Joe",
)


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize(
    "match",
    [
        Match(),
        Match(method="message/send"),
        Match(method="message/*"),
        Match(path="/"),
        Match(context="c1", task="t1", message="m1"),
        Match(text="(?i)send \\d+"),
        Match(headers={"X-Tenant": "acme-*"}),
    ],
)
def test_request_matches(match: Match) -> None:
    assert misses(match, REQUEST) == ()


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize(
    ("match", "miss"),
    [
        (Match(method="message/stream"), Miss("method", "message/stream", "message/send")),
        (Match(path="/.well-known/*"), Miss("path", "/.well-known/*", "/")),
        (Match(context="c*"), Miss("context", "c*", "c1")),
        (Match(task="t2"), Miss("task", "t2", "t1")),
        (Match(message="m2"), Miss("message", "m2", "m1")),
        (Match(text="^balance"), Miss("text", "^balance", "Send 50 € to Joe")),
        (Match(headers={"x-tenant": "other"}), Miss("headers.x-tenant", "other", "acme-2")),
        (Match(headers={"x-user": "*"}), Miss("headers.x-user", "*", None)),
        (Match(method="message/sen?"), Miss("method", "message/sen?", "message/send")),
        (Match(method="message/[s]end"), Miss("method", "message/[s]end", "message/send")),
    ],
)
def test_miss_says_what_was_found(match: Match, miss: Miss) -> None:
    assert misses(match, REQUEST) == (miss,)


def test_what_a_request_did_not_say_is_a_miss() -> None:
    silent = ReceivedRequest(verb="GET", path="/status", headers={})
    assert misses(Match(method="*", text=""), silent) == (
        Miss("method", "*", None),
        Miss("text", "", None),
    )


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize(
    ("match", "is_for_it"),
    [
        (Match(), True),
        (Match(context="c1", task="t1", state=TaskState.COMPLETED), True),
        (Match(state=TaskState.WORKING), False),
        (Match(context="c2"), False),
        (Match(task="t2"), False),
    ],
)
def test_push_notification_is_matched_by_its_task(match: Match, is_for_it: bool) -> None:
    assert delivers(match, OutgoingPush("t1", "c1", TaskState.COMPLETED)) is is_for_it
