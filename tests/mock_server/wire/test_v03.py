"""Requests of the 0.3 wire, read."""

import json

import pytest

from mock_server.tasks.push_config import PushAuthentication, PushConfig
from mock_server.tasks.task import DataPart, FilePart, Message, Role, TextPart
from mock_server.wire.operations import (
    BadCall,
    Call,
    CancelTask,
    DeletePushConfig,
    GetExtendedCard,
    GetPushConfig,
    GetTask,
    ListPushConfigs,
    Operation,
    Resubscribe,
    SendMessage,
    SetPushConfig,
    StreamMessage,
)
from mock_server.wire.v03 import METHODS, decode_call


def body(method: str, params: object, rpc_id: object = "r1") -> bytes:
    request = {"jsonrpc": "2.0", "id": rpc_id, "method": method, "params": params}
    return json.dumps(request).encode()


FORM: dict[str, int] = {}
MESSAGE: dict[str, object] = {
    "messageId": "m1",
    "role": "user",
    "contextId": "c1",
    "taskId": "t0",
    "metadata": {"a": None},
    "extensions": ["x"],
    "referenceTaskIds": ["t1"],
    "parts": [
        {"kind": "text", "text": "hi", "metadata": {"b": 1}},
        {"kind": "data", "data": {"slots": FORM}},
        {"kind": "file", "file": {"uri": "http://x/y", "mimeType": "image/png"}},
        {"kind": "file", "file": {"bytes": "aGk="}},
    ],
}
READ = Message(
    "m1",
    Role.USER,
    (
        TextPart("hi", {"b": 1}),
        DataPart({"slots": {}}),
        FilePart({"mimeType": "image/png", "uri": "http://x/y"}),
        FilePart({"bytes": "aGk="}),
    ),
    "c1",
    "t0",
    {"a": None},
    ("x",),
    ("t1",),
)


@pytest.mark.req("HTTP-6", "TURN-9")
def test_message_is_read_with_its_configuration() -> None:
    configuration = {
        "blocking": False,
        "historyLength": 3,
        "acceptedOutputModes": ["text/plain"],
        "pushNotificationConfig": {"url": "http://x/"},
    }
    params: dict[str, object] = {
        "message": MESSAGE,
        "configuration": configuration,
        "metadata": {"k": "v"},
    }
    turn = SendMessage(READ, False, {"k": "v"}, 3, ("text/plain",), PushConfig("http://x/"))
    assert decode_call(body("message/send", params)) == Call("r1", turn)
    assert decode_call(body("message/stream", params, 7)) == Call(7, StreamMessage(turn))


@pytest.mark.req("TURN-9")
@pytest.mark.parametrize("configuration", [{}, None, {"blocking": True}, {"blocking": None}])
def test_sending_blocks_unless_told_otherwise(configuration: object) -> None:
    params: dict[str, object] = {"message": MESSAGE, "configuration": configuration}
    assert decode_call(body("message/send", params)) == Call("r1", SendMessage(READ))


@pytest.mark.req("HTTP-6")
@pytest.mark.parametrize(
    ("method", "params", "operation"),
    [
        ("tasks/get", {"id": "t", "historyLength": 2}, GetTask("t", 2)),
        ("tasks/get", {"id": "t"}, GetTask("t")),
        ("tasks/cancel", {"id": "t"}, CancelTask("t")),
        ("tasks/resubscribe", {"id": "t"}, Resubscribe("t")),
    ],
)
def test_operations_on_tasks_are_read(method: str, params: object, operation: Operation) -> None:
    assert decode_call(body(method, params)) == Call("r1", operation)


@pytest.mark.req("PUSH-1", "HTTP-6")
def test_operations_on_push_configurations_are_read() -> None:
    written = {
        "url": "http://x/",
        "id": "p",
        "token": "tok",
        "authentication": {"schemes": ["Bearer", "Basic"], "credentials": "c"},
    }
    config = PushConfig("http://x/", "p", "tok", PushAuthentication(("Bearer", "Basic"), "c"))
    named = {"id": "t", "pushNotificationConfigId": "p"}
    for verb, params, operation in (
        ("set", {"taskId": "t", "pushNotificationConfig": written}, SetPushConfig("t", config)),
        ("get", {"id": "t"}, GetPushConfig("t")),
        ("get", named, GetPushConfig("t", "p")),
        ("list", {"id": "t"}, ListPushConfigs("t")),
        ("delete", named, DeletePushConfig("t", "p")),
    ):
        call = decode_call(body(f"tasks/pushNotificationConfig/{verb}", params))
        assert call == Call("r1", operation)


@pytest.mark.req("HTTP-5a")
def test_extended_card_is_an_operation() -> None:
    call = decode_call(body("agent/getAuthenticatedExtendedCard", {}))
    assert call == Call("r1", GetExtendedCard())


@pytest.mark.req("HTTP-5")
@pytest.mark.parametrize(
    ("text", "rpc_id", "code"),
    [
        (b"{", None, -32700),
        (b"\xff", None, -32700),
        pytest.param(b"[" * 500, None, -32700, id="deep"),
        (b"5", None, -32600),
        (b'{"id": "x"}', "x", -32600),
        (b'{"id": [], "method": "tasks/get", "params": {"id": "t"}}', None, -32600),
        (b'{"id": 3, "method": "foo"}', 3, -32601),
        (b'{"id": true, "method": "foo"}', 1, -32601),
        (b'{"id": 3, "jsonrpc": "1.0", "method": "foo"}', 3, -32600),
        (b'{"id": 3, "method": "tasks/get", "params": {}}', 3, -32602),
        (b'{"method": "tasks/get", "params": {"id": "t"}}', None, -32602),
    ],
)
def test_bad_call_has_its_code_and_what_id_it_can(text: bytes, rpc_id: object, code: int) -> None:
    call = decode_call(text)
    assert isinstance(call, BadCall)
    assert (call.id, call.error.code) == (rpc_id, code)


def test_every_method_of_03_is_in_the_table() -> None:
    assert len(METHODS) == 10
