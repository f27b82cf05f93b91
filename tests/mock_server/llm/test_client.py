"""A command generator behind a small OpenAI-compatible stand-in."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from mock_server.dialogue.commands import StartFlow
from mock_server.dialogue.engine import UserMessage, advance
from mock_server.dialogue.events import FlowStarted, Understood
from mock_server.dialogue.language_model import LanguageModel
from mock_server.dialogue.model import Json
from mock_server.dialogue.state import initial_state
from mock_server.dialogue.understand import needs_model
from mock_server.llm.client import open_generator
from mock_server.llm.opening import open_language_model
from mock_server.project.load import assemble

pytestmark = pytest.mark.anyio

ASSISTANT = assemble(
    {
        "domain.yml": "responses: {utter_x: [{text: X}]}",
        "data/flows.yml": "flows: {transfer: {description: d, steps: [{action: utter_x}]}}",
        "mock.yml": "understand: [{match: known, commands: [StartFlow(transfer)]}]",
    }
)


@dataclass
class Endpoint:
    """Answers every request with `status` and `body`."""

    status: int
    body: bytes
    port: int = 0
    heads: list[str] = field(default_factory=list[str])
    asked: list[dict[str, Json]] = field(default_factory=list[dict[str, Json]])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        length = next(
            int(line.partition(":")[2])
            for line in head.splitlines()
            if line.lower().startswith("content-length")
        )
        self.asked.append(json.loads(await reader.readexactly(length)))
        writer.write(
            b"HTTP/1.1 %d x\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b"
            % (self.status, len(self.body), self.body)
        )
        await writer.drain()
        writer.close()


@asynccontextmanager
async def serving(status: int, body: Json) -> AsyncGenerator[Endpoint]:
    encoded = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    endpoint = Endpoint(status, encoded)
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    endpoint.port = server.sockets[0].getsockname()[1]
    yield endpoint
    server.close()
    await server.wait_closed()


def answer(content: Json) -> Json:
    return {"choices": [{"message": {"role": "assistant", "content": content}}]}


async def test_model_is_asked_as_openai_is(secret: Callable[[str], str]) -> None:
    key = secret("sk-test-generator-key")
    async with serving(200, answer("start flow transfer")) as endpoint:
        language_model = LanguageModel(f"http://127.0.0.1:{endpoint.port}/v1/", "small", key)
        async with open_generator(language_model) as generate:
            generation = await generate(ASSISTANT, initial_state(ASSISTANT), "hello \ud800")
    assert generation.commands == (StartFlow("transfer"),)
    [body] = endpoint.asked
    assert (body["model"], body["temperature"]) == ("small", 0)
    assert "POST /v1/chat/completions " in endpoint.heads[0]
    assert f"authorization: Bearer {key}".lower() in endpoint.heads[0].lower()
    assert "- transfer: d" in json.dumps(body["messages"])
    assert key not in repr(language_model)


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (500, {"error": "x"}, "the model's endpoint replied 500"),
        (401, {"error": "x"}, "the model's endpoint replied 401: look at llm.api_key"),
        (200, "nonsense", "the model's reply has no message"),
        (200, {"choices": []}, "the model's reply has no message"),
        (200, answer(None), "the model's reply has no message"),
        (200, answer("I cannot"), "the model gave no command but 'I cannot'"),
    ],
)
async def test_what_goes_wrong_leaves_the_message_to_the_rules(
    status: int, body: Json, reason: str
) -> None:
    state = initial_state(ASSISTANT)
    async with serving(status, body) as endpoint:
        language_model = LanguageModel(f"http://127.0.0.1:{endpoint.port}", "small")
        async with open_generator(language_model) as generate:
            generation = await generate(ASSISTANT, state, "please transfer")
    assert generation.commands == ()
    assert generation.reason == f"{reason}; the rules decide"
    message = UserMessage("please transfer", generation=generation)
    events = list(advance(ASSISTANT, state, message))
    [understood] = [event for event in events if isinstance(event, Understood)]
    tried = {rule.rule: rule for rule in understood.trace}
    assert (tried["llm"].fired, tried["llm"].reason) == (False, generation.reason)
    assert tried["flow"].fired
    assert FlowStarted("transfer") in events


async def test_endpoint_that_is_not_there_leaves_the_message_to_the_rules(
    caplog: pytest.LogCaptureFixture, secret: Callable[[str], str]
) -> None:
    key = secret("sk-test-unreachable-key")
    with caplog.at_level(logging.DEBUG):
        async with open_generator(LanguageModel("http://127.0.0.1:1", "small", key)) as generate:
            generation = await generate(ASSISTANT, initial_state(ASSISTANT), "hello")
    assert generation.reason == "the model cannot be reached: ConnectError; the rules decide"
    assert key not in caplog.text


@pytest.mark.parametrize(("text", "needs"), [("/restart", 0), ("", 0), ("known", 0), ("hi", 1)])
async def test_model_is_spared_what_a_sure_rule_understands(text: str, needs: int) -> None:
    assert needs_model(ASSISTANT, initial_state(ASSISTANT), text) == bool(needs)


async def test_without_a_model_nobody_is_asked() -> None:
    async with open_language_model(None) as generate:
        assert generate is None
