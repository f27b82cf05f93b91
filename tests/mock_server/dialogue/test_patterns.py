"""The default patterns, as a user meets them."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.engine import UserMessage
from mock_server.dialogue.state import (
    BotUttered,
    DialogueState,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowInterrupted,
    FlowResumed,
    FlowStarted,
    FramePushed,
    Restarted,
)

Converse = Callable[..., tuple[DialogueState, list[list[Event]]]]

INTERRUPTED = ("StartFlow(transfer)", "StartFlow(memo)", "SetSlot(note, hello)")
DONE = ("StartFlow(balance)",)


def responses(turn: Iterable[Event]) -> list[str | None]:
    return [event.response for event in turn if isinstance(event, BotUttered)]


def texts(turn: Iterable[Event]) -> list[str]:
    return [event.text for event in turn if isinstance(event, BotUttered)]


def flows(state: DialogueState) -> list[str]:
    return [frame.flow_id for frame in state.stack]


def context_of(turn: Iterable[Event], pattern: str) -> object:
    return next(
        e.frame.context for e in turn if isinstance(e, FramePushed) and e.frame.flow_id == pattern
    )


@pytest.mark.parametrize(
    ("command", "response"),
    [
        ("ChitChat()", "utter_cannot_handle"),
        ("SearchAndReply()", "utter_no_knowledge_base"),
        ("SkipQuestion()", "utter_skip_question_answer"),
        ("HumanHandoff()", "utter_human_handoff_not_available"),
        ("CannotHandle()", "utter_ask_rephrase"),
        ("CannotHandle(cannot_handle_chitchat)", "utter_cannot_handle"),
        ("CannotHandle(cannot_handle_not_supported)", "utter_cannot_handle"),
        ("CannotHandle(cannot_handle_no_relevant_answer)", "utter_no_relevant_answer_found"),
        ("Error(whatever)", "utter_internal_error_rasa"),
        ("Clarify()", "utter_clarification_no_options_rasa"),
    ],
)
def test_pattern_answers_and_the_question_is_asked_again(
    bank: Assistant, converse: Converse, command: str, response: str
) -> None:
    state, turns = converse(bank, ["StartFlow(transfer)", command])
    assert responses(turns[-1]) == [response, "utter_ask_recipient"]
    assert flows(state) == ["transfer", "pattern_collect_information"]


def test_cannot_handle_names_the_flow_it_happened_in(bank: Assistant, converse: Converse) -> None:
    _, turns = converse(bank, ["CannotHandle()", "StartFlow(transfer)", "CannotHandle(why)"])
    outside, _, inside = turns
    assert context_of(outside, "pattern_cannot_handle") == {"reason": None, "user_flow": None}
    assert context_of(inside, "pattern_cannot_handle") == {"reason": "why", "user_flow": "transfer"}


def test_too_long_input_is_told_the_limit(bank: Assistant, converse: Converse) -> None:
    strict = Assistant(
        flows=bank.flows, slots=bank.slots, responses=bank.responses, max_characters=5
    )
    _, [turn] = converse(strict, [UserMessage("much too long")])
    assert texts(turn) == ["Your message is too long. Please keep it within 5 characters."]


def test_clarification_lists_the_flows_by_name(bank: Assistant, converse: Converse) -> None:
    state, [turn] = converse(bank, ["Clarify(transfer, memo, nowhere, unlock)"])
    assert texts(turn) == ["Which of these do you mean: transfer money, leave a note?"]
    assert state.stack == ()


def test_clarification_offers_no_more_than_the_limit(bank: Assistant, converse: Converse) -> None:
    _, [turn] = converse(bank, ["Clarify(transfer, memo, balance, account)"])
    assert texts(turn) == ["Which of these do you mean: transfer money, leave a note, balance?"]


def test_repeat_says_the_last_messages_and_the_question_once(
    bank: Assistant, converse: Converse
) -> None:
    _, turns = converse(bank, ["StartFlow(transfer)", "ChitChat()", "RepeatLastBotMessages()"])
    assert responses(turns[-1]) == ["utter_cannot_handle", "utter_ask_recipient"]


def test_repeat_outside_a_flow(bank: Assistant, converse: Converse) -> None:
    _, turns = converse(bank, ["ChitChat()", "RepeatLastBotMessages()"])
    assert responses(turns[-1]) == ["utter_cannot_handle"]


@pytest.mark.req("STATE-4")
def test_cancelled_flow_is_named_and_its_slots_reset(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(
        bank, ["StartFlow(transfer);SetSlot(recipient, Joe);SetSlot(amount, 5)", "CancelFlow()"]
    )
    assert texts(turns[-1]) == ["All right, I stop here: transfer money."]
    assert [e.flow_id for e in turns[-1] if isinstance(e, FlowCancelled)] == ["timing", "transfer"]
    assert state.slots["amount"] is None
    assert state.stack == ()


def test_cancel_and_another_flow_in_one_message(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(
        bank, ["StartFlow(transfer)", "CancelFlow();StartFlow(memo);SetSlot(note, hi)"]
    )
    said = responses(turns[-1])
    assert said[:3] == ["utter_flow_cancelled_rasa", "utter_noted", "utter_balance"]
    assert flows(state) == ["pattern_completed", "pattern_collect_information"]


def test_cancelled_flow_may_begin_anew_with_values(bank: Assistant, converse: Converse) -> None:
    state, _ = converse(
        bank,
        [
            "StartFlow(transfer);SetSlot(recipient, Joe);SetSlot(amount, 5)",
            "CancelFlow();StartFlow(transfer);SetSlot(amount, 7)",
        ],
    )
    assert state.slots["amount"] == 7.0
    assert flows(state)[0] == "transfer"


def test_cancelled_interruption_asks_to_continue(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(bank, [*INTERRUPTED[:2], "CancelFlow()"])
    assert responses(turns[-1]) == [
        "utter_flow_cancelled_rasa",
        "utter_ask_continue_interrupted_flow_confirmation",
    ]
    assert flows(state)[0] == "transfer"


def test_cancelled_interruption_hands_on_what_it_interrupted(
    bank: Assistant, converse: Converse
) -> None:
    messages = [*INTERRUPTED[:2], "CancelFlow();StartFlow(balance)"]
    _, turns = converse(bank, messages)
    assert responses(turns[-1]) == [
        "utter_flow_cancelled_rasa",
        "utter_balance",
        "utter_ask_continue_interrupted_flow_confirmation",
    ]


def test_interrupted_flow_is_offered_when_the_other_ends(
    bank: Assistant, converse: Converse
) -> None:
    _, turns = converse(bank, INTERRUPTED)
    assert FlowInterrupted("transfer", "transfer_0_collect_recipient") in turns[1]
    assert texts(turns[-1])[-1] == "Shall I go on with this: transfer money?"


def test_interrupted_flow_goes_on(bank: Assistant, converse: Converse) -> None:
    messages = [*INTERRUPTED, "SetSlot(continue_interrupted_flow_confirmation, yes)"]
    state, turns = converse(bank, messages)
    assert FlowResumed("transfer", "transfer_0_collect_recipient") in turns[-1]
    assert responses(turns[-1]) == ["utter_ask_recipient"]
    assert flows(state) == ["transfer", "pattern_collect_information"]


def test_interrupted_flow_is_given_up(bank: Assistant, converse: Converse) -> None:
    messages = [*INTERRUPTED, "SetSlot(continue_interrupted_flow_confirmation, no)"]
    state, turns = converse(bank, messages)
    assert FlowCancelled("transfer", "transfer_0_collect_recipient") in turns[-1]
    assert state.stack == ()


def test_one_of_several_interrupted_flows_is_chosen(bank: Assistant, converse: Converse) -> None:
    messages = ["StartFlow(transfer)", "StartFlow(memo)", "StartFlow(balance)"]
    state, turns = converse(bank, messages)
    assert texts(turns[-1])[-1].startswith(
        "With which of these shall I go on: leave a note, transfer money?"
    )
    state, turns = converse(
        bank, ["SetSlot(interrupted_flow_to_continue, Transfer money)"], state=state
    )
    assert [e.flow_id for e in turns[-1] if isinstance(e, FlowResumed)] == ["transfer"]
    assert responses(turns[-1]) == ["utter_ask_recipient"]
    assert flows(state) == [
        "memo",
        "pattern_collect_information",
        "transfer",
        "pattern_collect_information",
    ]
    _, turns = converse(bank, ["CancelFlow()"], state=state)
    assert texts(turns[-1])[-1] == "Shall I go on with this: leave a note?"


def test_unknown_choice_continues_the_latest(bank: Assistant, converse: Converse) -> None:
    messages = ["StartFlow(transfer)", "StartFlow(memo)", "StartFlow(balance)"]
    choice = "SetSlot(interrupted_flow_to_continue, the usual)"
    state, turns = converse(bank, [*messages, choice])
    assert responses(turns[-1]) == ["utter_ask_note"]
    assert flows(state)[0] == "transfer"


@pytest.mark.parametrize("said", ["none", "no", "Neither of them"])
def test_no_choice_gives_up_all(bank: Assistant, converse: Converse, said: str) -> None:
    messages = ["StartFlow(transfer)", "StartFlow(memo)", "StartFlow(balance)"]
    choice = UserMessage(said)
    state, turns = converse(bank, [*messages, choice])
    assert [e.flow_id for e in turns[-1] if isinstance(e, FlowCancelled)] == ["memo", "transfer"]
    assert state.stack == ()


def test_flow_lower_on_the_stack_is_resumed(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(bank, [*INTERRUPTED[:2], "StartFlow(transfer)"])
    assert FlowInterrupted("memo", "memo_0_collect_note") in turns[-1]
    assert FlowResumed("transfer", "transfer_0_collect_recipient") in turns[-1]
    assert responses(turns[-1]) == ["utter_ask_recipient"]
    assert flows(state)[0] == "memo"


WAITING = ["StartFlow(transfer)", "StartFlow(memo)", "StartFlow(account)"]


@pytest.mark.parametrize(
    ("said", "begun", "stack"),
    [
        ("transfer memo", ["memo", "transfer"], ["account", "memo", "transfer"]),
        ("memo transfer", ["transfer", "memo"], ["account", "transfer", "memo"]),
        ("memo memo", ["memo"], ["transfer", "account", "memo"]),
        ("memo new", ["new", "memo"], ["transfer", "account", "new", "memo"]),
        ("new memo", ["memo", "new"], ["transfer", "account", "memo", "new"]),
    ],
)
def test_waiting_flows_go_on_in_the_order_named(
    bank: Assistant, converse: Converse, said: str, begun: list[str], stack: list[str]
) -> None:
    project = replace(bank, flows={**bank.flows, "new": replace(bank.flows["memo"], id="new")})
    commands = ";".join(f"StartFlow({flow_id})" for flow_id in said.split())
    state, turns = converse(project, [*WAITING, commands])
    assert [e.flow_id for e in turns[-1] if isinstance(e, FlowInterrupted)] == ["account"]
    assert [e.flow_id for e in turns[-1] if isinstance(e, FlowResumed | FlowStarted)] == begun
    assert [flow_id for flow_id in flows(state) if not flow_id.startswith("pattern_")] == stack


def test_flow_that_was_named_goes_on_without_a_question(
    bank: Assistant, converse: Converse
) -> None:
    both = "StartFlow(memo);StartFlow(transfer)"
    state, turns = converse(bank, [*WAITING, both, "SetSlot(note, hello)"])
    assert responses(turns[-1]) == ["utter_noted", "utter_balance", "utter_ask_recipient"]
    assert flows(state)[0] == "account"


def test_flow_is_cancelled_in_favour_of_the_one_below(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(bank, [*INTERRUPTED[:2], "CancelFlow();StartFlow(transfer)"])
    assert responses(turns[-1]) == ["utter_flow_cancelled_rasa", "utter_ask_recipient"]
    assert not any(isinstance(e, FlowInterrupted) for e in turns[-1])
    assert flows(state) == ["transfer", "pattern_collect_information"]


def test_new_flow_takes_the_place_of_the_question_to_continue(
    bank: Assistant, converse: Converse
) -> None:
    state, turns = converse(bank, [*INTERRUPTED, "StartFlow(account)"])
    assert responses(turns[-1]) == ["utter_ask_iban"]
    assert flows(state) == [
        "transfer",
        "pattern_collect_information",
        "account",
        "pattern_collect_information",
    ]


@pytest.mark.req("STATE-5")
def test_completed_flow_asks_for_another_wish(bank: Assistant, converse: Converse) -> None:
    state, [turn] = converse(bank, DONE)
    assert any(isinstance(e, FlowCompleted) for e in turn)
    assert responses(turn) == ["utter_balance", "utter_ask_continue_conversation"]
    assert flows(state) == ["pattern_completed", "pattern_collect_information"]


@pytest.mark.req("STATE-6")
def test_wish_for_more_ends_the_pattern(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(bank, [*DONE, "SetSlot(continue_conversation, yes)"])
    assert responses(turns[-1]) == ["utter_can_do_something_else"]
    assert state.stack == ()


@pytest.mark.parametrize(
    ("score", "response"),
    [
        ("satisfied", "utter_csat_thank_you_satisfied"),
        ("unsatisfied", "utter_csat_thank_you_unsatisfied"),
    ],
)
def test_no_wish_leads_to_the_question_of_satisfaction(
    bank: Assistant, converse: Converse, score: str, response: str
) -> None:
    messages = [*DONE, "SetSlot(continue_conversation, no)", f"SetSlot(csat_score, {score})"]
    state, turns = converse(bank, messages)
    assert responses(turns[1]) == ["utter_closing_words", "utter_ask_csat_score"]
    assert responses(turns[2]) == [response]
    assert state.stack == ()
    assert state.slots["csat_score"] is None


@pytest.mark.parametrize("answered", [(), ("SetSlot(continue_conversation, no)",)])
def test_new_flow_takes_the_place_of_the_closing_questions(
    bank: Assistant, converse: Converse, answered: tuple[str, ...]
) -> None:
    state, turns = converse(bank, [*DONE, *answered, "StartFlow(memo)"])
    assert responses(turns[-1]) == ["utter_ask_note"]
    assert flows(state) == ["memo", "pattern_collect_information"]


def test_validated_slot_is_refilled_whatever_is_asked(bank: Assistant, converse: Converse) -> None:
    messages = ["StartFlow(account)", "StartFlow(memo);SetSlot(iban, FR1)", "SetSlot(iban, DE1)"]
    state, turns = converse(bank, messages)
    assert texts(turns[1]) == ["FR1 is not German.", "Which German IBAN?"]
    assert responses(turns[2]) == ["utter_ask_note"]
    assert state.slots["iban"] == "DE1"


def test_validated_slot_may_fail_twice(bank: Assistant, converse: Converse) -> None:
    messages = ["StartFlow(account)", "SetSlot(iban, FR1)", "SetSlot(iban, FR2)"]
    state, turns = converse(bank, messages)
    assert responses(turns[2]) == ["utter_iban_foreign", "utter_iban_again"]
    assert flows(state).count("pattern_validate_slot") == 1


def test_restart_begins_anew(bank: Assistant, converse: Converse) -> None:
    messages = ["StartFlow(transfer)", "SetSlot(recipient, Joe)", UserMessage("/restart")]
    state, turns = converse(bank, messages)
    assert Restarted() in turns[-1]
    assert state.stack == ()
    assert state.slots["recipient"] is None


def test_session_start_by_intent_keeps_the_conversation(
    bank: Assistant, converse: Converse
) -> None:
    _, turns = converse(bank, ["StartFlow(transfer)", UserMessage("/session_start")])
    assert responses(turns[-1]) == ["utter_ask_recipient"]


def test_silence_repeats_then_asks_then_hangs_up(bank: Assistant, converse: Converse) -> None:
    silence = UserMessage("/silence_timeout")
    _, turns = converse(bank, ["ChitChat()", silence, silence, silence])
    assert [responses(turn) for turn in turns] == [
        ["utter_cannot_handle"],
        ["utter_cannot_handle"],
        ["utter_ask_still_there"],
        ["utter_inform_hangup"],
    ]
