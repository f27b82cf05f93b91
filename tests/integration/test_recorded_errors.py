"""Whatever a2a-sdk 0.3.26 answered with an error, the mock answers with the same bytes."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pydantic
import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Mock


pytestmark = pytest.mark.anyio

# Where the specification decides otherwise than a2a-sdk 0.3.26 did.
PARSE_ERROR = '{"error":{"code":-32700,"message":"Invalid JSON payload"},"jsonrpc":"2.0"}'
PUSH_IS_OFF = (
    '{"error":{"code":-32004,"message":"Push notifications are not supported by the agent"},'
    '"id":"r1","jsonrpc":"2.0"}'
)
DECISIONS = {
    # HTTP-5a: no reply carries a Python exception's text.
    "parse error": PARSE_ERROR,
    "empty body": PARSE_ERROR,
    # HTTP-5a: undecodable UTF-8 and over-deep nesting are parse errors.
    "bad utf8": PARSE_ERROR,
    "deep nest": PARSE_ERROR,
    # PUSH-1: push is off, and was on when this was recorded.
    "push set unknown task": PUSH_IS_OFF,
    # TURN-2: a task of another context is not found.
    "send ctx mismatch": (
        '{"error":{"code":-32001,"message":"Task <waiting> was specified but does not exist"},'
        '"id":"r1","jsonrpc":"2.0"}'
    ),
}
# These failed because of what the recorded agent is, not because of what was sent.
NOT_COMPARED = {
    "send boom (executor raises)": "an exception of the recorded agent",
    "stream boom": "an exception of the recorded agent",
    "send on terminal task": "TURN-2: the next message of a context begins a new task",
}


@dataclass(frozen=True)
class Exchange:
    name: str
    request: bytes
    reply: str


def recorded_errors(recording: str) -> list[Exchange]:
    """The exchanges whose reply, or whose stream's only event, is an error."""
    found: list[Exchange] = []
    for block in recording.split("\n### ")[1:]:
        name, _, rest = block.partition("\n")
        match = re.search(r"^REQ (.*)\n(?:HTTP 200 .*\n|EXC)(.*)", rest, re.MULTILINE)
        if match and ('"error":{' in match[2]):
            found.append(Exchange(name, _request(name, match[1]), match[2]))
    return found


def _request(name: str, written: str) -> bytes:
    if name == "deep nest":
        return b"[" * 50_000
    if written.startswith("b'"):
        value = ast.literal_eval(written)
        assert isinstance(value, bytes)
        return value
    return written.encode()


@pytest.mark.req("HTTP-5", "HTTP-5a")
async def test_errors_are_those_of_the_recorded_server(shared: Path, mock: "Mock") -> None:
    exchanges = recorded_errors((shared / "wire" / "sdk0326_v03.txt").read_text())
    assert len(exchanges) > 40
    differing: dict[str, tuple[str, str]] = {}
    names = await _tasks_of_the_recording(mock)
    for exchange in exchanges:
        if exchange.name in NOT_COMPARED:
            continue
        body = exchange.request
        expected = DECISIONS.get(exchange.name, exchange.reply)
        for placeholder, identity in names.items():
            body = body.replace(placeholder.encode(), identity.encode())
            expected = expected.replace(placeholder, identity)
        headers = {"content-type": "application/json"}
        response = await mock.client.post("/", content=body, headers=headers)
        assert response.status_code == 200
        if _normal(response.text) != _normal(expected):
            differing[exchange.name] = (_normal(response.text), _normal(expected))
    assert not differing


async def _tasks_of_the_recording(mock: "Mock") -> dict[str, str]:
    """Tasks in the state in which the recorded ones were, by their placeholders."""
    metadata = {"slots": {"recipient": "Joe"}}
    completed = await mock.send(
        "send money SLOTS", "m", context=None, fields={"metadata": metadata}
    )
    canceled = await mock.send("send money", "m", context=None)
    await mock.call("tasks/cancel", id=canceled["id"])
    waiting = await mock.send("send money", "m", context=None)
    return {
        "<uuid0>": completed["contextId"],
        "<uuid1>": completed["id"],
        "<uuid6>": waiting["contextId"],
        "<uuid7>": waiting["id"],
        "<waiting>": waiting["id"],
        "<uuid11>": canceled["id"],
        "<host>": "127.0.0.1",
    }


def _normal(reply: str) -> str:
    """Without the parts that depend on pydantic's version and on how the recording was written."""
    if reply.startswith("'"):
        reply = ast.literal_eval(reply)
    version = pydantic.VERSION.rpartition(".")[0]
    return reply.replace("errors.pydantic.dev/2.14/", f"errors.pydantic.dev/{version}/")
