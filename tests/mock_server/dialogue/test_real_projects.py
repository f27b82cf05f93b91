"""Conversations with public assistants that nobody here wrote."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import StartFlow
from mock_server.dialogue.engine import UserMessage
from mock_server.dialogue.outside import ActionResult, Utterance
from mock_server.dialogue.state import (
    ActionRequested,
    BotUttered,
    DialogueState,
    Event,
    FlowCompleted,
    Listened,
)
from mock_server.project.load import load_project

pytestmark = pytest.mark.shared

Converse = Callable[..., tuple[DialogueState, list[list[Event]]]]

BANK = "starterpack-retail-banking-en"
PROJECTS = (
    BANK,
    "starterpack-telco-en",
    "rasa-quickstart",
    "calm-summit-masterclass-assistant",
)

BANKING_ACTIONS = {
    "action_ask_account_from": ActionResult(utterances=(Utterance("Which account?"),)),
    "action_check_payee_existence": ActionResult(slots=(("payee_exists", True),)),
    "action_check_sufficient_funds": ActionResult(slots=(("sufficient_funds", True),)),
    "action_validate_payment_date": ActionResult(slots=(("future_payment_date", True),)),
    "action_add_payee": ActionResult(slots=(("payee_added", True),)),
}


def load(shared: Path, name: str) -> Assistant:
    folder = shared / "projects" / name
    return load_project(folder, environment={}, description=name, relax=True).assistant


def last_response(turn: Iterable[Event]) -> str | None:
    return [event.response for event in turn if isinstance(event, BotUttered)][-1]


def completed(turn: Iterable[Event]) -> list[str]:
    return [event.flow_id for event in turn if isinstance(event, FlowCompleted)]


def test_transfer_is_driven_to_completion(shared: Path, converse: Converse) -> None:
    messages = [
        "/StartFlow(transfer_money)",
        "12345678",
        "Amy",
        "0",
        "55.55",
        "/SetSlots(timing=now)",
        "sorry, I meant 65",
        "yes",
    ]
    state, turns = converse(
        load(shared, BANK), [UserMessage(text) for text in messages], BANKING_ACTIONS
    )
    assert [last_response(turn) for turn in turns] == [
        None,
        "utter_ask_payee_name",
        "utter_ask_amount",
        "utter_ask_amount",
        "utter_ask_timing",
        "utter_ask_confirm_immediate_payment",
        "utter_ask_confirm_immediate_payment",
        "utter_transfer_successful",
    ]
    assert completed(turns[-1]) == ["transfer_money"]
    assert ActionRequested("action_process_immediate_payment") in turns[-1]
    assert state.stack == ()
    assert state.slots["amount"] is None


def test_seeded_slots_skip_the_questions_of_a_transfer(shared: Path, converse: Converse) -> None:
    seeds = (("account_from", "1"), ("payee_name", "Amy"), ("amount", 5.0), ("timing", "future"))
    messages = [UserMessage("/StartFlow(transfer_money)", seeds), UserMessage("12/12/2030")]
    _, turns = converse(load(shared, BANK), messages, BANKING_ACTIONS)
    assert last_response(turns[0]) == "utter_ask_payment_date"
    assert last_response(turns[1]) == "utter_ask_confirm_future_payment"


def test_unknown_payee_is_added_by_the_called_flow(shared: Path, converse: Converse) -> None:
    unknown = {"action_check_payee_existence": ActionResult(slots=(("payee_exists", False),))}
    seeds = (("account_from", "1"), ("payee_name", "Zoe"))
    state, [turn] = converse(
        load(shared, BANK),
        [UserMessage("/StartFlow(transfer_money)", seeds)],
        {**BANKING_ACTIONS, **unknown},
    )
    assert [frame.flow_id for frame in state.stack][:2] == ["transfer_money", "add_payee"]
    assert turn[-1] == Listened()


@pytest.mark.parametrize("name", PROJECTS)
def test_every_flow_can_be_begun_and_cancelled(shared: Path, converse: Converse, name: str) -> None:
    assistant = load(shared, name)
    for flow in assistant.flows.values():
        if flow.is_pattern:
            continue
        start = UserMessage("", commands=(StartFlow(flow.id, is_trigger=True),))
        state, turns = converse(assistant, [start, "CancelFlow()"])
        assert turns[0][-1] == Listened()
        assert not any(frame.flow_id == flow.id for frame in state.stack)
