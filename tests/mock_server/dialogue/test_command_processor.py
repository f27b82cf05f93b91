"""The rules by which a message's commands are kept, changed or dropped (flows.md §5)."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import Clarify, SetSlot, StartFlow
from mock_server.dialogue.engine import UserMessage
from mock_server.dialogue.model import CollectStep
from mock_server.dialogue.state import (
    BotUttered,
    CommandDropped,
    DialogueState,
    Event,
    FlowInterrupted,
    FlowResumed,
    FlowStarted,
    FramePushed,
    SlotSet,
    SlotSource,
)

Converse = Callable[..., tuple[DialogueState, list[list[Event]]]]

ASKED = "StartFlow(transfer)"


def responses(turn: Iterable[Event]) -> list[str | None]:
    return [event.response for event in turn if isinstance(event, BotUttered)]


def reasons(turn: Iterable[Event]) -> list[str]:
    return [event.reason for event in turn if isinstance(event, CommandDropped)]


def is_rejected(turn: Iterable[Event]) -> bool:
    return any(
        isinstance(event, FramePushed) and event.frame.flow_id == "pattern_cannot_handle"
        for event in turn
    )


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("StartFlow(nowhere)", "there is no such flow"),
        ("StartFlow(pattern_chitchat)", "there is no such flow"),
        ("StartFlow(unlock)", "the flow's condition does not hold"),
        ("StartFlow(timing)", "the flow's condition does not hold"),
        ("SetSlot(nothing, 1)", "there is no such slot"),
        ("SetSlot(note, hello)", "no flow that runs collects the slot"),
        ("SetSlot(tier, gold)", "the user's words do not fill the slot"),
        ("SetSlot(tags, x)", "a list slot is set by actions only"),
        ("CancelFlow()", "there is no flow to cancel"),
    ],
)
def test_command_without_effect_cannot_be_handled(
    bank: Assistant, converse: Converse, command: str, reason: str
) -> None:
    _, [turn] = converse(bank, [command])
    assert reasons(turn) == [reason]
    assert is_rejected(turn)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("StartFlow(transfer)", "the flow runs already"),
        ("SetSlot(recipient, Joe)", "the slot has that value"),
        ("SetSlot(amount, null)", "the slot has that value"),
        ("Noop()", "it asks for nothing"),
    ],
)
def test_command_that_is_settled_repeats_the_question_only(
    bank: Assistant, converse: Converse, command: str, reason: str
) -> None:
    _, turns = converse(bank, [ASKED, "SetSlot(recipient, Joe)", command])
    assert reasons(turns[-1]) == [reason]
    assert responses(turns[-1]) == ["utter_ask_amount"]


def test_no_command_cannot_be_handled(bank: Assistant, converse: Converse) -> None:
    _, [turn] = converse(bank, [UserMessage("?", commands=())])
    assert is_rejected(turn)


@pytest.mark.parametrize("name", ["note", "tier"])
def test_button_may_fill_what_a_flow_that_could_start_collects(
    bank: Assistant, converse: Converse, name: str
) -> None:
    button = UserMessage("", commands=(SetSlot(name, "x", is_direct=True),))
    state, [turn] = converse(bank, [button])
    assert (state.slots[name] == "x") is (name == "note")
    assert not is_rejected(turn)


def test_button_for_an_unknown_slot_is_settled(bank: Assistant, converse: Converse) -> None:
    button = UserMessage("", commands=(SetSlot("nothing", 1, is_direct=True),))
    _, [turn] = converse(bank, [button])
    assert reasons(turn) == ["there is no such slot"]
    assert not is_rejected(turn)


def test_nlu_trigger_passes_the_guard(bank: Assistant, converse: Converse) -> None:
    trigger = UserMessage("/unlock", commands=(StartFlow("unlock", is_trigger=True),))
    _, [turn] = converse(bank, [trigger])
    assert FlowStarted("unlock") in turn


def test_guard_that_cannot_be_evaluated_is_shut(bank: Assistant, converse: Converse) -> None:
    guarded = replace(bank.flows["memo"], guard="slots.note < 5")
    assistant = replace(bank, flows={**bank.flows, "memo": guarded})
    _, [turn] = converse(assistant, ["StartFlow(memo)"])
    assert is_rejected(turn)
    assert reasons(turn)[0].startswith("the flow's condition cannot be evaluated")


def test_several_flows_run_in_the_order_named(bank: Assistant, converse: Converse) -> None:
    state, [turn] = converse(bank, ["StartFlow(balance);StartFlow(memo)"])
    assert responses(turn) == ["utter_balance", "utter_ask_note"]
    assert not any(isinstance(e, FlowInterrupted) for e in turn)
    assert state.stack[0].flow_id == "memo"


def test_flow_named_twice_starts_once(bank: Assistant, converse: Converse) -> None:
    _, [turn] = converse(bank, ["StartFlow(memo);StartFlow(memo)"])
    assert [e for e in turn if isinstance(e, FlowStarted)] == [FlowStarted("memo")]


def test_flow_that_is_offered_goes_on_when_it_is_named(bank: Assistant, converse: Converse) -> None:
    _, turns = converse(bank, [ASKED, "StartFlow(memo)", "SetSlot(note, hello)", ASKED])
    assert FlowResumed("transfer", "transfer_0_collect_recipient") in turns[-1]
    assert not any(isinstance(e, FlowInterrupted | CommandDropped) for e in turns[-1])
    assert responses(turns[-1]) == ["utter_ask_recipient"]


def test_several_flows_may_be_clarified_instead(bank: Assistant, converse: Converse) -> None:
    asking = replace(bank, clarify_on_multiple_starts=True)
    _, [turn] = converse(asking, ["StartFlow(transfer);StartFlow(memo)"])
    assert responses(turn) == ["utter_clarification_options_rasa"]


def test_clarification_of_one_flow_starts_it(bank: Assistant, converse: Converse) -> None:
    _, [turn] = converse(bank, ["Clarify(memo, unlock)"])
    assert FlowStarted("memo") in turn


def test_clarification_gives_way_to_other_commands(bank: Assistant, converse: Converse) -> None:
    _, [turn] = converse(bank, ["Clarify(memo, balance);StartFlow(transfer)"])
    assert CommandDropped(Clarify(("memo", "balance")), "other commands are clear") in turn
    assert responses(turn) == ["utter_ask_recipient"]


def test_no_clarification_above_an_interruption(bank: Assistant, converse: Converse) -> None:
    _, turns = converse(bank, [ASKED, "StartFlow(memo)", "Clarify(balance, account)"])
    assert reasons(turns[-1]) == ["the flow that runs interrupts another one"]
    assert is_rejected(turns[-1])


def test_forced_slot_drops_every_other_command(bank: Assistant, converse: Converse) -> None:
    forced = ["StartFlow(account)", "SetSlot(iban, DE1)"]
    _, turns = converse(bank, [*forced, "StartFlow(memo);SetSlot(iban, DE2)"])
    assert reasons(turns[-1]) == ["slot 'limit' is to be filled first"] * 2
    assert is_rejected(turns[-1])
    assert responses(turns[-1])[-1] == "utter_ask_limit"


def test_forced_slot_takes_its_value(bank: Assistant, converse: Converse) -> None:
    forced = ["StartFlow(account)", "SetSlot(iban, DE1)"]
    state, turns = converse(bank, [*forced, "SetSlot(limit, 5);ChitChat()"])
    assert SlotSet("limit", "5", SlotSource.USER) in turns[-1]
    assert state.stack == ()


def test_pattern_may_force_its_slot_too(bank: Assistant, converse: Converse) -> None:
    completed = bank.flows["pattern_completed"]
    [first, *others] = completed.steps.values()
    assert isinstance(first, CollectStep)
    steps = {first.id: replace(first, force_slot_filling=True), **{s.id: s for s in others}}
    forcing = {**bank.flows, completed.id: replace(completed, steps=steps)}
    _, turns = converse(replace(bank, flows=forcing), ["StartFlow(balance)", "StartFlow(memo)"])
    assert reasons(turns[-1]) == ["slot 'continue_conversation' is to be filled first"]


def test_forced_slot_lets_errors_pass(bank: Assistant, converse: Converse) -> None:
    forced = ["StartFlow(account)", "SetSlot(iban, DE1)"]
    _, turns = converse(bank, [*forced, UserMessage("")])
    assert responses(turns[-1]) == ["utter_user_input_empty_error_rasa", "utter_ask_limit"]


def test_any_value_that_fits_no_type_of_its_slot_is_left_out(
    bank: Assistant, converse: Converse
) -> None:
    message = UserMessage("", commands=(SetSlot("recipient", ["Joe"]),))
    state, turns = converse(bank, [ASKED, message])
    assert state.slots["recipient"] is None
    assert responses(turns[-1]) == ["utter_ask_recipient"]
