"""Requests read from their bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.faults.request import read_request


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


def test_id_beside_a_message_is_no_task() -> None:
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
