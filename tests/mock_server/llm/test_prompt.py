"""What a model is told, and what its answer comes to."""

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
from mock_server.dialogue.state import DialogueState, apply, initial_state
from mock_server.llm.prompt import prompt, read_answer
from mock_server.project.load import assemble

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
    state = initial_state(assistant)
    for event in advance(assistant, state, UserMessage(text)):
        state = apply(state, event)
    return state


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
