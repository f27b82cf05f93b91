"""The action server's replies, over a socket."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from mock_server.actions.client import ActionClient, open_http
from mock_server.actions.story import Story
from mock_server.actions.webhook import ActionCall
from mock_server.dialogue.model import Json
from mock_server.dialogue.outcome import ActionResult
from mock_server.dialogue.state import initial_state
from mock_server.project.load import assemble

pytestmark = pytest.mark.anyio

DOMAIN = "actions: [action_x]\nslots: {name: {type: text}}\n"
FLOWS = "flows: {f: {description: d, steps: [{action: action_x}]}}"


@dataclass
class Server:
    """Says `replies` one after the other, the last again and again; `asked` are the bodies."""

    replies: list[tuple[int, bytes]]
    asked: list[dict[str, Json]] = field(default_factory=list[dict[str, Json]])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(
            int(line.partition(":")[2])
            for line in head.splitlines()
            if line.lower().startswith("content-length")
        )
        self.asked.append(json.loads(await reader.readexactly(length)))
        status, body = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        writer.write(
            b"HTTP/1.1 %d x\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b"
            % (status, len(body), body)
        )
        await writer.drain()
        writer.close()


@asynccontextmanager
async def serving(*replies: tuple[int, bytes]) -> AsyncGenerator[tuple[Server, ActionClient]]:
    server = Server(list(replies))
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with open_http(60) as http:
        yield server, ActionClient(http, f"http://127.0.0.1:{port}/webhook")
    listening.close()
    await listening.wait_closed()


def action() -> ActionCall:
    assistant = assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS})
    return ActionCall("action_x", initial_state(assistant), Story("c1"), assistant)


OK = (200, b'{"events": [{"event": "slot", "name": "name", "value": "Ada"}], "responses": []}')
DONE = ActionResult(slots=(("name", "Ada"),))


async def test_domain_is_sent_until_the_server_knows_it() -> None:
    call = action()
    async with serving(OK) as (server, client):
        assert [await client.perform(call) for _ in range(3)] == [DONE] * 3
        assert ["domain" in body for body in server.asked] == [True, False, False]


async def test_domain_is_sent_again_to_a_server_that_forgot_it() -> None:
    call = action()
    missing = (449, b'{"error": "no domain", "action_name": "action_x"}')
    async with serving(OK, missing, OK) as (server, client):
        assert [await client.perform(call) for _ in range(2)] == [DONE] * 2
        assert ["domain" in body for body in server.asked] == [True, False, True]


async def test_half_a_surrogate_pair_reaches_the_server() -> None:
    call = action()
    said = replace(call, state=replace(call.state, user_text="half \ud800"))
    async with serving(OK) as (server, client):
        assert await client.perform(said) == DONE
    (body,) = server.asked
    tracker = body["tracker"]
    assert isinstance(tracker, dict)
    message = tracker["latest_message"]
    assert isinstance(message, dict)
    assert message["text"] == "half \ud800"


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (400, b'{"error": "rejected"}', "the action server replied 400: rejected"),
        (404, b'{"error": "unknown"}', "the action server replied 404: unknown"),
        (449, b'{"error": "no domain"}', "the action server replied 449: no domain"),
        (500, b"nonsense", "the action server replied 500"),
        (500, b'{"error": 5}', "the action server replied 500"),
        (200, b"nonsense", "sent no object with events and responses"),
        pytest.param(200, b"[" * 100_000, "sent no object with events and responses", id="deep"),
        (200, b"[]", "sent no object with events and responses"),
    ],
)
async def test_reply_that_is_no_success_fails_the_action(
    status: int, body: bytes, reason: str
) -> None:
    async with serving((status, body)) as (_, client):
        result = await client.perform(action())
    assert result.failure == {"action": "action_x"}
    assert result.warnings[0].endswith(reason)


async def test_server_that_is_not_there_fails_the_action() -> None:
    async with serving(OK) as (_, client):
        pass
    async with open_http(60) as http:
        client = ActionClient(http, "http://127.0.0.1:1/webhook")
        result = await client.perform(action())
    assert result.failure == {"action": "action_x"}
    assert "http://127.0.0.1:1/webhook cannot be had: ConnectError" in result.warnings[0]
