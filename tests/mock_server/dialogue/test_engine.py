"""Turns through flows: collect, action, set_slots, next, call, link and END."""

from collections.abc import Callable, Iterable

import pytest

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.engine import UserMessage, advance, cancel
from mock_server.dialogue.outside import ActionResult, Utterance
from mock_server.dialogue.state import (
    ActionRequested,
    BotUttered,
    DialogueState,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowStarted,
    FramePushed,
    Listened,
    SessionStarted,
    SlotSet,
    SlotSource,
    UserUttered,
    Warned,
    apply,
    initial_state,
)

Converse = Callable[..., tuple[DialogueState, list[list[Event]]]]

TO_CONFIRM = (
    "StartFlow(transfer)",
    "SetSlot(recipient, Joe)",
    "SetSlot(amount, 50)",
    "SetSlot(speed, now)",
)


def responses(turn: Iterable[Event]) -> list[str | None]:
    return [event.response for event in turn if isinstance(event, BotUttered)]


def pushed(turn: Iterable[Event]) -> list[str]:
    return [event.frame.flow_id for event in turn if isinstance(event, FramePushed)]


def test_started_flow_asks_its_first_question(bank: Assistant, converse: Converse) -> None:
    state, [turn] = converse(bank, ["StartFlow(transfer)"])
    assert responses(turn) == ["utter_ask_recipient"]
    assert FlowStarted("transfer") in turn
    assert turn[-1] == Listened()
    assert [frame.flow_id for frame in state.stack] == ["transfer", "pattern_collect_information"]


def test_first_turn_starts_the_session(bank: Assistant, converse: Converse) -> None:
    _, [first, second] = converse(bank, ["StartFlow(transfer)", "SetSlot(recipient, Joe)"])
    assert isinstance(first[0], SessionStarted)
    assert isinstance(first[1], UserUttered)
    assert isinstance(second[0], UserUttered)


def test_answers_lead_through_the_flow_and_its_child(bank: Assistant, converse: Converse) -> None:
    _, turns = converse(bank, [*TO_CONFIRM, "SetSlot(confirm, yes)"])
    assert [responses(turn) for turn in turns] == [
        ["utter_ask_recipient"],
        ["utter_ask_amount"],
        ["utter_ask_speed"],
        ["utter_ask_confirm"],
        ["utter_sent", "utter_ask_continue_conversation"],
    ]
    assert ActionRequested("action_pay") in turns[-1]
    assert FlowCompleted("timing", "timing_0_collect_speed", is_child=True) in turns[3]


def test_other_branch_is_taken(bank: Assistant, converse: Converse) -> None:
    _, turns = converse(bank, [*TO_CONFIRM, "SetSlot(confirm, no)"])
    assert responses(turns[-1])[0] == "utter_not_sent"
    assert ActionRequested("action_pay") not in turns[-1]


def test_completed_flow_resets_its_slots_but_the_persisted(
    bank: Assistant, converse: Converse
) -> None:
    state, turns = converse(bank, [*TO_CONFIRM, "SetSlot(confirm, yes)"])
    completed = [e for e in turns[-1] if isinstance(e, FlowCompleted)]
    assert [e.persisted_slots for e in completed] == [{"recipient": "Joe"}]
    assert state.slots["recipient"] == "Joe"
    assert state.slots["amount"] is None
    assert state.slots["speed"] is None


def test_set_slots_returns_to_the_initial_value(bank: Assistant, converse: Converse) -> None:
    answers = ["StartFlow(account)", "SetSlot(iban, DE1)", "SetSlot(limit, 9)"]
    state, turns = converse(bank, answers)
    assert SlotSet("currency", "USD", SlotSource.FLOW) in turns[0]
    assert SlotSet("currency", "EUR", SlotSource.RESET) in turns[-1]
    assert state.slots["currency"] == "EUR"
    assert state.stack == ()


def test_flow_may_end_without_the_completed_pattern(bank: Assistant, converse: Converse) -> None:
    _, turns = converse(bank, ["StartFlow(account)", "SetSlot(iban, DE1)", "SetSlot(limit, 9)"])
    assert "pattern_completed" not in pushed(turns[-1])


def test_link_completes_the_flow_and_starts_the_other(bank: Assistant, converse: Converse) -> None:
    _, turns = converse(bank, ["StartFlow(memo)", "SetSlot(note, hello)"])
    life = [e for e in turns[-1] if isinstance(e, FlowCompleted | FlowStarted)]
    assert life == [
        FlowCompleted("memo", "memo_2_link_balance"),
        FlowStarted("balance"),
        FlowCompleted("balance", "balance_0_action_utter_balance"),
    ]
    assert pushed(turns[-1]).count("pattern_completed") == 1


def test_slot_given_early_skips_its_question(bank: Assistant, converse: Converse) -> None:
    _, [turn] = converse(bank, ["StartFlow(transfer);SetSlot(recipient, Joe);SetSlot(amount, 5)"])
    assert responses(turn) == ["utter_ask_speed"]


def test_slot_to_be_asked_before_filling_is_asked_again(
    bank: Assistant, converse: Converse
) -> None:
    _, turns = converse(bank, ["StartFlow(transfer);SetSlot(confirm, yes)", *TO_CONFIRM[1:]])
    assert SlotSet("confirm", None, SlotSource.RESET) in turns[-1]
    assert responses(turns[-1]) == ["utter_ask_confirm"]


def test_rejected_value_is_named_and_asked_for_again(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(bank, [*TO_CONFIRM[:2], "SetSlot(amount, -5)"])
    assert [e.text for e in turns[-1] if isinstance(e, BotUttered)] == [
        "-5.0 is too little.",
        "How much for Joe?",
    ]
    assert state.slots["amount"] is None


@pytest.mark.parametrize(
    ("slot", "value", "response"),
    [
        ("amount", "plenty", "utter_float_slot_rejection"),
        ("speed", "never", "utter_categorical_slot_rejection"),
        ("confirm", "perhaps", "utter_boolean_slot_rejection"),
    ],
)
def test_value_that_does_not_fit_its_type_is_refused(
    bank: Assistant, converse: Converse, slot: str, value: str, response: str
) -> None:
    state, turns = converse(bank, ["StartFlow(transfer)", f"SetSlot({slot}, {value})"])
    assert responses(turns[-1]) == [response, "utter_ask_recipient"]
    assert state.slots[slot] is None


@pytest.mark.req("SLOT-1a")
def test_orchestrators_slots_are_written_as_they_are(bank: Assistant, converse: Converse) -> None:
    seeded = UserMessage("hi", (("note", "x"), ("tier", "gold")), commands=())
    state, [turn] = converse(bank, [seeded])
    assert SlotSet("note", "x", SlotSource.ORCHESTRATOR) in turn
    assert state.slots["tier"] == "gold"


@pytest.mark.req("SLOT-5")
def test_users_value_wins_and_corrects_nothing(bank: Assistant, converse: Converse) -> None:
    answer = UserMessage("Jane", (("recipient", "Joe"), ("amount", 5.0)))
    state, turns = converse(bank, ["StartFlow(transfer)", answer])
    assert state.slots["recipient"] == "Jane"
    assert state.slots["amount"] == 5.0
    assert responses(turns[-1]) == ["utter_ask_speed"]


@pytest.mark.req("SLOT-6")
def test_slots_without_text_let_the_flow_go_on(bank: Assistant, converse: Converse) -> None:
    seeds = UserMessage("", (("recipient", "Joe"),))
    _, turns = converse(bank, ["StartFlow(transfer)", seeds])
    assert responses(turns[-1]) == ["utter_ask_amount"]


@pytest.mark.req("SLOT-6")
def test_slots_of_another_question_leave_the_asked_one_open(
    bank: Assistant, converse: Converse
) -> None:
    seeds = UserMessage("", (("speed", "now"),))
    _, turns = converse(bank, ["StartFlow(transfer)", seeds])
    assert responses(turns[-1]) == ["utter_ask_recipient"]


def test_empty_message_is_an_internal_error(bank: Assistant, converse: Converse) -> None:
    _, [turn] = converse(bank, [UserMessage("")])
    assert responses(turn) == ["utter_user_input_empty_error_rasa"]


def test_action_sets_slots_and_speaks(bank: Assistant, converse: Converse) -> None:
    outcome = ActionResult(
        slots=(("tier", "gold"), ("nowhere", 1)),
        utterances=(
            Utterance(text="Paid."),
            Utterance(response="utter_sent", arguments={"amount": "all"}),
        ),
    )
    messages = [*TO_CONFIRM, "SetSlot(confirm, yes)"]
    state, turns = converse(bank, messages, {"action_pay": outcome})
    texts = [e.text for e in turns[-1] if isinstance(e, BotUttered)]
    assert texts[:3] == ["Paid.", "Sent all EUR.", "Sent 50.0 EUR."]
    assert state.slots["tier"] == "gold"
    assert any(isinstance(e, Warned) and "nowhere" in e.text for e in turns[-1])


@pytest.mark.req("STATE-3")
def test_failed_action_cancels_the_flow(bank: Assistant, converse: Converse) -> None:
    failure = ActionResult(failure={"action": "action_pay"})
    messages = [*TO_CONFIRM, "SetSlot(confirm, yes)"]
    state, turns = converse(bank, messages, {"action_pay": failure})
    frames = [e.frame for e in turns[-1] if isinstance(e, FramePushed)]
    assert [(frame.flow_id, frame.context["info"]) for frame in frames] == [
        ("pattern_internal_error", {"action": "action_pay"})
    ]
    assert any(isinstance(e, FlowCancelled) for e in turns[-1])
    assert responses(turns[-1]) == ["utter_internal_error_rasa"]
    assert state.stack == ()
    assert state.slots["amount"] is None


@pytest.mark.req("TURN-10")
def test_cancel_ends_the_flows_of_the_stack(bank: Assistant, converse: Converse) -> None:
    state, _ = converse(bank, [*TO_CONFIRM[:3], "StartFlow(memo)"])
    events = cancel(bank, state).run()
    assert [e.flow_id for e in events if isinstance(e, FlowCancelled)] == [
        "memo",
        "timing",
        "transfer",
    ]
    for event in events:
        state = apply(state, event)
    assert state.stack == ()
    assert state.slots["amount"] is None


@pytest.mark.req("TURN-10")
def test_cancel_of_an_idle_conversation_does_nothing(bank: Assistant, converse: Converse) -> None:
    state, _ = converse(bank, ["ChitChat()"])
    assert cancel(bank, state).run() == []


@pytest.mark.req("TURN-10")
def test_turn_may_stop_inside_an_action(bank: Assistant, converse: Converse) -> None:
    state, _ = converse(bank, TO_CONFIRM)
    turn = advance(bank, state, UserMessage("yes"))
    assert isinstance(turn.run()[-1], ActionRequested)
    state = turn.state
    assert not state.is_listening
    events = cancel(bank, state).run()
    assert FlowCancelled("transfer", "transfer_4_action_action_pay") in events
    for event in events:
        state = apply(state, event)
    assert state.is_listening
    _, [turn] = converse(bank, ["StartFlow(balance)"], state=state)
    assert responses(turn)[0] == "utter_balance"


def test_new_assistant_drops_frames_of_steps_that_are_gone(
    bank: Assistant, converse: Converse
) -> None:
    state, _ = converse(bank, [*TO_CONFIRM, "StartFlow(memo)"])
    flows = {name: flow for name, flow in bank.flows.items() if name != "transfer"}
    slots = {name: slot for name, slot in bank.slots.items() if name != "confirm"}
    newer = Assistant(flows=flows, slots=slots, responses=bank.responses)
    state, [turn] = converse(newer, ["SetSlot(note, x)"], state=state)
    assert any(isinstance(e, Warned) and "transfer" in e.text for e in turn)
    assert responses(turn)[0] == "utter_noted"


def test_new_assistant_brings_its_slots(bank: Assistant) -> None:
    older = Assistant(flows=bank.flows, slots={}, responses=bank.responses)
    turn = advance(bank, initial_state(older), UserMessage("hi", commands=()))
    turn.run()
    assert turn.state.slots["currency"] == "EUR"
