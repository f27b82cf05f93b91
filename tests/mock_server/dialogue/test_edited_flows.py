"""A conversation in a project that is edited under it (flows.md §5, server.md RELOAD-1)."""

import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import HandleCodeChange, Noop
from mock_server.dialogue.engine import UserMessage, advance, cancel, moved_step
from mock_server.dialogue.state import (
    BotUttered,
    DialogueState,
    FlowCancelled,
    apply,
    initial_state,
)
from mock_server.errors import ProjectError
from mock_server.llm import prompt
from mock_server.project.load import assemble

DOMAIN = """
slots:
  recipient: {type: text}
  amount: {type: float}
responses:
  utter_ask_recipient: [{text: To whom?}]
  utter_ask_amount: [{text: How much?}]
  utter_hello: [{text: Hello.}]
  utter_sent: [{text: Sent.}]
"""
FLOWS = """
flows:
  transfer:
    description: send money
    steps:
      - collect: recipient
      - collect: amount
      - action: utter_sent
  greet:
    description: greet
    steps:
      - call: transfer
      - action: utter_hello
"""
EDITS = {
    "insert a step": ("- collect: recipient", "- action: utter_hello\n      - collect: recipient"),
    "remove a step": ("      - collect: amount\n", ""),
    "ask twice": ("- collect: amount", "- collect: recipient\n      - collect: amount"),
    "rename a flow": ("transfer", "send"),
    "call another": ("call: transfer", "link: transfer"),
    "ask another": ("collect: amount", "collect: recipient"),
    "rename a slot": ("recipient", "payee"),
    "give an id": ("- collect: amount", "- id: money\n        collect: amount"),
    "change a type": ("amount: {type: float}", "amount: {type: bool}"),
    "begin with another value": (
        "recipient: {type: text}",
        "recipient: {initial_value: Ann, type: text}",
    ),
}
MESSAGES = ("/StartFlow(transfer)", "/StartFlow(greet)", "Joe", "5", "/CancelFlow()", "hm", "yes")


@cache
def version(*edits: str) -> Assistant:
    domain, flows = DOMAIN, FLOWS
    for edit in edits:
        before, after = EDITS[edit]
        domain, flows = domain.replace(before, after), flows.replace(before, after)
    return assemble({"domain.yml": domain, "data/flows.yml": flows})


def say(assistant: Assistant, state: DialogueState, message: UserMessage) -> DialogueState:
    turn = advance(assistant, state, message)
    while turn.run():
        pass
    return turn.state


def said(state: DialogueState) -> str:
    return " ".join(uttered.text for uttered in state.bot_uttered)


def begun(*texts: str) -> DialogueState:
    state = initial_state(version())
    for text in ("/StartFlow(transfer)", *texts):
        state = say(version(), state, UserMessage(text))
    return state


@pytest.mark.req("RELOAD-1")
@pytest.mark.parametrize(
    ("edit", "texts", "answer", "expected"),
    [
        ("insert a step", (), "Joe", "How much?"),
        ("insert a step", ("Joe",), "5", "Sent."),
        ("remove a step", (), "Joe", "Sent."),
        ("ask twice", (), "Joe", "How much?"),
        ("change a type", (), "Joe", "How much?"),
    ],
)
def test_conversation_goes_on_at_its_step(
    edit: str, texts: tuple[str, ...], answer: str, expected: str
) -> None:
    assert said(say(version(edit), begun(*texts), UserMessage(answer))).startswith(expected)


@pytest.mark.req("RELOAD-1")
@pytest.mark.parametrize("edit", ["remove a step", "rename a flow", "give an id"])
def test_conversation_leaves_a_step_that_is_gone(edit: str) -> None:
    state = say(version(edit), begun("Joe"), UserMessage("hm"))
    assert not any(frame.flow_id == "transfer" for frame in state.stack)


@pytest.mark.req("RELOAD-1")
def test_code_change_is_told_and_ends_what_ran() -> None:
    events = advance(version(), begun(), UserMessage("Joe", commands=(HandleCodeChange(),))).run()
    uttered = [event.text for event in events if isinstance(event, BotUttered)]
    assert len(uttered) == 1
    assert re.search("update|change", uttered[0])
    assert any(isinstance(event, FlowCancelled) for event in events)
    state = begun()
    for event in events:
        state = apply(state, event)
    assert state.stack == ()
    assert state.slots["recipient"] is None


@pytest.mark.req("RELOAD-1")
def test_slots_are_those_of_the_version_that_goes_on() -> None:
    state = say(version("rename a slot"), begun("Joe"), UserMessage("hm"))
    assert state.slots.keys() == version("rename a slot").slots.keys()


@pytest.mark.req("RELOAD-1")
def test_restart_brings_the_initial_values_of_the_version_that_goes_on() -> None:
    newer = version("begin with another value")
    assert say(newer, begun("Joe"), UserMessage("hm")).slots["recipient"] == "Joe"
    assert say(newer, begun("Joe"), UserMessage("/restart")).slots["recipient"] == "Ann"


CONFIRMED = """
  pattern_correction:
    description: ask first
    steps:
      - action: utter_hello
      - action: action_listen
      - action: action_correct_flow_slot
"""


@pytest.mark.req("RELOAD-1")
def test_correction_of_a_slot_that_is_gone_is_left_out() -> None:
    older, newer = (
        assemble(
            {"domain.yml": domain, "data/flows.yml": FLOWS.replace("recipient", name) + CONFIRMED}
        )
        for name, domain in [
            ("recipient", DOMAIN),
            ("payee", DOMAIN.replace("recipient", "payee")),
        ]
    )
    state = initial_state(older)
    for text in ("/StartFlow(transfer)", "Joe", "/SetSlots(recipient=Ann)"):
        state = say(older, state, UserMessage(text))
    assert state.stack[-1].flow_id == "pattern_correction"
    state = say(newer, state, UserMessage("yes", commands=(Noop(),)))
    assert "recipient" not in state.slots


@pytest.mark.parametrize(
    ("step_id", "expected"),
    [
        ("transfer_4_collect_amount", "transfer_1_collect_amount"),
        ("transfer_1_collect_amount", None),
        ("transfer_4_collect_note", None),
        ("other_4_collect_amount", None),
        ("money", None),
    ],
)
def test_moved_step_differs_in_its_number_only(step_id: str, expected: str | None) -> None:
    assert moved_step(version().flows["transfer"], step_id) == expected


def test_step_that_occurs_twice_has_not_moved_to_either() -> None:
    flow = version("ask another").flows["transfer"]
    assert moved_step(flow, "transfer_7_collect_recipient") is None


@pytest.mark.req("RELOAD-1")
@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sets(st.sampled_from([*EDITS]), max_size=2), st.sampled_from(MESSAGES)),
        max_size=8,
    )
)
def test_any_conversation_survives_any_edits(steps: list[tuple[set[str], str]]) -> None:
    state = initial_state(version())
    assistant = version()
    for edits, text in steps:
        try:
            assistant = version(*sorted(edits))
        except ProjectError:
            continue
        state = say(assistant, state, UserMessage(text))
        assert state.is_listening
        assert all(frame.flow_id in assistant.flows for frame in state.stack)
        assert state.slots.keys() == assistant.slots.keys()
        assert prompt(assistant, state, text)
    ending = cancel(assistant, state)
    ending.run()
    assert ending.state.stack == ()
