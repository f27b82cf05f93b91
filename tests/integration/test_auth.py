"""The bearer token over a real socket."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING

import httpx
import jwt
import pytest

from mock_server.project.endpoints import JwtAuth

if TYPE_CHECKING:
    from tests.integration.conftest import Mock, Serving


pytestmark = pytest.mark.anyio


CARDS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
REFUSAL = '{"error":{"code":-32000,"message":"Unauthorized"},"id":null,"jsonrpc":"2.0"}'


@pytest.fixture(scope="module")
def auth(secret: Callable[[str], str]) -> JwtAuth:
    return JwtAuth("HS256", secret("between the orchestrator and the bank, 32 bytes").encode())


@pytest.fixture
def token(auth: JwtAuth, secret: Callable[[str], str]) -> str:
    return secret(jwt.encode({"exp": time.time() + 600}, auth.key, auth.algorithm))


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@pytest.fixture
async def mock(serving: "Serving", auth: JwtAuth) -> AsyncGenerator["Mock"]:
    async with serving(auth=auth, timeout_seconds=0) as mock:
        yield mock


def is_refused(response: httpx.Response) -> bool:
    return (response.status_code, response.headers.get("www-authenticate")) == (401, "Bearer")


@pytest.mark.req("AUTH-1", "AUTH-1a", "HTTP-5")
async def test_call_without_a_token_is_refused_in_json_rpc(mock: "Mock") -> None:
    for headers in ({}, bearer("x"), {"authorization": "Basic eDp5"}):
        response = await mock.say("send money", "m1", headers=headers)
        assert is_refused(response)
        assert response.headers["content-type"] == "application/json"
        assert response.text == REFUSAL


@pytest.mark.req("AUTH-1")
@pytest.mark.parametrize("path", CARDS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_card_needs_the_token_too(mock: "Mock", token: str, path: str, method: str) -> None:
    assert is_refused(await mock.client.request(method, path))
    allowed = await mock.client.request(method, path, headers=bearer(token))
    assert allowed.status_code == 200


@pytest.mark.req("AUTH-1", "AUTH-2")
async def test_token_opens_every_operation(mock: "Mock", token: str) -> None:
    said = await mock.say("send money", "m1", headers=bearer(token))
    task = said.json()["result"]
    assert task["status"]["state"] == "input-required"
    stream = mock.turn("Joe", "m2", "message/stream")
    streamed = await mock.post(stream, headers=bearer(token))
    assert '"state":"completed"' in streamed.text
    for method in ("tasks/get", "tasks/cancel", "tasks/resubscribe", "no/such"):
        body = mock.request(method, id=task["id"])
        assert is_refused(await mock.post(body))
        known = await mock.post(body, headers=bearer(token))
        assert known.status_code == 200


@pytest.mark.req("AUTH-3")
async def test_status_is_open(mock: "Mock") -> None:
    assert (await mock.client.get("/status")).status_code == 200
    assert (await mock.client.get("/")).status_code == 405


@pytest.mark.req("AUTH-1a")
async def test_refusal_comes_before_the_body(mock: "Mock") -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", mock.port)
    writer.write(b"POST / HTTP/1.1\r\nhost: mock\r\ncontent-length: 9999999\r\n\r\n{")
    answer = await reader.readuntil(b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 401 ")
    writer.close()


@pytest.mark.req("AUTH-1")
async def test_client_that_writes_on_sees_the_refusal(mock: "Mock") -> None:
    response = await mock.client.post("/", content=b" " * 20_000_000)
    assert is_refused(response)


@pytest.mark.req("AUTH-2", "LOG-1")
async def test_refusal_is_logged_with_its_reason_and_without_the_token(
    mock: "Mock",
    auth: JwtAuth,
    secret: Callable[[str], str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    late = secret(jwt.encode({"exp": time.time() - 1}, auth.key, auth.algorithm))
    await mock.post({}, headers=bearer(late))
    (record,) = [r for r in caplog.records if "auth_rejected" in r.getMessage()]
    assert "a2a_server.sanic_app.auth_rejected" in record.getMessage()
    assert "it has expired" in record.getMessage()
    assert late.split(".")[2] not in caplog.text


@pytest.mark.req("STATE-1", "AUTH-1", "TURN-4")
async def test_token_that_expires_in_the_queue_makes_auth_required(
    mock: "Mock", auth: JwtAuth, token: str, secret: Callable[[str], str]
) -> None:
    slow = mock.turn("check the account", "m1")
    first = asyncio.create_task(mock.post(slow, headers=bearer(token)))
    await mock.paused.wait()
    queued = mock.turn("send money", "m2", configuration={"blocking": False})
    begun = await mock.post(queued, headers=bearer(token))
    task_id = begun.json()["result"]["id"]
    mock.pass_time(601)
    mock.let_go.set()
    assert (await first).json()["result"]["status"]["state"] == "completed"
    longer = secret(jwt.encode({"exp": time.time() + 9999}, auth.key, auth.algorithm))
    get = mock.request("tasks/get", id=task_id)
    task = (await mock.post(get, headers=bearer(longer))).json()["result"]
    assert task["status"]["state"] == "auth-required"
    (part,) = task["status"]["message"]["parts"]
    assert part["data"] == {"state": "auth_required", "active_flow": None, "slots": {}}
    again = await mock.say("send money", "m2", headers=bearer(longer))
    assert again.json()["result"]["status"]["state"] == "input-required"
