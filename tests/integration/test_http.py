"""The HTTP surface over a real socket."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Mock, Serving


pytestmark = pytest.mark.anyio


@pytest.mark.req("HTTP-1")
async def test_card_is_served_under_both_names(mock: "Mock") -> None:
    card = await mock.client.get("/.well-known/agent-card.json")
    alias = await mock.client.get("/.well-known/agent.json")
    assert card.headers["content-type"] == "application/json"
    assert card.content == alias.content
    assert card.json()["url"] == mock.url
    head = await mock.client.head("/.well-known/agent-card.json")
    assert (head.status_code, head.content) == (200, b"")


@pytest.mark.req("HTTP-2")
async def test_status_names_the_model(mock: "Mock") -> None:
    assert (await mock.client.get("/status")).json() == {
        "model_file": "bank",
        "model_id": "abc",
        "num_active_training_jobs": 0,
    }


@pytest.mark.req("HTTP-1", "HTTP-5a")
@pytest.mark.parametrize(
    ("method", "path", "status", "text"),
    [
        ("GET", "/", 405, "Method Not Allowed"),
        ("OPTIONS", "/", 405, "Method Not Allowed"),
        ("GET", "/docs", 404, "Not Found"),
        ("GET", "/agent/authenticatedExtendedCard", 404, "Not Found"),
        ("POST", "/status", 405, "Method Not Allowed"),
    ],
)
async def test_other_routes_are_refused(
    mock: "Mock", method: str, path: str, status: int, text: str
) -> None:
    response = await mock.client.request(method, path)
    assert (response.status_code, response.text) == (status, text)
    if path == "/":
        assert response.headers["allow"] == "POST"


@pytest.mark.req("TURN-5")
async def test_repeat_in_flight_is_a_409(mock: "Mock") -> None:
    body = mock.turn("check the account", "m1")
    first = asyncio.create_task(mock.post(body))
    await mock.paused.wait()
    for repeat in (body, mock.turn("check the account", "m1", "message/stream")):
        conflict = await mock.post(repeat)
        assert conflict.status_code == 409
        assert conflict.headers["retry-after"] == "1"
        assert conflict.headers["content-type"] == "application/json"
        assert conflict.json()["id"] == "r1"
        assert conflict.json()["error"]["code"] == -32600
        assert conflict.json()["error"]["data"] == {
            "reason": "message_in_flight",
            "contextId": "c1",
            "messageId": "m1",
        }
    mock.let_go.set()
    assert (await first).status_code == 200


@pytest.mark.req("TURN-5")
async def test_replay_is_byte_for_byte_under_another_request_id(mock: "Mock") -> None:
    body = mock.turn("send money")
    first = await mock.post(body)
    again = await mock.post({**body, "id": 7})
    assert again.content == first.content.replace(b'"id":"r1"', b'"id":7', 1)


@pytest.mark.req("TURN-9", "HTTP-5a")
async def test_history_length_is_honoured(mock: "Mock") -> None:
    asked = await mock.send("send money")
    (await mock.call("tasks/cancel", id=asked["id"]))["result"]
    lengths: dict[object, int] = {}
    for length in (None, -1, 0, 1, 2, 5):
        task = (await mock.call("tasks/get", id=asked["id"], historyLength=length))["result"]
        lengths[length] = json.dumps(task.get("history")).count("messageId")
        assert [*task] == sorted(task)
    assert lengths == {None: 2, -1: 2, 0: 0, 1: 1, 2: 2, 5: 2}
    assert "history" not in await mock.send("Joe", "m2", configuration={"historyLength": 0})


@pytest.mark.req("HTTP-7", "OUT-4", "TURN-11")
async def test_stream_is_framed_as_the_sdk_frames_it(mock: "Mock") -> None:
    mock.let_go.set()
    body = mock.turn("explain the fees", method="message/stream")
    response = await mock.post(body)
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-accel-buffering"] == "no"
    frames = response.text.split("\r\n\r\n")
    assert frames.pop() == ""
    results = [json.loads(frame.removeprefix("data: "))["result"] for frame in frames]
    assert [update["kind"] for update in results] == [
        "status-update",
        "artifact-update",
        "artifact-update",
        "status-update",
    ]
    assert "append" not in results[1]
    assert results[2]["append"] is True
    assert results[2]["lastChunk"] is True
    assert [update.get("final") for update in results] == [False, None, None, True]
    assert all([*update] == sorted(update) for update in results)
    task = (await mock.call("tasks/get", id=results[0]["taskId"]))["result"]
    assert task["status"] == results[3]["status"]
    replay = await mock.post(body)
    assert replay.text == frames[3] + "\r\n\r\n"


@pytest.mark.req("HTTP-7")
async def test_quiet_stream_is_kept_alive(serving: "Serving") -> None:
    async with serving(ping_seconds=0.02) as mock:
        body = mock.turn("check the account", method="message/stream")
        async with mock.client.stream("POST", "/", json=body) as response:
            lines = response.aiter_lines()
            assert (await anext(lines)).startswith(": ping - ")
            mock.let_go.set()
            rest = [line async for line in lines]
        assert any('"final":true' in line for line in rest)


@pytest.mark.req("HTTP-7")
async def test_client_that_hangs_up_cancels_nothing(serving: "Serving") -> None:
    async with serving(ping_seconds=0.02) as mock:
        body = mock.turn("check the account", method="message/stream")
        async with mock.client.stream("POST", "/", json=body) as response:
            async for _ in response.aiter_lines():
                break
        blocking = asyncio.create_task(mock.say("send money", "m2"))
        await asyncio.sleep(0)
        blocking.cancel()
        mock.let_go.set()
        task = await mock.send("/Noop()", "m3")
        previous = await mock.say("check the account")
        assert previous.json()["result"]["status"]["state"] == "completed"
        assert task["status"] != previous.json()["result"]["status"]


@pytest.mark.req("HTTP-7")
async def test_stream_can_be_joined_again(mock: "Mock") -> None:
    configuration = {"blocking": False}
    begun = await mock.send("check the account", configuration=configuration)
    await mock.paused.wait()
    body = mock.request("tasks/resubscribe", id=begun["id"])
    async with mock.client.stream("POST", "/", json=body) as response:
        mock.let_go.set()
        text = "".join([chunk async for chunk in response.aiter_text()])
    update = json.loads(text.removeprefix("data: "))["result"]
    assert (update["kind"], update["final"]) == ("status-update", True)


@pytest.mark.req("TURN-10")
async def test_cancel_stops_a_slow_action(mock: "Mock") -> None:
    blocked = asyncio.create_task(mock.say("check the account"))
    await mock.paused.wait()
    begun = await mock.client.post(
        "/", json=mock.turn("send money", "m2", configuration={"blocking": False})
    )
    queued = begun.json()["result"]
    assert queued["status"] == {"state": "submitted"}
    canceled = await mock.post(mock.request("tasks/cancel", id=queued["id"]))
    assert canceled.json()["result"]["status"]["state"] == "canceled"
    mock.let_go.set()
    assert (await blocked).json()["result"]["status"]["state"] == "completed"


@pytest.mark.req("HTTP-5")
@pytest.mark.parametrize("is_chunked", [False, True])
async def test_oversized_body_is_a_413_and_the_server_goes_on(
    mock: "Mock", is_chunked: bool
) -> None:
    async def chunks() -> AsyncGenerator[bytes]:
        for _ in range(30):
            yield b" " * 100_000

    body = chunks() if is_chunked else b" " * 3_000_000
    refused = await mock.client.post("/", content=body)
    assert refused.status_code == 413
    assert refused.json() == {
        "error": {"code": -32600, "message": "Payload too large"},
        "jsonrpc": "2.0",
    }
    assert (await mock.say("send money")).status_code == 200


@pytest.mark.req("HTTP-5")
@pytest.mark.parametrize("rpc_id", ["", "ü", 0, -7, 2**53])
async def test_id_is_echoed_with_its_type(mock: "Mock", rpc_id: object) -> None:
    reply = await mock.post(mock.request("tasks/get", rpc_id, id="nope"))
    assert reply.json()["id"] == rpc_id
    assert type(reply.json()["id"]) is type(rpc_id)


async def test_lone_surrogates_come_back_escaped(mock: "Mock") -> None:
    body = json.dumps(mock.turn("send \ud800 money"))
    reply = await mock.client.post("/", content=body.encode())
    assert reply.status_code == 200
    assert "\\ud800" in reply.text
    bad = json.dumps(mock.request("message/send", message="\ud800"))
    error = (await mock.client.post("/", content=bad.encode())).json()["error"]
    assert error["code"] == -32602
    assert error["data"][0]["loc"] == ["params", "message"]


@pytest.mark.req("HTTP-5")
async def test_echo_of_a_large_mistake_is_left_out(mock: "Mock") -> None:
    parts = [{"kind": "video", "text": "x" * 70_000}]
    body = mock.request("message/send", message={"messageId": "m", "role": "user", "parts": parts})
    reply = await mock.post(body)
    assert len(reply.content) < 5_000
    assert reply.json()["error"]["data"][0]["type"] == "literal_error"
    empty: list[dict[str, str]] = [{}] * 2_000
    message = {"messageId": "m", "role": "user", "parts": empty}
    many = mock.request("message/send", message=message)
    assert "data" not in (await mock.post(many)).json()["error"]


async def test_client_that_vanishes_within_its_request_harms_nobody(mock: "Mock") -> None:
    address = httpx.URL(mock.url)
    _, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    assert (await mock.say("send money")).status_code == 200
