"""Each fault as a client sees it, over a real socket."""

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from mock_server.dialogue.model import Json
from mock_server.faults.effects import KINDS
from mock_server.faults.fault import Fault, read_fault
from mock_server.profiles import A2A

if TYPE_CHECKING:
    from tests.integration.conftest import Mock, Serving


pytestmark = pytest.mark.anyio

CHUNKS = ["Your ", "fee ", "is ", "2 %."]


async def outcome(mock: "Mock", text: str, message_id: str = "m1") -> dict[str, str]:
    """The outcome of a turn: its state, its context and its words."""
    result = await mock.send(text, message_id)
    parts = result["status"].get("message", {"parts": []})["parts"]
    words = "".join(part.get("text", "") for part in parts)
    return {"state": result["status"]["state"], "context": result["contextId"], "words": words}


async def spoken(mock: "Mock", message_id: str = "s1") -> list[str]:
    """What a stream says, event by event: a chunk's text or a state, `!` if it is final."""
    body = mock.turn("explain the fees", message_id, "message/stream")
    said: list[str] = []
    async with mock.client.stream("POST", "/", json=body) as response:
        assert response.status_code == 200
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                said.append(_event(json.loads(line[6:])["result"]))
    return said


def _event(result: dict[str, object]) -> str:
    match result:
        case {"artifact": {"parts": [{"text": str(text)}]}}:
            return text
        case {"status": {"state": str(state)}, "final": final}:
            return f"{state}!" if final else state
        case _:
            raise AssertionError(result)


@pytest.mark.req("ADMIN-1")
async def test_more_faults_than_are_armed_at_most_are_refused(mock: "Mock") -> None:
    fault = {"effect": "connection_reset"}
    for faults in ([fault] * 20_000, [{**fault, "id": f"f{number}"} for number in range(1001)]):
        refused = await mock.client.post("/__admin/faults", json=faults)
        assert (refused.status_code, refused.json()["error"]) == (
            422,
            "expected at most 1000 armed faults",
        )
    named = [{**fault, "id": f"f{number}"} for number in range(1000)]
    for _ in range(2):
        assert (await mock.client.post("/__admin/faults", json=named)).status_code == 201
    assert (await mock.client.post("/__admin/faults", json=fault)).status_code == 422
    assert len((await mock.admin("faults")).json()["faults"]) == 1000


@pytest.mark.req("ADMIN-1", "HTTP-5")
async def test_fault_whose_expression_takes_too_long_does_not_hit(
    mock: "Mock", caplog: pytest.LogCaptureFixture
) -> None:
    await mock.arm({"id": "slow", "effect": "connection_reset", "match": {"text": "(x+x+)+y"}})
    assert (await mock.say("x" * 5000, "m1")).status_code == 200
    assert "a2a_mock.fault.slow" in caplog.text
    refused = await mock.client.get("/__admin/requests", params={"text": "(x+x+)+y"})
    assert refused.status_code == 422
    assert "takes too long" in refused.json()["error"]


def exchange(port: int, body: bytes, verb: bytes = b"POST", path: bytes = b"/") -> bytes:
    """All bytes that come back for a request, until the connection ends.

    Raises:
        ConnectionResetError: with a reset; what came before it is in its `args`.
    """
    head = b"%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as channel:
        channel.sendall(head % (verb, path, len(body)) + body)
        try:
            while chunk := channel.recv(65536):
                received += chunk
        except ConnectionResetError:
            raise ConnectionResetError(received) from None
    return received


async def raw(mock: "Mock", message: Mapping[str, Json]) -> bytes:
    return await asyncio.to_thread(exchange, mock.port, json.dumps(message).encode())


async def test_nothing_is_changed_while_nothing_is_armed(mock: "Mock") -> None:
    assert await spoken(mock) == ["working", *CHUNKS, "completed!"]
    assert (await outcome(mock, "send money"))["words"] == "To whom?"
    assert mock.slept == []


@pytest.mark.req("ADMIN-1")
async def test_http_status_comes_instead_of_the_turn(mock: "Mock") -> None:
    await mock.arm({"effect": {"kind": "http_status", "status": 503}, "count": 1})
    refused = await mock.say("send money")
    assert refused.status_code == 503
    assert refused.json() == {
        "error": {"code": -32603, "message": "Service Unavailable"},
        "id": "r1",
        "jsonrpc": "2.0",
    }
    assert (await mock.admin("contexts")).json()["total"] == 0
    assert (await outcome(mock, "send money"))["state"] == "input-required"


@pytest.mark.req("ADMIN-1")
async def test_http_status_after_the_turn_loses_its_answer_only(mock: "Mock") -> None:
    effect: Json = {
        "kind": "http_status",
        "status": 502,
        "when": "after",
        "body": "bad gateway",
    }
    await mock.arm({"effect": effect, "count": 1})
    lost = await mock.say("send money")
    assert (lost.status_code, lost.text) == (502, "bad gateway")
    (received,) = (await mock.admin("requests")).json()["requests"]
    assert (received["status"], received["state"]) == (502, "input_required")
    repeated = await mock.send("send money")
    assert repeated["id"] == received["task"]


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize(
    ("status", "header", "error"),
    [
        (401, ("www-authenticate", "Bearer"), {"code": -32000}),
        (409, ("retry-after", "1"), {"code": -32600}),
        (413, ("content-type", "application/json"), {"code": -32600}),
    ],
)
async def test_status_of_the_server_itself_looks_as_its_own(
    mock: "Mock", status: int, header: tuple[str, str], error: dict[str, int]
) -> None:
    await mock.arm({"effect": {"kind": "http_status", "status": status}})
    refused = await mock.say("send money")
    assert refused.status_code == status
    assert refused.headers[header[0]] == header[1]
    assert refused.json()["error"]["code"] == error["code"]


@pytest.mark.parametrize(
    ("status", "text"), [(500, "Internal Server Error"), (599, "Status 599"), (204, "")]
)
async def test_status_elsewhere_has_a_plain_body(mock: "Mock", status: int, text: str) -> None:
    await mock.arm(
        {"match": {"path": "/status"}, "effect": {"kind": "http_status", "status": status}}
    )
    refused = await mock.client.get("/status")
    assert (refused.status_code, refused.text) == (status, text)
    assert (await mock.client.get("/.well-known/agent-card.json")).status_code == 200


async def test_status_for_a_body_that_is_no_json_has_no_id(mock: "Mock") -> None:
    await mock.arm({"effect": {"kind": "http_status", "status": 500}})
    refused = await mock.client.post("/", content=b"{")
    assert "id" not in refused.json()


@pytest.mark.req("HTTP-5a")
@pytest.mark.parametrize("status", [409, 413, 500])
async def test_status_in_profile_a2a_has_null_for_an_id_that_is_missing(
    serving: "Serving", status: int
) -> None:
    async with serving(profile=A2A) as mock:
        await mock.arm({"effect": {"kind": "http_status", "status": status}})
        refused = await mock.client.post("/", content=b"{}")
        assert (refused.status_code, refused.json()["id"]) == (status, None)


@pytest.mark.req("ADMIN-1")
async def test_rate_limit_says_when_to_come_back(mock: "Mock") -> None:
    await mock.arm({"effect": {"kind": "rate_limited", "retry_after_seconds": 7}, "count": 1})
    limited = await mock.say("send money")
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "7")
    assert limited.json()["error"]["message"] == "Too Many Requests"
    assert (await mock.say("send money")).status_code == 200


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize("when", ["before", "after"])
async def test_delay_is_fixed_or_random(mock: "Mock", when: str) -> None:
    effect: dict[str, Json] = {"kind": "delay", "seconds": 2, "when": when}
    await mock.arm({"effect": effect}, {"effect": {**effect, "jitter_seconds": 3}})
    assert (await outcome(mock, "send money"))["words"] == "To whom?"
    fixed, random = mock.slept
    assert fixed == 2
    assert 2 < random < 5


@pytest.mark.req("ADMIN-1")
async def test_connection_is_reset_before_the_turn(mock: "Mock") -> None:
    await mock.arm({"effect": "connection_reset"})
    with pytest.raises(ConnectionResetError) as broken:
        await raw(mock, mock.turn("send money"))
    assert broken.value.args == (b"",)
    assert (await mock.admin("contexts")).json()["total"] == 0
    (received,) = (await mock.admin("requests")).json()["requests"]
    assert (received["status"], received["faults"]) == (None, ["fault-1"])


@pytest.mark.req("ADMIN-1")
async def test_connection_is_reset_after_the_turn(mock: "Mock") -> None:
    await mock.arm({"effect": {"kind": "connection_reset", "when": "after"}})
    with pytest.raises(ConnectionResetError) as broken:
        await raw(mock, mock.turn("send money"))
    assert broken.value.args == (b"",)
    (context,) = (await mock.admin("contexts")).json()["contexts"]
    assert context["state"] == "input_required"


@pytest.mark.req("ADMIN-1")
async def test_connection_is_reset_in_the_midst_of_an_answer(mock: "Mock") -> None:
    await mock.arm({"effect": {"kind": "connection_reset", "when": "during"}})
    with pytest.raises(ConnectionResetError) as broken:
        await raw(mock, mock.turn("send money"))
    head, _, body = broken.value.args[0].partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    declared = int(head.lower().partition(b"content-length: ")[2].split()[0])
    assert len(body) == declared // 2


@pytest.mark.req("ADMIN-1")
async def test_connection_is_reset_in_the_midst_of_a_stream(mock: "Mock") -> None:
    await mock.arm({"effect": {"kind": "connection_reset", "when": "during"}})
    with pytest.raises(ConnectionResetError) as broken:
        await raw(mock, mock.turn("explain the fees", method="message/stream"))
    assert broken.value.args[0].count(b"data: ") == 1


@pytest.mark.req("ADMIN-1")
async def test_body_dribbles(mock: "Mock") -> None:
    effect: Json = {"kind": "slow_dribble", "size_bytes": 100, "pause_seconds": 0.5}
    await mock.arm({"effect": effect})
    response = await mock.say("send money")
    assert response.json()["result"]["status"]["state"] == "input-required"
    pieces = -(-len(response.content) // 100)
    assert mock.slept == [0.5] * (pieces - 1)


@pytest.mark.req("ADMIN-1")
async def test_stream_dribbles_whole(mock: "Mock") -> None:
    await mock.arm({"effect": {"kind": "slow_dribble", "size_bytes": 10}})
    assert await spoken(mock) == ["working", *CHUNKS, "completed!"]
    assert mock.slept


@pytest.mark.req("ADMIN-1")
async def test_stream_is_cut_without_the_last_chunk(mock: "Mock") -> None:
    await mock.arm({"effect": {"kind": "truncated_stream", "after_events": 2}})
    with pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"):
        await spoken(mock)
    received = await raw(mock, mock.turn("explain the fees", "m2", "message/stream"))
    assert received.count(b"data: ") == 3
    assert not received.endswith(b"0\r\n\r\n")


@pytest.mark.req("ADMIN-1")
async def test_stream_is_truncated_and_ended_cleanly(mock: "Mock") -> None:
    await mock.arm({"effect": {"kind": "truncated_stream", "ending": "clean"}})
    received = await raw(mock, mock.turn("explain the fees", "m2", "message/stream"))
    assert received.count(b"data: ") == 2
    assert received.endswith(b"0\r\n\r\n")
    with pytest.raises(json.JSONDecodeError):
        await spoken(mock)


@pytest.mark.req("ADMIN-1")
@pytest.mark.parametrize(
    ("effect", "said"),
    [
        ("no_final_event", ["working", *CHUNKS]),
        (
            "duplicate_events",
            [word for word in ["working", *CHUNKS, "completed!"] for _ in range(2)],
        ),
        ("reordered_events", ["Your ", "working", "is ", "fee ", "completed!", "2 %."]),
    ],
)
async def test_events_of_a_stream_go_wrong(mock: "Mock", effect: str, said: list[str]) -> None:
    await mock.arm({"effect": effect})
    assert await spoken(mock) == said


@pytest.mark.req("ADMIN-1")
async def test_json_is_malformed(mock: "Mock") -> None:
    await mock.arm({"effect": "malformed_json"})
    response = await mock.say("send money")
    assert response.status_code == 200
    assert response.text.startswith('{"id":"r1"')
    with pytest.raises(json.JSONDecodeError):
        response.json()
    with pytest.raises(json.JSONDecodeError):
        await spoken(mock)


@pytest.mark.req("ADMIN-1")
async def test_answer_has_another_id_and_context(mock: "Mock") -> None:
    await mock.arm({"effect": "wrong_id"}, {"effect": "wrong_context_id"})
    answer = (await mock.say("send money")).json()
    assert answer["id"] == "wrong-id"
    assert answer["result"]["contextId"] == "wrong-context"
    assert answer["result"]["history"][0]["contextId"] == "wrong-context"
    (context,) = (await mock.admin("contexts")).json()["contexts"]
    assert context["context"] == "c1"


@pytest.mark.req("ADMIN-1")
async def test_content_type_lies(mock: "Mock") -> None:
    await mock.arm({"effect": "wrong_content_type"})
    answer = await mock.say("send money")
    assert answer.headers.get_list("content-type") == ["text/html"]
    stream = await mock.say("explain the fees", "m2", "message/stream")
    assert stream.headers.get_list("content-type") == ["text/html"]
    assert stream.text.startswith("data: ")


@pytest.mark.req("ADMIN-1", "STATE-1")
@pytest.mark.parametrize(
    "state", ["auth_required", "failed", "rejected", "canceled", "completed", "working"]
)
async def test_turn_ends_in_a_forced_state(mock: "Mock", state: str) -> None:
    await mock.arm({"effect": {"kind": "task_state", "state": state}, "count": 1})
    answer = await mock.send("send money")
    spelt = state.replace("_", "-")
    assert answer["status"]["state"] == spelt
    *_, data = answer["status"]["message"]["parts"]
    assert data["data"]["state"] == state
    again = (await mock.call("tasks/get", id=answer["id"]))["result"]
    assert again["status"]["state"] == spelt
    assert (await outcome(mock, "Joe", "m2"))["words"] == "Sent to Joe."


@pytest.mark.req("ADMIN-1")
async def test_task_stays_working_until_it_is_cancelled(mock: "Mock") -> None:
    await mock.arm({"effect": "stuck_working", "count": 1})
    begun = await mock.send("send money", configuration={"blocking": False})
    waiting = asyncio.create_task(mock.say("send money", "m2"))
    seen = (await mock.call("tasks/get", id=begun["id"]))["result"]
    assert seen["status"]["state"] == "working"
    assert not waiting.done()
    canceled = (await mock.call("tasks/cancel", id=begun["id"]))["result"]
    assert canceled["status"]["state"] == "canceled"
    assert (await waiting).json()["result"]["status"]["state"] == "input-required"


@pytest.mark.req("ADMIN-1")
async def test_context_is_forgotten(mock: "Mock") -> None:
    assert (await outcome(mock, "send money"))["words"] == "To whom?"
    await mock.arm({"effect": "context_evicted", "count": 1})
    forgotten = await outcome(mock, "Joe", "m2")
    assert forgotten["state"] == "rejected"
    assert (await mock.admin("contexts/c1")).json()["stack"] == []


@pytest.mark.req("ADMIN-1")
async def test_card_lies(mock: "Mock") -> None:
    merge: Json = {
        "capabilities": {"streaming": False},
        "url": "http://127.0.0.1:1/",
        "skills": None,
    }
    await mock.arm({"effect": {"kind": "lying_card", "merge": merge}})
    for path in ("/.well-known/agent-card.json", "/.well-known/agent.json"):
        card = (await mock.client.get(path)).json()
        assert card["capabilities"] == {"pushNotifications": False, "streaming": False}
        assert (card["url"], card["description"]) == ("http://127.0.0.1:1/", "A small bank")
        assert "skills" not in card
    head = await mock.client.head("/.well-known/agent-card.json")
    assert head.status_code == 200


@pytest.mark.req("ADMIN-1")
async def test_matcher_probability_and_count_decide_who_is_hit(serving: "Serving") -> None:
    async def course(seed: int) -> list[int]:
        async with serving(seed=seed) as mock:
            await mock.arm(
                {
                    "match": {"text": "^check", "headers": {"x-tenant": "acme"}},
                    "effect": {"kind": "http_status", "status": 500},
                    "probability": 0.5,
                    "count": 6,
                }
            )
            mock.let_go.set()
            other = await mock.say("check the account")
            statuses = [other.status_code]
            for number in range(20):
                sent = mock.turn("check the account", f"m{number}")
                response = await mock.post(sent, headers={"X-Tenant": "acme"})
                statuses.append(response.status_code)
            return statuses

    first, second = await course(3), await course(3)
    assert first == second
    assert first[0] == 200
    assert first.count(500) == 6


@pytest.mark.req("ADMIN-1")
async def test_faults_of_the_project_are_armed_from_the_start(serving: "Serving") -> None:
    fault = read_fault({"id": "down", "effect": {"kind": "http_status", "status": 503}, "count": 1})
    assert isinstance(fault, Fault)
    async with serving(faults=(fault,)) as mock:
        assert (await mock.client.get("/status")).status_code == 503
        assert (await mock.client.get("/status")).status_code == 200
        (view,) = (await mock.admin("faults")).json()["faults"]
        assert (view["id"], view["fired"], view["remaining"]) == ("down", 1, 0)
        await mock.client.post("/__admin/reset")
        assert (await mock.client.get("/status")).status_code == 503


async def test_long_body_is_refused_while_a_fault_is_armed(mock: "Mock") -> None:
    await mock.arm({"effect": {"kind": "delay", "seconds": 1}, "match": {"path": "/nowhere"}})
    assert (await mock.client.post("/", content=b" " * 100_001)).status_code == 413


async def test_client_that_leaves_early_is_let_go(mock: "Mock") -> None:
    await mock.arm({"effect": "wrong_id"})

    def hang_up() -> None:
        with socket.create_connection(("127.0.0.1", mock.port), timeout=60) as channel:
            channel.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
            channel.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    await asyncio.to_thread(hang_up)
    assert (await mock.client.get("/status")).status_code == 200


@pytest.mark.req("ADMIN-1")
def test_every_effect_of_a_request_is_seen_here() -> None:
    """The faults of push notifications are seen where those are."""
    written = Path(__file__).read_text()
    assert [kind for kind in KINDS if f'"{kind}"' not in written and "push" not in kind] == []
