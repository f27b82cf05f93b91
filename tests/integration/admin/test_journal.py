"""What the journal tells of the requests that came."""

import json
from typing import TYPE_CHECKING

import pytest

from mock_server.dialogue.model import Json
from mock_server.web.journal import KEPT_BYTES_EACH

if TYPE_CHECKING:
    from tests.integration.conftest import Mock


pytestmark = pytest.mark.anyio


async def talk(mock: "Mock") -> None:
    """Five requests: two turns of a dialogue, a stream, the card and something unreadable."""
    await mock.say("send money", "m1")
    await mock.say("Joe", "m2")
    await mock.say("explain the fees", "m3", "message/stream", context="c2")
    await mock.client.get("/.well-known/agent-card.json")
    await mock.client.post("/", content=b"{")


async def numbers(mock: "Mock", **query: str | int) -> list[int]:
    listed = (await mock.admin("requests", **query)).json()["requests"]
    return [received["number"] for received in listed]


@pytest.mark.req("ADMIN-1", "ADMIN-2")
async def test_requests_are_listed_with_their_outcome(mock: "Mock") -> None:
    await talk(mock)
    listed = (await mock.admin("requests")).json()["requests"]
    keys = ("verb", "path", "method", "context", "message", "text", "status", "state", "error")
    assert [tuple(received[key] for key in keys) for received in listed] == [
        ("POST", "/", "message/send", "c1", "m1", "send money", 200, "input_required", None),
        ("POST", "/", "message/send", "c1", "m2", "Joe", 200, "completed", None),
        ("POST", "/", "message/stream", "c2", "m3", "explain the fees", 200, "completed", None),
        ("GET", "/.well-known/agent-card.json", None, None, None, None, 200, None, None),
        ("POST", "/", None, None, None, None, 200, None, -32700),
    ]
    assert [received["events"] for received in listed] == [1, 1, 6, 1, 1]
    assert all(received["seconds"] >= 0 for received in listed)


@pytest.mark.req("ADMIN-2")
async def test_list_is_filtered(mock: "Mock") -> None:
    await talk(mock)
    task = (await mock.admin("requests", message="m2")).json()["requests"][0]["task"]
    assert await numbers(mock, method="message/send") == [1, 2]
    assert await numbers(mock, method="message/*") == [1, 2, 3]
    assert await numbers(mock, context="c2") == [3]
    assert await numbers(mock, task=task) == [2]
    assert await numbers(mock, state="completed") == [2, 3]
    assert await numbers(mock, status=200, text="^send") == [1]
    assert await numbers(mock, path="/.well-known/*") == [4]
    assert await numbers(mock, status=404) == []
    assert await numbers(mock, limit=2) == [4, 5]
    assert await numbers(mock, after=3) == [4, 5]


async def test_unknown_filter_is_refused(mock: "Mock") -> None:
    refused = await mock.client.get("/__admin/requests", params={"stat": "x", "limit": "0"})
    assert refused.status_code == 422
    assert {problem["path"] for problem in refused.json()["problems"]} == {"stat", "limit"}


@pytest.mark.req("ADMIN-1", "ADMIN-2")
async def test_requests_are_counted(mock: "Mock") -> None:
    await talk(mock)

    async def count(criteria: Json) -> int:
        response = await mock.client.post("/__admin/requests/count", json=criteria)
        assert response.status_code == 200, response.text
        return response.json()["count"]

    assert await count({}) == 5
    assert await count({"method": "message/send", "context": "c1"}) == 2
    assert await count({"state": "input_required"}) == 1
    refused = await mock.client.post("/__admin/requests/count", json={"state": "done"})
    assert refused.status_code == 422
    no_expression = await mock.client.post("/__admin/requests/count", json={"text": "("})
    assert no_expression.status_code == 422
    json_type = {"content-type": "application/json"}
    unreadable = await mock.client.post("/__admin/requests/count", content=b"{", headers=json_type)
    assert (unreadable.status_code, "not JSON" in unreadable.json()["error"]) == (400, True)
    long = await mock.client.post(
        "/__admin/requests/count", content=b" " * 2_000_000, headers=json_type
    )
    assert long.status_code == 413


@pytest.mark.req("ADMIN-2")
async def test_near_misses_say_what_was_not_as_expected(mock: "Mock") -> None:
    await talk(mock)
    near = await mock.admin("requests/near-misses", context="c1", text="Jane", state="failed")
    nearest, *_ = near.json()["near_misses"]
    assert nearest["request"]["number"] == 2
    assert nearest["misses"] == [
        {"criterion": "text", "expected": "Jane", "found": "Joe"},
        {"criterion": "state", "expected": "failed", "found": "completed"},
    ]


@pytest.mark.req("ADMIN-2")
async def test_near_misses_say_why_a_fault_did_not_hit(mock: "Mock") -> None:
    (fault,) = await mock.arm(
        {"effect": "no_final_event", "match": {"headers": {"x-tenant": "acme"}}}
    )
    await talk(mock)
    near = await mock.admin("requests/near-misses", unfired=fault)
    nearest, other, *_ = near.json()["near_misses"]
    header = {"criterion": "headers.x-tenant", "expected": "acme", "found": None}
    assert (nearest["request"]["number"], nearest["misses"]) == (3, [header])
    assert [miss["criterion"] for miss in other["misses"]] == ["reach", "headers.x-tenant"]
    unknown = await mock.client.get("/__admin/requests/near-misses?unfired=nobody")
    assert unknown.status_code == 404


@pytest.mark.req("ADMIN-2")
async def test_request_is_shown_without_its_secrets(mock: "Mock") -> None:
    config: Json = {"url": "http://x/", "token": "s3cret", "authentication": {"schemes": []}}
    body = mock.turn("send money", configuration={"pushNotificationConfig": config})
    await mock.post(body, {"Authorization": "Bearer s3cret"})
    shown = await mock.admin("requests/1")
    assert "s3cret" not in shown.text
    assert shown.json()["headers"]["authorization"] == "[hidden]"
    assert shown.json()["body"]["params"]["message"] == body["params"]["message"]
    assert shown.json()["answer"]["result"]["kind"] == "task"
    assert (await mock.client.get("/__admin/requests/2")).status_code == 404


@pytest.mark.req("ADMIN-2")
async def test_request_of_any_kind_is_shown_without_its_secrets(mock: "Mock") -> None:
    config: Json = {"url": "http://x/?token=s3cret", "token": "s3cret"}
    secrets: Json = {"access_token": "s3cret", "client_secret": "s3cret"}
    body = json.dumps(
        mock.turn("send money", metadata=secrets, configuration={"pushNotificationConfig": config})
    )
    headers = {name: "s3cret" for name in ("X-Api-Key", "Api-Key", "X-Auth-Token")}
    for sent in (body, body[:-1], body[:-1] + " " * KEPT_BYTES_EACH + "}"):
        await mock.client.post("/", content=sent, headers=headers)
    for number in (1, 2, 3):
        shown = await mock.admin(f"requests/{number}")
        assert "s3cret" not in shown.text
        assert "send money" in shown.text
    (fault,) = await mock.arm({"effect": "no_final_event", "match": {"headers": {"Api-Key": "x"}}})
    near = await mock.admin("requests/near-misses", unfired=fault)
    assert "s3cret" not in near.text
    header = {"criterion": "headers.Api-Key", "expected": "x", "found": "[hidden]"}
    assert header in near.json()["near_misses"][0]["misses"]


async def test_unreadable_body_is_shown_as_text(mock: "Mock") -> None:
    await mock.client.post("/", content=b"{\xff")
    assert (await mock.admin("requests/1")).json()["body"] == "{\ufffd"


@pytest.mark.req("ADMIN-2")
async def test_journal_is_emptied(mock: "Mock") -> None:
    await talk(mock)
    assert (await mock.client.delete("/__admin/requests")).status_code == 200
    assert await numbers(mock) == []
    await mock.client.get("/status")
    assert await numbers(mock) == [6]


@pytest.mark.req("ADMIN-1")
async def test_request_is_listed_with_the_faults_that_hit_it(mock: "Mock") -> None:
    (fault,) = await mock.arm({"effect": {"kind": "http_status", "status": 500}, "count": 1})
    await talk(mock)
    assert await numbers(mock, fault=fault) == [1]
    assert await numbers(mock, status=500) == [1]


async def test_requests_of_the_admin_api_are_not_in_the_journal(mock: "Mock") -> None:
    await mock.admin("faults")
    assert await numbers(mock) == []


@pytest.mark.req("ADMIN-2", "HTTP-5")
async def test_half_of_a_surrogate_pair_is_shown_as_it_came(mock: "Mock") -> None:
    for text in ("send money", "Jo\ud800e"):
        await mock.client.post("/", content=json.dumps(mock.turn(text, context="\ud800")))
    listed = (await mock.admin("requests")).json()["requests"]
    assert [received["text"] for received in listed] == ["send money", "Jo\ud800e"]
    near = (await mock.admin("requests/near-misses", text="Jane")).json()["near_misses"]
    assert near[0]["request"]["text"] == "Jo\ud800e"
    assert (await mock.admin("contexts")).json()["contexts"][0]["context"] == "\ud800"
