"""Steps off the beaten track: loops, failures, links and calls in odd places."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.engine import UserMessage
from mock_server.dialogue.model import (
    END,
    ActionStep,
    Branch,
    CallStep,
    CollectStep,
    Flow,
    LinkStep,
    NoopStep,
    Rejection,
    SetSlotsStep,
    Step,
    Variation,
)
from mock_server.dialogue.outside import ActionResult
from mock_server.dialogue.state import (
    ActionExecuted,
    ActionRequested,
    BotUttered,
    DialogueState,
    Event,
    FlowCancelled,
    FlowCompleted,
    FramePushed,
    Listened,
    SlotSet,
    SlotSource,
    Warned,
)

Converse = Callable[..., tuple[DialogueState, list[list[Event]]]]

TO_END = (Branch(END),)
NOTED = ActionStep("memo_1_action_utter_noted", "utter_noted", TO_END)


def responses(turn: Iterable[Event]) -> list[str | None]:
    return [event.response for event in turn if isinstance(event, BotUttered)]


def warnings(turn: Iterable[Event]) -> list[str]:
    return [event.text for event in turn if isinstance(event, Warned)]


def pushed(turn: Iterable[Event], pattern: str) -> list[object]:
    return [
        dict(event.frame.context)
        for event in turn
        if isinstance(event, FramePushed) and event.frame.flow_id == pattern
    ]


def with_flow(bank: Assistant, *steps: Step, flow_id: str = "odd") -> Assistant:
    """The bank with a flow of `steps`, that nothing follows."""
    flow = Flow(
        id=flow_id,
        name="an odd flow",
        description="",
        steps={step.id: step for step in steps},
        first_step=steps[0].id if steps else END,
        run_pattern_completed=False,
    )
    return replace(bank, flows={**bank.flows, flow_id: flow})


def test_flow_without_steps_completes(bank: Assistant, converse: Converse) -> None:
    state, [turn] = converse(with_flow(bank), ["StartFlow(odd)"])
    assert FlowCompleted("odd", END) in turn
    assert state.stack == ()


def test_branches_without_else_end_the_flow(bank: Assistant, converse: Converse) -> None:
    noop = NoopStep("only", (Branch("only", "slots.amount = 5"),))
    _, [turn] = converse(with_flow(bank, noop), ["StartFlow(odd)"])
    assert FlowCompleted("odd", "only") in turn


def test_condition_that_cannot_be_evaluated_is_false_with_a_warning(
    bank: Assistant, converse: Converse
) -> None:
    noop = NoopStep("only", (Branch("only", "slots.amount < 5"), Branch(END)))
    _, [turn] = converse(with_flow(bank, noop), ["StartFlow(odd)"])
    assert FlowCompleted("odd", "only") in turn
    assert len(warnings(turn)) == 1


def test_endless_flow_is_an_internal_error(bank: Assistant, converse: Converse) -> None:
    noop = NoopStep("again", (Branch("again"),))
    state, [turn] = converse(with_flow(bank, noop), ["StartFlow(odd)"])
    assert pushed(turn, "pattern_internal_error") == [
        {"error_type": "rasa_internal_error_default", "info": {"flow": "odd", "steps": 250}}
    ]
    assert FlowCancelled("odd", "again") in turn
    assert responses(turn) == ["utter_internal_error_rasa"]
    assert state.stack == ()


def test_endless_error_pattern_leaves_an_empty_stack(bank: Assistant, converse: Converse) -> None:
    noop = NoopStep("again", (Branch("again"),))
    assistant = with_flow(bank, noop, flow_id="pattern_internal_error")
    state, [turn] = converse(assistant, ["Error(any)"])
    assert len(warnings(turn)) == 2
    assert turn[-1] == Listened()
    assert state.stack == ()


def test_endless_flows_below_an_error_are_cancelled(bank: Assistant, converse: Converse) -> None:
    noop = NoopStep("again", (Branch("again"),))
    assistant = with_flow(with_flow(bank, noop, flow_id="other"), noop)
    state, [turn] = converse(assistant, ["StartFlow(odd);StartFlow(other)"])
    assert len(warnings(turn)) == 2
    assert [e.flow_id for e in turn if isinstance(e, FlowCancelled)] == ["odd", "other"]
    assert turn[-1] == Listened()
    assert state.stack == ()


def test_listening_step_ends_the_turn(bank: Assistant, converse: Converse) -> None:
    listen = ActionStep("listen", "action_listen", TO_END)
    assistant = with_flow(bank, ActionStep("say", "utter_balance", (Branch("listen"),)), listen)
    state, [first] = converse(assistant, ["StartFlow(odd)"])
    assert [frame.flow_id for frame in state.stack] == ["odd"]
    assert responses(first) == ["utter_balance"]
    state, [second] = converse(assistant, ["Noop()"], state=state)
    assert FlowCompleted("odd", END) in second
    assert state.stack == ()


def test_unknown_action_is_an_internal_error(bank: Assistant, converse: Converse) -> None:
    assistant = with_flow(bank, ActionStep("only", "action_nobody_knows", TO_END))
    _, [turn] = converse(assistant, ["StartFlow(odd)"])
    assert ActionExecuted("action_nobody_knows", {"action": "action_nobody_knows"}) in turn
    assert responses(turn) == ["utter_internal_error_rasa"]


def test_jinja_that_fails_in_a_step_is_an_internal_error(
    bank: Assistant, converse: Converse
) -> None:
    assistant = with_flow(bank, ActionStep("only", "{{ 1 / 0 }}", TO_END))
    _, [turn] = converse(assistant, ["StartFlow(odd)"])
    assert pushed(turn, "pattern_internal_error") == [
        {"error_type": "rasa_internal_error_default", "info": {"flow": "odd", "step": "only"}}
    ]


@pytest.mark.parametrize(
    ("action", "response"),
    [
        ("action_trigger_search", "utter_no_knowledge_base"),
        ("action_trigger_chitchat", "utter_cannot_handle"),
    ],
)
def test_default_action_of_rasa_answers(
    bank: Assistant, converse: Converse, action: str, response: str
) -> None:
    assistant = with_flow(bank, ActionStep("only", action, TO_END))
    _, [turn] = converse(assistant, ["StartFlow(odd)"])
    assert responses(turn) == [response]
    assert ActionExecuted(action) in turn


@pytest.mark.parametrize(
    "action",
    [
        "action_cancel_flow",
        "action_run_slot_rejections",
        "action_continue_interrupted_flow",
        "action_cancel_interrupted_flows",
    ],
)
def test_repair_action_outside_its_pattern_does_nothing(
    bank: Assistant, converse: Converse, action: str
) -> None:
    assistant = with_flow(bank, ActionStep("only", action, TO_END), flow_id="pattern_skip_question")
    state, [turn] = converse(assistant, ["SkipQuestion()"])
    assert ActionExecuted(action) in turn
    assert state.stack == ()


def test_clean_stack_cancels_what_lies_below(bank: Assistant, converse: Converse) -> None:
    assistant = with_flow(
        bank, ActionStep("only", "action_clean_stack", TO_END), flow_id="pattern_chitchat"
    )
    state, turns = converse(assistant, ["StartFlow(transfer)", "ChitChat()"])
    assert FlowCancelled("transfer", "transfer_0_collect_recipient") in turns[-1]
    assert state.stack == ()


def test_question_without_a_prompt_is_an_internal_error(
    bank: Assistant, converse: Converse
) -> None:
    assistant = with_flow(bank, CollectStep("ask", "tier", TO_END))
    state, [turn] = converse(assistant, ["StartFlow(odd)"])
    assert pushed(turn, "pattern_internal_error") == [
        {"error_type": "rasa_internal_error_default", "info": {"slot": "tier", "flow": "odd"}}
    ]
    assert state.stack == ()


def test_question_without_a_prompt_takes_the_initial_value(
    bank: Assistant, converse: Converse
) -> None:
    cleared = SetSlotsStep("clear", (("currency", None),), (Branch("ask"),))
    assistant = with_flow(bank, cleared, CollectStep("ask", "currency", TO_END))
    _, [turn] = converse(assistant, ["StartFlow(odd)"])
    assert SlotSet("currency", "EUR", SlotSource.INITIAL) in turn
    assert FlowCompleted("odd", "ask") in turn


def test_question_of_a_missing_response_apologises(bank: Assistant, converse: Converse) -> None:
    assistant = with_flow(bank, ActionStep("only", "utter_gone", TO_END))
    assistant = replace(assistant, responses={**bank.responses, "utter_gone": ()})
    _, [turn] = converse(assistant, ["StartFlow(odd)"])
    assert responses(turn) == ["utter_internal_error_rasa"]
    assert warnings(turn) == ["response 'utter_gone' has no variation that fits"]


def test_response_whose_jinja_fails_apologises(bank: Assistant, converse: Converse) -> None:
    broken = (Variation("{{ 1 / 0 }}", is_jinja=True),)
    assistant = with_flow(bank, ActionStep("only", "utter_broken", TO_END))
    assistant = replace(assistant, responses={**bank.responses, "utter_broken": broken})
    _, [turn] = converse(assistant, ["StartFlow(odd)"])
    assert responses(turn) == ["utter_internal_error_rasa"]
    assert "utter_broken" in warnings(turn)[0]


def test_assistant_without_any_response_stays_silent(converse: Converse) -> None:
    flow = Flow("odd", "odd", "", {"a": ActionStep("a", "utter_a", TO_END)}, "a", None, False)
    assistant = Assistant(flows={"odd": flow}, responses={"utter_a": ()})
    _, [turn] = converse(assistant, ["StartFlow(odd)"])
    assert responses(turn) == []
    assert len(warnings(turn)) == 2


def test_custom_actions_ask_and_validate(bank: Assistant, converse: Converse) -> None:
    unlock = replace(bank.flows["unlock"], guard=None)
    assistant = replace(bank, flows={**bank.flows, "unlock": unlock})
    refuse = {"validate_pin": ActionResult(slots=(("pin", None),))}
    state, turns = converse(assistant, ["StartFlow(unlock)", "SetSlot(pin, 0000)"], refuse)
    asked = [e.name for e in turns[-1] if isinstance(e, ActionRequested)]
    assert asked == ["validate_pin", "action_ask_pin"]
    state, turns = converse(assistant, ["SetSlot(pin, 1234)"], state=state)
    assert any(isinstance(e, FlowCompleted) for e in turns[-1])


def test_failed_question_cancels_the_flow_that_asks(bank: Assistant, converse: Converse) -> None:
    unlock = replace(bank.flows["unlock"], guard=None)
    assistant = replace(bank, flows={**bank.flows, "unlock": unlock})
    failure = {"action_ask_pin": ActionResult(failure={"action": "action_ask_pin"})}
    state, [turn] = converse(assistant, ["StartFlow(unlock)"], failure)
    assert any(isinstance(e, FlowCancelled) for e in turn)
    assert state.stack == ()


def test_failed_interruption_asks_to_continue(bank: Assistant, converse: Converse) -> None:
    assistant = with_flow(bank, ActionStep("only", "action_nobody_knows", TO_END))
    _, turns = converse(assistant, ["StartFlow(transfer)", "StartFlow(odd)"])
    assert responses(turns[-1]) == [
        "utter_internal_error_rasa",
        "utter_ask_continue_interrupted_flow_confirmation",
    ]


def test_failed_pattern_leaves_the_flow_below(bank: Assistant, converse: Converse) -> None:
    broken = ActionStep("only", "action_nobody_knows", TO_END)
    assistant = with_flow(bank, broken, flow_id="pattern_chitchat")
    _, turns = converse(assistant, ["StartFlow(transfer)", "ChitChat()"])
    assert responses(turns[-1]) == ["utter_internal_error_rasa", "utter_ask_recipient"]


def test_failed_error_pattern_ends(bank: Assistant, converse: Converse) -> None:
    broken = ActionStep("only", "action_nobody_knows", TO_END)
    assistant = with_flow(bank, broken, flow_id="pattern_internal_error")
    _, turns = converse(assistant, ["StartFlow(transfer)", "Error(any)"])
    assert responses(turns[-1]) == ["utter_ask_recipient"]
    assert "pattern_internal_error failed itself" in warnings(turns[-1])[0]


def test_rejection_that_cannot_be_evaluated_rejects(bank: Assistant, converse: Converse) -> None:
    ask = CollectStep(
        "ask", "limit", TO_END, rejections=(Rejection("slots.limit > 5", "utter_amount_low"),)
    )
    state, turns = converse(with_flow(bank, ask), ["StartFlow(odd)", "SetSlot(limit, much)"])
    assert responses(turns[-1]) == ["utter_internal_error_rasa", "utter_ask_limit"]
    assert state.slots["limit"] is None


def test_value_that_came_early_is_rejected_like_an_answer(
    bank: Assistant, converse: Converse
) -> None:
    _, [turn] = converse(bank, ["StartFlow(transfer);SetSlot(recipient, J);SetSlot(amount, -1)"])
    assert responses(turn) == ["utter_amount_low", "utter_ask_amount"]


def test_link_to_a_pattern_comes_before_what_follows_the_flow(
    bank: Assistant, converse: Converse
) -> None:
    assistant = with_flow(bank, LinkStep("only", "pattern_human_handoff"))
    state, turns = converse(assistant, ["StartFlow(transfer)", "StartFlow(odd)"])
    assert responses(turns[-1]) == [
        "utter_human_handoff_not_available",
        "utter_ask_continue_interrupted_flow_confirmation",
    ]
    assert state.stack[0].flow_id == "transfer"


def test_pattern_may_link_to_a_user_flow(bank: Assistant, converse: Converse) -> None:
    assistant = with_flow(bank, LinkStep("only", "balance"), flow_id="pattern_chitchat")
    _, [turn] = converse(assistant, ["ChitChat()"])
    assert responses(turn) == ["utter_balance", "utter_ask_continue_conversation"]


def test_child_that_links_comes_back_to_its_caller(bank: Assistant, converse: Converse) -> None:
    child = with_flow(bank, LinkStep("only", "balance"), flow_id="child")
    call = CallStep("call", "child", (Branch("then"),))
    assistant = with_flow(child, call, ActionStep("then", "utter_noted", TO_END))
    _, [turn] = converse(assistant, ["StartFlow(odd)"])
    assert responses(turn) == ["utter_balance", "utter_noted"]


def test_flow_that_calls_itself_ends_as_an_error(bank: Assistant, converse: Converse) -> None:
    assistant = with_flow(bank, CallStep("call", "odd", TO_END))
    state, [turn] = converse(assistant, ["StartFlow(odd)"])
    assert responses(turn) == ["utter_internal_error_rasa"]
    assert state.stack == ()


def test_calls_may_be_deep(bank: Assistant, converse: Converse) -> None:
    assistant = with_flow(bank, NOTED, flow_id="odd200")
    for depth in reversed(range(200)):
        call = CallStep("call", f"odd{depth + 1}", TO_END)
        assistant = with_flow(assistant, call, flow_id=f"odd{depth}")
    state, [turn] = converse(assistant, ["StartFlow(odd0)"])
    assert responses(turn) == ["utter_noted"]
    assert FlowCompleted("odd0", "call") in turn
    assert state.stack == ()


def test_flows_that_call_each_other_twice_are_looked_through_once(
    bank: Assistant, converse: Converse
) -> None:
    assistant = with_flow(bank, CollectStep("ask", "note", TO_END), flow_id="odd40")
    for depth in reversed(range(40)):
        first = CallStep("first", f"odd{depth + 1}", (Branch("second"),))
        second = CallStep("second", f"odd{depth + 1}", TO_END)
        assistant = with_flow(assistant, first, second, flow_id=f"odd{depth}")
    state, turns = converse(assistant, ["StartFlow(odd0)", "CancelFlow()"])
    assert responses(turns[0]) == ["utter_ask_note"]
    assert state.stack == ()


def test_slot_kept_by_its_collect_step_survives_the_flow(
    bank: Assistant, converse: Converse
) -> None:
    ask = CollectStep("ask", "note", TO_END, reset_after_flow_ends=False)
    state, _ = converse(with_flow(bank, ask), ["StartFlow(odd)", "SetSlot(note, x)"])
    assert state.slots["note"] == "x"


def test_session_start_of_the_project_runs_first(bank: Assistant, converse: Converse) -> None:
    assistant = replace(bank, actions=bank.actions | {"action_session_start"})
    greeted = {"action_session_start": ActionResult(slots=(("tier", "gold"),))}
    state, [turn] = converse(assistant, ["StartFlow(unlock)"], greeted)
    assert [e.name for e in turn if isinstance(e, ActionRequested)] == [
        "action_session_start",
        "validate_pin",
        "action_ask_pin",
    ]
    assert state.stack[0].flow_id == "unlock"


def test_failed_session_start_does_not_stop_the_message(
    bank: Assistant, converse: Converse
) -> None:
    assistant = replace(bank, actions=bank.actions | {"action_session_start"})
    failure = {"action_session_start": ActionResult(failure={"action": "action_session_start"})}
    _, [turn] = converse(
        assistant,
        [
            UserMessage("hi"),
        ],
        failure,
    )
    assert len(warnings(turn)) == 1
    assert turn[-1] == Listened()


def test_collect_pattern_that_leaves_the_slot_empty_asks_for_ever(
    bank: Assistant, converse: Converse
) -> None:
    assistant = with_flow(bank, flow_id="pattern_collect_information")
    state, [turn] = converse(assistant, ["StartFlow(memo)"])
    assert responses(turn) == ["utter_internal_error_rasa"]
    assert state.stack == ()


def test_call_that_a_new_version_replaced_is_not_returned_to(
    bank: Assistant, converse: Converse
) -> None:
    call = CallStep("call", "memo", TO_END)
    state, _ = converse(with_flow(bank, call), ["StartFlow(odd)"])
    action = ActionStep("call", "utter_balance", TO_END)
    memo = replace(bank.flows["memo"], steps={**bank.flows["memo"].steps, NOTED.id: NOTED})
    newer = with_flow(replace(bank, flows={**bank.flows, "memo": memo}), action)
    state, [turn] = converse(newer, ["SetSlot(note, x)"], state=state)
    assert responses(turn) == ["utter_noted", "utter_balance"]
    assert state.stack == ()


def test_warnings_of_an_action_are_for_the_developer(bank: Assistant, converse: Converse) -> None:
    outcome = ActionResult(warnings=("event 'pause' is ignored",))
    answers = ("recipient, Joe", "amount, 50", "speed, now", "confirm, yes")
    messages = ["StartFlow(transfer)", *(f"SetSlot({answer})" for answer in answers)]
    _, turns = converse(bank, messages, {"action_pay": outcome})
    assert Warned("event 'pause' is ignored") in turns[-1]
