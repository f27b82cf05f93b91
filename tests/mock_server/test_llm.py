"""A command generator behind a small OpenAI-compatible stand-in, its prompt and its answers."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import (
    CancelFlow,
    ChitChat,
    Clarify,
    Command,
    ContinueAgent,
    HumanHandoff,
    RepeatLastBotMessages,
    RestartAgent,
    SearchAndReply,
    SetSlot,
    SkipQuestion,
    StartFlow,
)
from mock_server.dialogue.engine import UserMessage, advance
from mock_server.dialogue.model import Json
from mock_server.dialogue.outside import LanguageModel
from mock_server.dialogue.state import (
    DialogueState,
    FlowStarted,
    GenerationRequested,
    Understood,
    initial_state,
)
from mock_server.dialogue.understanding import needs_model
from mock_server.llm import open_language_model, prompt, read_answer
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
        async with open_language_model(language_model) as generate:
            assert generate
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
        async with open_language_model(language_model) as generate:
            assert generate
            generation = await generate(ASSISTANT, state, "please transfer")
    assert generation.commands == ()
    assert generation.reason == f"{reason}; the rules decide"
    turn = advance(ASSISTANT, state, UserMessage("please transfer", asks_model=True))
    assert turn.run()[-1] == GenerationRequested("please transfer")
    events = turn.run(generation)
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
        async with open_language_model(
            LanguageModel("http://127.0.0.1:1", "small", key)
        ) as generate:
            assert generate
            generation = await generate(ASSISTANT, initial_state(ASSISTANT), "hello")
    assert generation.reason == "the model cannot be reached: ConnectError; the rules decide"
    assert key not in caplog.text


@pytest.mark.parametrize(("text", "needs"), [("/restart", 0), ("", 0), ("known", 0), ("hi", 1)])
async def test_model_is_spared_what_a_sure_rule_understands(text: str, needs: int) -> None:
    assert needs_model(ASSISTANT, initial_state(ASSISTANT), text) == bool(needs)


async def test_without_a_model_nobody_is_asked() -> None:
    async with open_language_model(None) as generate:
        assert generate is None


DOMAIN = """
slots:
  recipient: {type: text}
  speed: {type: categorical, values: [now, later]}
  urgent: {type: bool}
  tier: {type: text, mappings: [{type: controlled}]}
responses:
  utter_ask_recipient: [{text: To whom?}]
  utter_ask_speed: [{text: When?}]
  utter_ask_urgent: [{text: Urgent?}]
"""
FLOWS = """
flows:
  transfer:
    description: send money
    steps:
      - collect: recipient
        description: who gets the money
      - collect: speed
      - collect: urgent
      - collect: tier
        utter: utter_ask_speed
  secret: {description: never, if: false, steps: [{action: utter_ask_speed}]}
  broken: {description: odd, if: slots.tier < 5, steps: [{action: utter_ask_speed}]}
  gold: {description: for gold, if: slots.tier = "gold", steps: [{action: utter_ask_speed}]}
"""


@pytest.fixture(scope="module")
def bank() -> Assistant:
    return assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS})


def after(assistant: Assistant, text: str) -> DialogueState:
    turn = advance(assistant, initial_state(assistant), UserMessage(text))
    turn.run()
    return turn.state


def test_prompt_lists_flows_and_slots_that_words_may_fill(bank: Assistant) -> None:
    text = prompt(bank, initial_state(bank), "send 5 to Joe")
    assert "- transfer: send money\n" in text
    assert "  slot recipient: text; who gets the money\n" in text
    assert "  slot speed: categorical, one of now, later\n" in text
    assert "  slot urgent: bool, one of true, false\n" in text
    assert "slot tier" not in text
    assert text.endswith("The user's last message:\nsend 5 to Joe")


def test_prompt_leaves_out_flows_that_cannot_start(bank: Assistant) -> None:
    assert "- secret" not in prompt(bank, initial_state(bank), "x")
    assert "- gold" not in prompt(bank, initial_state(bank), "x")
    assert "- broken" not in prompt(bank, initial_state(bank), "x")


def test_prompt_tells_where_the_dialogue_stands(bank: Assistant) -> None:
    state = after(bank, "/StartFlow(transfer); /SetSlots(recipient=Joe)")
    text = prompt(bank, state, "x")
    assert "running flow: transfer\nslot that was asked for: speed\n" in text
    assert "slot recipient is Joe\n" in text
    assert "the assistant said: When?\n" in text


@pytest.mark.req("SLOT-1a")
def test_prompt_has_the_slots_that_come_with_the_message(bank: Assistant) -> None:
    state = after(bank, "/StartFlow(transfer)")
    turn = advance(bank, state, UserMessage("to Joe", (("tier", "gold"),), asks_model=True))
    assert turn.run()[-1] == GenerationRequested("to Joe")
    text = prompt(bank, turn.state, "to Joe")
    assert "slot tier is gold\n" in text
    assert "- gold: for gold\n" in text
    assert "the assistant said: To whom?" in text


def test_model_reads_a_message_after_a_slot_was_removed(bank: Assistant) -> None:
    older = assemble(
        {"domain.yml": DOMAIN.replace("slots:", "slots:\n  old: {type: text}"), "f.yml": FLOWS}
    )
    turn = advance(older, initial_state(older), UserMessage("/ChitChat()", (("old", "x"),)))
    turn.run()
    turn = advance(bank, turn.state, UserMessage("hello", asks_model=True))
    turn.run()
    assert "old" not in prompt(bank, turn.state, "hello")


@pytest.mark.parametrize(
    ("answer", "commands"),
    [
        ("start flow transfer\nset slot recipient Joe Doe", [
            StartFlow("transfer"), SetSlot("recipient", "Joe Doe")]),
        ("StartFlow(transfer)\nSetSlot(recipient, Joe)", [
            StartFlow("transfer"), SetSlot("recipient", "Joe")]),
        ("- cancel flow", [CancelFlow()]),
        ("1. `start flow transfer`", [StartFlow("transfer")]),
        ("disambiguate flows a, b c", [Clarify(("a", "b", "c"))]),
        ("skip question", [SkipQuestion()]),
        ("repeat message", [RepeatLastBotMessages()]),
        ("hand over", [HumanHandoff()]),
        ("Offtopic reply", [ChitChat()]),
        ("provide info", [SearchAndReply()]),
        ("search and reply", [SearchAndReply()]),
        ("continue agent", [ContinueAgent()]),
        ("restart agent cars", [RestartAgent("cars")]),
        ('set slot recipient "null"', [SetSlot("recipient", "null")]),
        ("set slot recipient null", [SetSlot("recipient", None)]),
        ("Sure! Here you are:\nstart flow transfer", [StartFlow("transfer")]),
        ("cannot handle", []),
        ("start flow", []),
        ("set slot recipient", []),
        ("disambiguate flows", []),
        ("", []),
    ],
)  # fmt: skip
def test_answer_is_read(answer: str, commands: list[Command]) -> None:
    assert list(read_answer(answer).commands) == commands


def test_reason_says_what_became_of_the_answer() -> None:
    read = read_answer("Sure!\nstart flow transfer\nBye")
    assert read.reason == "the model gave 1 command, 2 lines left out"
    assert read_answer("").reason == "the model gave no command; the rules decide"
