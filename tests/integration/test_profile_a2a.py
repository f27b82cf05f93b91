"""Profile `a2a`: the letter of the A2A specification and of JSON-RPC, over a real socket."""

import json
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

import pytest
from a2a.compat.v0_3 import types

from mock_server.profiles import A2A

if TYPE_CHECKING:
    from tests.integration.conftest import Mock, Serving


pytestmark = [pytest.mark.anyio, pytest.mark.req("HTTP-5a")]


@pytest.fixture
async def mock(serving: "Serving") -> AsyncGenerator["Mock"]:
    async with serving(profile=A2A) as mock:
        yield mock


async def task_of(mock: "Mock", body: object) -> types.Task:
    return types.Task.model_validate((await mock.post(body)).json()["result"])


async def error_of(mock: "Mock", body: object) -> tuple[int, object]:
    reply = (await mock.post(body)).json()
    return reply["error"]["code"], reply["id"]


def said_in(task: types.Task) -> list[str]:
    """The texts of the history, in order."""
    parts = [part.root for message in task.history or () for part in message.parts]
    return [part.text for part in parts if isinstance(part, types.TextPart)]


@pytest.mark.req("TURN-2")
async def test_task_goes_on_under_its_id(mock: "Mock") -> None:
    asked = await task_of(mock, mock.turn("send money", "m1"))
    assert asked.status.state is types.TaskState.input_required
    done = await task_of(mock, mock.turn("Joe", "m2", task=asked.id))
    assert (done.id, done.context_id) == (asked.id, "c1")
    assert done.status.state is types.TaskState.completed
    assert said_in(done) == ["send money", "To whom?", "Joe"]
    assert not done.metadata
    get = mock.request("tasks/get", id=asked.id)
    assert await task_of(mock, get) == done
    assert await error_of(mock, mock.turn("more", "m3", task=asked.id)) == (-32602, "r1")
    assert await error_of(mock, mock.turn("more", "m3", task="nope")) == (-32001, "r1")


@pytest.mark.req("TURN-5")
async def test_repeat_of_a_turn_that_went_on_is_replayed(mock: "Mock") -> None:
    asked = await task_of(mock, mock.turn("send money", "m1"))
    answer = mock.turn("Joe", "m2", task=asked.id)
    first = await mock.post(answer)
    again = await mock.post(answer)
    assert again.content == first.content
    replay = await task_of(mock, mock.turn("send money", "m1"))
    assert replay == asked


@pytest.mark.req("TURN-10")
async def test_task_that_goes_on_can_be_canceled_and_begun_anew(mock: "Mock") -> None:
    asked = await task_of(mock, mock.turn("send money", "m1"))
    canceled = await task_of(mock, mock.request("tasks/cancel", id=asked.id))
    assert canceled.status.state is types.TaskState.canceled
    assert await error_of(mock, mock.turn("Joe", "m2", task=asked.id)) == (-32602, "r1")
    anew = await task_of(mock, mock.turn("send money", "m3"))
    assert anew.id != asked.id
    assert anew.status.state is types.TaskState.input_required


@pytest.mark.req("TURN-10")
async def test_task_in_flight_takes_no_message_and_can_be_canceled(mock: "Mock") -> None:
    asked = await task_of(mock, mock.turn("send money", "m1"))
    not_blocking = {"blocking": False}
    away = mock.turn("check the account", "m2", task=asked.id, configuration=not_blocking)
    begun = await task_of(mock, away)
    assert (begun.id, begun.status.state) == (asked.id, types.TaskState.working)
    await mock.paused.wait()
    assert await error_of(mock, mock.turn("Joe", "m3", task=asked.id)) == (-32004, "r1")
    canceled = await task_of(mock, mock.request("tasks/cancel", id=asked.id))
    assert canceled.status.state is types.TaskState.canceled
    assert said_in(canceled)[:3] == ["send money", "To whom?", "check the account"]


@pytest.mark.req("TURN-2a", "TURN-3")
async def test_message_without_a_task_begins_one(mock: "Mock") -> None:
    asked = await task_of(mock, mock.turn("send money", "m1"))
    other = await task_of(mock, mock.turn("Joe", "m2"))
    assert other.id != asked.id
    assert other.status.state is types.TaskState.completed
    left = await task_of(mock, mock.request("tasks/get", id=asked.id))
    assert left.status.state is types.TaskState.input_required
    assert await error_of(mock, mock.request("tasks/cancel", id=asked.id)) == (-32002, "r1")


@pytest.mark.req("TURN-11")
async def test_stream_begins_with_the_task(mock: "Mock") -> None:
    first = await mock.say("send money", "m1", "message/stream")
    kinds, states = kinds_and_states(first.text)
    assert kinds == ["task", "status-update", "status-update"]
    assert states == ["submitted", "working", "input-required"]
    task_id = json.loads(first.text.split("\r\n")[0].removeprefix("data: "))["result"]["id"]
    body = mock.turn("Joe", "m2", "message/stream", task=task_id)
    kinds, states = kinds_and_states((await mock.post(body)).text)
    assert kinds == ["task", "status-update", "status-update"]
    assert states == ["working", "working", "completed"]


def kinds_and_states(stream: str) -> tuple[list[str], list[str]]:
    frames = [line.removeprefix("data: ") for line in stream.split("\r\n") if line]
    results = [json.loads(frame)["result"] for frame in frames]
    return [r["kind"] for r in results], [r["status"]["state"] for r in results]


@pytest.mark.req("PUSH-1")
async def test_push_that_is_off_and_the_card_that_is_missing_have_their_errors(
    mock: "Mock",
) -> None:
    push = {"url": "https://hooks.example/"}
    asked = await task_of(mock, mock.turn("send money", "m1"))
    inline = mock.turn("send money", "m2", configuration={"pushNotificationConfig": push})
    assert await error_of(mock, inline) == (-32003, "r1")
    methods = {
        "set": {"taskId": asked.id, "pushNotificationConfig": push},
        "get": {"id": asked.id},
        "list": {"id": asked.id},
        "delete": {"id": asked.id, "pushNotificationConfigId": "x"},
    }
    for name, params in methods.items():
        body = mock.request(f"tasks/pushNotificationConfig/{name}", **params)
        assert await error_of(mock, body) == (-32003, "r1")
    card = {"jsonrpc": "2.0", "id": 3, "method": "agent/getAuthenticatedExtendedCard"}
    assert await error_of(mock, card) == (-32007, 3)


@pytest.mark.req("HTTP-5")
@pytest.mark.parametrize(
    ("content", "code", "rpc_id"),
    [
        (b"", -32700, None),
        (b"{", -32700, None),
        (b"\xff", -32700, None),
        (b"[]", -32600, None),
        (b"7", -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"tasks/get","params":{"id":"x"}}', -32600, None),
        (b'{"jsonrpc":"2.0","id":{},"method":"tasks/get","params":{"id":"x"}}', -32600, None),
        (b'{"id":1,"method":"tasks/get","params":{"id":"x"}}', -32600, 1),
        (b'{"jsonrpc":"1.0","id":1,"method":"tasks/get","params":{"id":"x"}}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":"a"}', -32600, "a"),
        (b'{"jsonrpc":"2.0","method":7}', -32600, None),
        (b'{"jsonrpc":"2.0","id":"a","method":"nope"}', -32601, "a"),
        (b'{"jsonrpc":"2.0","id":"a","method":"tasks/get"}', -32602, "a"),
        (b'{"jsonrpc":"2.0","id":"a","method":"tasks/get","params":{}}', -32602, "a"),
        (b'{"jsonrpc":"2.0","id":null,"method":"tasks/get","params":{"id":"x"}}', -32001, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"tasks/get","params":{"id":"x"}}', -32001, 1.5),
        (b'{"jsonrpc":"2.0","id":0,"method":"tasks/get","params":{"id":"x"}}', -32001, 0),
    ],
)
async def test_errors_keep_to_json_rpc(
    mock: "Mock", content: bytes, code: int, rpc_id: object
) -> None:
    reply = (await mock.client.post("/", content=content)).json()
    assert [*reply] == ["error", "id", "jsonrpc"]
    assert (reply["error"]["code"], reply["id"]) == (code, rpc_id)


@pytest.mark.req("HTTP-5")
async def test_id_that_cannot_be_read_is_null_where_the_body_is_too_long(
    serving: "Serving",
) -> None:
    async with serving(profile=A2A, max_body_bytes=10) as mock:
        reply = await mock.client.post("/", content=b" " * 11)
        assert (reply.status_code, reply.json()["id"]) == (413, None)


async def test_request_without_an_id_is_answered_with_null(mock: "Mock") -> None:
    def unnamed(method: str, **params: object) -> dict[str, object]:
        return {k: v for k, v in mock.request(method, **params).items() if k != "id"}

    turn = mock.turn("send money", "m1")
    asked = (await mock.post({k: v for k, v in turn.items() if k != "id"})).json()
    assert (asked["id"], asked["result"]["status"]["state"]) == (None, "input-required")
    assert await error_of(mock, unnamed("tasks/get", id="nope")) == (-32001, None)
    assert await error_of(mock, unnamed("nope")) == (-32601, None)
    assert await error_of(mock, unnamed("tasks/get")) == (-32602, None)
    assert await error_of(mock, unnamed("message/send", message={})) == (-32602, None)
    canceled = (await mock.post(unnamed("tasks/cancel", id=asked["result"]["id"]))).json()
    assert (canceled["id"], canceled["result"]["status"]["state"]) == (None, "canceled")
    streamed = mock.turn("send money", "m2", "message/stream")
    stream = await mock.post({k: v for k, v in streamed.items() if k != "id"})
    frames = [json.loads(line[6:]) for line in stream.text.splitlines() if line.startswith("data")]
    assert {frame["id"] for frame in frames} == {None}
    assert frames[-1]["result"]["final"] is True


@pytest.mark.parametrize("rpc_id", ["NaN", "Infinity", "-1e999"])
async def test_number_that_json_cannot_write_is_no_id(mock: "Mock", rpc_id: str) -> None:
    content = f'{{"jsonrpc":"2.0","id":{rpc_id},"method":"tasks/get","params":{{"id":"x"}}}}'
    reply = (await mock.client.post("/", content=content)).json()
    assert (reply["error"]["code"], reply["id"]) == (-32600, None)
