"""Requests of the 0.3 wire, read."""

import json
from datetime import UTC, datetime
from typing import get_args

import pytest
from a2a.compat.v0_3 import types
from hypothesis import given, settings
from hypothesis import strategies as st

from mock_server.dialogue.model import Json
from mock_server.tasks.task import (
    Artifact,
    ArtifactUpdate,
    DataPart,
    FilePart,
    Message,
    Part,
    PushAuthentication,
    PushConfig,
    Role,
    Status,
    StatusUpdate,
    Task,
    TaskState,
    TextPart,
)
from mock_server.wire.operations import (
    Answer,
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
    TaskPushConfig,
)
from mock_server.wire.v0_3 import (
    METHODS,
    V03,
    decode_call,
    decode_push_config,
    decode_task,
    encode_task,
    encode_update,
    with_history,
)


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
    requests = get_args(types.A2ARequest.model_fields["root"].annotation)
    assert METHODS.keys() >= {request.model_fields["method"].default for request in requests}


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
OPTIONAL = st.none() | TEXTS
AUTHENTICATIONS = st.builds(PushAuthentication, st.lists(TEXTS, max_size=2).map(tuple), OPTIONAL)
CONFIGS = st.builds(PushConfig, TEXTS, OPTIONAL, OPTIONAL, st.none() | AUTHENTICATIONS)


def result_of(answer: Answer) -> bytes:
    """What is in the envelope of a reply with `answer`."""
    reply = V03().encode_reply(Call("r1", ListPushConfigs("t")), answer)
    return reply.removeprefix(b'{"id":"r1","jsonrpc":"2.0","result":').removesuffix(b"}")


@given(TEXTS, CONFIGS)
def test_configuration_survives_the_wire(task_id: str, config: PushConfig) -> None:
    registered = TaskPushConfig(task_id, config)
    encoded = result_of(registered)
    read = types.TaskPushNotificationConfig.model_validate_json(encoded)
    assert read.task_id == task_id
    assert decode_push_config(read.push_notification_config) == config
    assert result_of((registered, registered)) == b"[%b,%b]" % (encoded, encoded)


def test_keys_are_ordered_and_nulls_left_out() -> None:
    full = PushConfig("http://x/", "p", "tok", PushAuthentication(("Bearer",), "c"))
    assert result_of(TaskPushConfig("t", full)) == (
        b'{"pushNotificationConfig":{"authentication":{"credentials":"c","schemes":["Bearer"]},'
        b'"id":"p","token":"tok","url":"http://x/"},"taskId":"t"}'
    )
    assert result_of(TaskPushConfig("t", PushConfig(""))) == (
        b'{"pushNotificationConfig":{"url":""},"taskId":"t"}'
    )
    assert result_of(()) == b"[]"


NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)

words = st.text(max_size=5)
metadata = st.none() | st.dictionaries(words, st.none() | st.booleans() | words, max_size=2)
filled = st.dictionaries(words, st.integers(-9, 9) | words, max_size=2)
parts: st.SearchStrategy[Part] = (
    st.builds(TextPart, words, metadata)
    | st.builds(DataPart, filled, metadata)
    | st.builds(FilePart, st.just({"uri": "http://x/y"}), metadata)
)
part_lists = st.lists(parts, max_size=3).map(tuple)
messages = st.builds(
    Message,
    words,
    st.sampled_from(Role),
    part_lists,
    st.none() | words,
    st.none() | words,
    metadata,
    st.none() | st.lists(words, max_size=2).map(tuple),
    st.none() | st.lists(words, max_size=2).map(tuple),
)
statuses = st.builds(
    Status,
    st.sampled_from(TaskState),
    st.none() | st.datetimes(timezones=st.just(UTC)),
    st.none() | messages,
)
artifacts = st.builds(Artifact, words, part_lists, st.none() | words)
tasks = st.builds(
    Task,
    words,
    words,
    statuses,
    st.lists(messages, max_size=2).map(tuple),
    st.lists(artifacts, max_size=2).map(tuple),
    filled,
)


@settings(max_examples=100)
@given(tasks)
def test_what_is_written_is_read_back(task: Task) -> None:
    assert decode_task(encode_task(task)) == task


@pytest.mark.req("HTTP-5a")
@settings(max_examples=100)
@given(tasks)
def test_bytes_are_those_that_the_sdks_models_write(task: Task) -> None:
    written = encode_task(task)
    model = types.Task.model_validate_json(written)
    assert json.loads(written) == model.model_dump(mode="json", exclude_none=True)
    assert [*json.loads(written)] == [*model.model_dump(mode="json", exclude_none=True)]


@pytest.mark.req("OUT-3", "OUT-5")
@pytest.mark.parametrize(
    ("state", "spelling"),
    [
        (TaskState.INPUT_REQUIRED, "input-required"),
        (TaskState.AUTH_REQUIRED, "auth-required"),
        (TaskState.CANCELED, "canceled"),
    ],
)
def test_status_update_is_spelt_as_on_the_wire(state: TaskState, spelling: str) -> None:
    update = json.loads(encode_update("t", "c", StatusUpdate(Status(state, NOW), is_final=True)))
    assert update == {
        "contextId": "c",
        "final": True,
        "kind": "status-update",
        "status": {"state": spelling, "timestamp": "2026-11-20T10:00:00.000000+00:00"},
        "taskId": "t",
    }


@pytest.mark.req("OUT-4")
@pytest.mark.parametrize(
    ("appends", "is_last", "flags"),
    [
        (False, False, {}),
        (True, False, {"append": True}),
        (True, True, {"append": True, "lastChunk": True}),
    ],
)
def test_artifact_update_says_append_and_last(
    appends: bool, is_last: bool, flags: dict[str, bool]
) -> None:
    artifact = Artifact("a", (TextPart("x"),), "explain")
    update = json.loads(encode_update("t", "c", ArtifactUpdate(artifact, appends, is_last)))
    shown = {"artifactId": "a", "name": "explain", "parts": [{"kind": "text", "text": "x"}]}
    rest = {"artifact": shown, "contextId": "c", "kind": "artifact-update", "taskId": "t"}
    assert update == {**rest, **flags}


@pytest.mark.req("TURN-9", "HTTP-5a")
@pytest.mark.parametrize(
    ("length", "kept"),
    [(None, "abc"), (-1, "abc"), (0, None), (1, "c"), (2, "bc"), (3, "abc"), (9, "abc")],
)
def test_history_is_cut_from_the_front(length: int | None, kept: str | None) -> None:
    history = tuple(Message(name, Role.USER, ()) for name in "abc")
    task = encode_task(Task("t", "c", Status(TaskState.WORKING), history))
    cut = json.loads(with_history(task, length))
    assert [*cut] == sorted(cut)
    if kept is None:
        assert "history" not in cut
    else:
        assert [message["messageId"] for message in cut["history"]] == [*kept]


IDS = st.one_of(st.text(max_size=5), st.integers(), st.none(), st.booleans())


def said(decoded: Call | BadCall) -> object:
    if isinstance(decoded, BadCall):
        return decoded.id, decoded.error.code, decoded.error.data
    return decoded


@given(
    rpc_id=IDS,
    message_id=IDS,
    text=st.one_of(st.text(st.characters(exclude_categories=())), st.none()),
    context_id=st.one_of(IDS, st.just(...)),
)
def test_plain_text_is_read_as_by_the_models(
    rpc_id: Json, message_id: Json, text: Json, context_id: object
) -> None:
    message = {"kind": "message", "role": "user", "messageId": message_id}
    message |= {} if context_id is ... else {"contextId": context_id}
    message |= {"parts": [{"kind": "text", "text": text}]}
    body = {
        "jsonrpc": "2.0",
        "method": "message/send",
        "id": rpc_id,
        "params": {"message": message},
    }
    # an unknown key, which the models ignore, leaves the request to them
    by_models = json.dumps({**body, "params": {"message": message, "unknown": 1}}).encode()
    assert said(decode_call(json.dumps(body).encode())) == said(decode_call(by_models))
