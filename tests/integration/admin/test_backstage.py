"""Contexts, traces, events, the model and the description of the admin API."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

import httpx
import pytest

from mock_server.dialogue.model import Json

if TYPE_CHECKING:
    from tests.integration.conftest import Mock


pytestmark = pytest.mark.anyio


async def say(mock: "Mock", text: str, message_id: str) -> str:
    """The state of the turn's task."""
    return (await mock.send(text, message_id))["status"]["state"]


@pytest.mark.req("ADMIN-1", "ADMIN-2")
async def test_contexts_are_shown_with_their_slots(mock: "Mock") -> None:
    await say(mock, "send money", "m1")
    await say(mock, "Joe", "m2")
    await say(mock, "send money", "m3")
    listed = (await mock.admin("contexts")).json()
    assert listed["total"] == 1
    (context,) = listed["contexts"]
    assert (context["context"], context["active_flow"]) == ("c1", "transfer_money")
    assert (context["state"], context["unfinished"]) == ("input_required", 0)
    shown = (await mock.admin("contexts/c1")).json()
    assert shown["context"] == context
    assert shown["stack"][0]["flow"] == "transfer_money"
    assert (await mock.admin("contexts", offset=1)).json() == {"total": 1, "contexts": []}
    missing = await mock.client.get("/__admin/contexts/c2")
    assert missing.status_code == 404
    assert missing.json() == {"error": "unknown context 'c2'", "problems": []}


@pytest.mark.req("ADMIN-2")
async def test_context_has_its_events(mock: "Mock") -> None:
    await say(mock, "send money", "m1")
    await mock.say("hello", context="c2")
    asked = await mock.send("hello", "m2")
    await mock.call("tasks/cancel", id=asked["id"])
    events = (await mock.admin("contexts/c1")).json()["events"]
    said = [event["text"] for event in events if event["event"] == "UserUttered"]
    assert said == ["send money", "hello"]
    kinds = [event["event"] for event in events]
    assert kinds.index("FlowStarted") < kinds.index("FlowCancelled")
    moved = [event for event in events if event["event"] == "FrameMoved"]
    assert all(event["flow_id"] for event in moved)
    await mock.client.post("/__admin/reset")
    await say(mock, "hello", "m3")
    events = (await mock.admin("contexts/c1")).json()["events"]
    assert [e["text"] for e in events if e["event"] == "UserUttered"] == ["hello"]


@pytest.mark.req("ADMIN-2")
async def test_slots_are_shown_while_they_are_set(mock: "Mock") -> None:
    await mock.say("hello", metadata={"slots": {"recipient": "Joe"}})
    assert (await mock.admin("contexts/c1")).json()["context"]["slots"] == {"recipient": "Joe"}


@pytest.mark.req("ADMIN-2")
@pytest.mark.parametrize("method", ["message/send", "message/stream"])
async def test_turn_is_traced_on_demand(mock: "Mock", method: str) -> None:
    await say(mock, "send money", "m1")
    traced = await mock.client.post(
        "/", json=mock.turn("Joe", "m2", method), headers={"X-Mock-Trace": "1"}
    )
    trace = (await mock.admin(f"traces/{traced.headers['x-mock-trace-id']}")).json()
    assert trace["task"] in traced.text
    assert trace["context"] == "c1"
    assert [command["command"] for command in trace["commands"]] == ["SetSlot"]
    assert trace["dropped_commands"] == []
    decided, *others = trace["state_candidates"]
    assert decided == {"rule": "STATE-5", "fired": True, "reason": "completed"}
    assert "input_required" in [candidate["reason"] for candidate in others]
    tried = trace["turn"]["trace"]
    assert all(rule["reason"] for rule in tried)
    assert trace["turn"]["text"] == ["Sent to Joe."]


@pytest.mark.req("ADMIN-2")
async def test_dropped_command_is_in_the_trace(mock: "Mock") -> None:
    await say(mock, "send money", "m1")
    traced = await mock.client.post(
        "/", json=mock.turn("/SetSlots(amount=5)", "m2"), headers={"X-Mock-Trace": "1"}
    )
    trace = (await mock.admin(f"traces/{traced.headers['x-mock-trace-id']}")).json()
    assert [dropped["reason"] != "" for dropped in trace["dropped_commands"]] == [True]


@pytest.mark.req("ADMIN-2")
async def test_only_a_turn_that_runs_has_a_trace(mock: "Mock") -> None:
    untold = await mock.say("send money")
    asked = {"X-Mock-Trace": "1"}
    repeat = await mock.say("send money", headers=asked)
    other = await mock.post(mock.request("tasks/get", id="x"), asked)
    card = await mock.client.get("/.well-known/agent-card.json", headers=asked)
    assert all("x-mock-trace-id" not in r.headers for r in (untold, repeat, other, card))
    assert (await mock.client.get("/__admin/traces/trace-1")).status_code == 404


@pytest.mark.req("ADMIN-2")
@pytest.mark.parametrize("is_traced_already", [False, True])
@pytest.mark.parametrize("text", ["send money", "check the account"])
async def test_cancel_is_traced_as_the_turn_that_it_ends(
    mock: "Mock", text: str, *, is_traced_already: bool
) -> None:
    asked = {"X-Mock-Trace": "1"}
    turn = mock.turn(text, configuration={"blocking": False})
    begun = await mock.post(turn, asked if is_traced_already else None)
    task = begun.json()["result"]
    canceled = await mock.post(mock.request("tasks/cancel", id=task["id"]), asked)
    assert canceled.json()["result"]["status"]["state"] == "canceled"
    trace = (await mock.admin(f"traces/{canceled.headers['x-mock-trace-id']}")).json()
    assert (trace["task"], trace["context"]) == (task["id"], "c1")
    assert trace["turn"]["state"] == "canceled"
    assert trace["state_candidates"][0]["rule"] == "STATE-4"
    assert "FlowCancelled" in [event["event"] for event in trace["turn"]["events"]]
    again = await mock.post(mock.request("tasks/cancel", id=task["id"]), asked)
    assert again.json()["error"]["code"] == -32002
    assert "x-mock-trace-id" not in again.headers


async def test_trace_comes_when_the_turn_is_over(mock: "Mock") -> None:
    body = mock.turn("check the account", method="message/stream")
    async with mock.client.stream(
        "POST", "/", json=body, headers={"X-Mock-Trace": "1"}
    ) as response:
        trace_id = response.headers["x-mock-trace-id"]
        await mock.paused.wait()
        early = await mock.client.get(f"/__admin/traces/{trace_id}")
        assert early.status_code == 404
        assert "still runs" in early.json()["error"]
        mock.let_go.set()
        await response.aread()
    assert (await mock.admin(f"traces/{trace_id}")).json()["context"] == "c1"


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, dict[str, Json]]]:
    kind = ""
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("data: "):
            yield kind, json.loads(line[6:])


def ids(detail: dict[str, Json]) -> list[Json]:
    faults = detail.get("faults", [])
    assert isinstance(faults, list)
    return [fault["id"] for fault in faults if isinstance(fault, dict)]


@pytest.mark.req("ADMIN-2")
async def test_events_tell_what_goes_on(mock: "Mock") -> None:
    async with mock.client.stream("GET", "/__admin/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        heard = events(response)
        await mock.arm({"effect": "wrong_id", "id": "mix-up", "count": 1})
        await say(mock, "send money", "m1")
        await mock.client.post("/__admin/model/unload")
        await say(mock, "send money", "m2")
        await mock.client.post("/__admin/reset")
        told = [await anext(heard) for _ in range(6)]
        assert [kind for kind, _ in told] == ["faults", "fault", "turn", "model", "turn", "reset"]
        (_, armed), (_, fault), (_, done), (_, model), (_, failed), _ = told
        assert armed["faults"] == [
            {
                **{"id": "mix-up", "match": {}, "effect": {"kind": "wrong_id", "id": "wrong-id"}},
                **{"probability": 1.0, "count": 1, "fired": 0, "remaining": 1},
            }
        ]
        assert (fault["fault"], fault["effect"]) == ("mix-up", "wrong_id")
        assert (fault["method"], fault["context"]) == ("message/send", "c1")
        assert (done["context"], done["state"]) == ("c1", "input_required")
        assert model == {"is_loaded": False}
        assert failed["state"] == "failed"


@pytest.mark.req("ADMIN-2")
async def test_events_of_other_kinds_are_left_out(mock: "Mock") -> None:
    path = "/__admin/events?kinds=faults,model"
    async with mock.client.stream("GET", path) as response:
        heard = events(response)
        await say(mock, "send money", "m1")
        await mock.arm({"effect": "wrong_id", "id": "mix-up"})
        await mock.client.delete("/__admin/faults/mix-up")
        await mock.arm({"effect": "wrong_id", "id": "again"})
        await mock.client.delete("/__admin/faults")
        await mock.client.post("/__admin/model/unload")
        told = [await anext(heard) for _ in range(5)]
        assert [kind for kind, _ in told] == ["faults", "faults", "faults", "faults", "model"]
        assert [ids(detail) for _, detail in told] == [["mix-up"], [], ["again"], [], []]


@pytest.mark.parametrize("kinds", ["turn,weather", "", "weather"])
@pytest.mark.req("ADMIN-2")
async def test_events_of_unknown_kinds_are_refused(mock: "Mock", kinds: str) -> None:
    refused = await mock.client.get("/__admin/events", params={"kinds": kinds})
    assert refused.status_code == 422
    [problem] = refused.json()["problems"]
    assert problem["path"] == "kinds"
    assert "expected some of turn, fault, faults, reload, model, reset" in problem["text"]


@pytest.mark.req("ADMIN-2", "TURN-8")
async def test_model_is_unloaded_and_loaded(mock: "Mock") -> None:
    unloaded = await mock.client.post("/__admin/model/unload")
    assert unloaded.json() == {"is_loaded": False, "flows": 3}
    assert (await mock.admin("model")).json() == unloaded.json()
    assert await say(mock, "send money", "m1") == "failed"
    loaded = await mock.client.post("/__admin/model/load")
    assert loaded.json() == {"is_loaded": True, "flows": 3}
    assert await say(mock, "send money", "m1") == "input-required"


@pytest.mark.req("ADMIN-2")
async def test_reset_brings_back_the_beginning(mock: "Mock") -> None:
    await say(mock, "send money", "m1")
    running = asyncio.create_task(mock.say("check the account", "m2"))
    await mock.paused.wait()
    await mock.arm({"effect": "wrong_id"})
    await mock.client.post("/__admin/model/unload")
    reset = await mock.client.post("/__admin/reset")
    assert reset.json() == {"faults": [], "is_loaded": True}
    assert (await running).json()["result"]["status"]["state"] == "canceled"
    assert (await mock.admin("contexts")).json()["total"] == 0
    assert (await mock.admin("faults")).json() == {"faults": []}
    assert await say(mock, "send money", "m1") == "input-required"


@pytest.mark.req("ADMIN-2")
async def test_faults_are_listed_shown_and_disarmed(mock: "Mock") -> None:
    first, second = await mock.arm(
        {"effect": {"kind": "delay", "seconds": 1}, "match": {"context": "c1"}, "count": 2},
        {"effect": "connection_reset", "id": "gone"},
    )
    shown = (await mock.admin(f"faults/{first}")).json()
    assert shown == {
        "id": "fault-1",
        "match": {"context": "c1"},
        "effect": {"kind": "delay", "seconds": 1.0, "jitter_seconds": 0.0, "when": "before"},
        "probability": 1.0,
        "count": 2,
        "fired": 0,
        "remaining": 2,
    }
    left = await mock.client.delete(f"/__admin/faults/{second}")
    assert left.json()["faults"] == [shown]
    assert (await mock.client.get(f"/__admin/faults/{second}")).status_code == 404
    assert (await mock.client.delete(f"/__admin/faults/{second}")).status_code == 404
    assert (await mock.client.delete("/__admin/faults")).json() == {"faults": []}


@pytest.mark.req("ADMIN-1")
async def test_list_with_a_wrong_fault_arms_none(mock: "Mock") -> None:
    sent: Json = [{"effect": "wrong_id"}, {"effect": {"kind": "delay"}}]
    refused = await mock.client.post("/__admin/faults", json=sent)
    assert refused.status_code == 422
    assert refused.json()["problems"] == [{"path": "1.effect.seconds", "text": "field required"}]
    assert (await mock.admin("faults")).json() == {"faults": []}


def references(value: object) -> Iterator[str]:
    match value:
        case dict():
            for key, inner in value.items():  # pyright: ignore[reportUnknownVariableType]  # any JSON
                if key == "$ref":
                    yield str(inner)  # pyright: ignore[reportUnknownArgumentType]  # any JSON
                yield from references(inner)  # pyright: ignore[reportUnknownArgumentType]  # any JSON
        case list():
            for inner in value:  # pyright: ignore[reportUnknownVariableType]  # any JSON
                yield from references(inner)  # pyright: ignore[reportUnknownArgumentType]  # any JSON
        case _:
            pass


@pytest.mark.req("ADMIN-2")
async def test_description_has_every_route_and_schema(mock: "Mock") -> None:
    document = (await mock.admin("openapi.json")).json()
    assert document["openapi"] == "3.1.0"
    routes = {(verb, path) for path, verbs in document["paths"].items() for verb in verbs}
    assert routes == {
        ("get", "/__admin/requests"),
        ("delete", "/__admin/requests"),
        ("post", "/__admin/requests/count"),
        ("get", "/__admin/requests/near-misses"),
        ("get", "/__admin/requests/{number}"),
        ("get", "/__admin/faults"),
        ("post", "/__admin/faults"),
        ("delete", "/__admin/faults"),
        ("get", "/__admin/faults/{id}"),
        ("delete", "/__admin/faults/{id}"),
        ("post", "/__admin/reset"),
        ("get", "/__admin/contexts"),
        ("get", "/__admin/contexts/{id}"),
        ("get", "/__admin/events"),
        ("get", "/__admin/model"),
        ("post", "/__admin/model/load"),
        ("post", "/__admin/model/unload"),
        ("get", "/__admin/traces/{id}"),
    }
    named = {reference.rpartition("/")[2] for reference in references(document)}
    assert named <= document["components"]["schemas"].keys()
    ids = [
        operation["operationId"]
        for verbs in document["paths"].values()
        for operation in verbs.values()
    ]
    assert len(ids) == len({*ids})


@pytest.mark.req("ADMIN-2")
async def test_answers_are_as_described(mock: "Mock") -> None:
    await mock.arm({"effect": {"kind": "delay", "seconds": 0}})
    traced = await mock.say("send money", headers={"X-Mock-Trace": "1"})
    document = (await mock.admin("openapi.json")).json()
    schemas = document["components"]["schemas"]
    trace_id = traced.headers["x-mock-trace-id"]
    for path, name in (
        ("requests", "/__admin/requests"),
        ("requests/1", "/__admin/requests/{number}"),
        ("requests/near-misses?context=c9", "/__admin/requests/near-misses"),
        ("faults", "/__admin/faults"),
        ("faults/fault-1", "/__admin/faults/{id}"),
        ("contexts", "/__admin/contexts"),
        ("contexts/c1", "/__admin/contexts/{id}"),
        (f"traces/{trace_id}", "/__admin/traces/{id}"),
    ):
        answer = (await mock.client.get(f"/__admin/{path}")).json()
        content = document["paths"][name]["get"]["responses"]["200"]["content"]
        reference = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
        assert answer.keys() == schemas[reference]["properties"].keys(), path


@pytest.mark.parametrize(
    ("verb", "path", "status", "allowed"),
    [
        ("GET", "/__admin/nothing", 404, None),
        ("PUT", "/__admin/faults", 405, {"GET", "HEAD", "POST", "DELETE"}),
        ("GET", "/__admin", 404, None),
    ],
)
async def test_what_is_no_route_is_refused_in_json(
    mock: "Mock", verb: str, path: str, status: int, allowed: set[str] | None
) -> None:
    refused = await mock.client.request(verb, path)
    assert (refused.status_code, refused.json()["problems"]) == (status, [])
    if allowed:
        assert {*refused.headers["allow"].split(", ")} == allowed
