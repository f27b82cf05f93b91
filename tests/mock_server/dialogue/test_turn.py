"""Questions, corrections, and scripted sub agents in a running turn."""

from collections.abc import Callable, Iterable

import pytest

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.engine import UserMessage
from mock_server.dialogue.state import (
    BotUttered,
    CommandDropped,
    DialogueState,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowStarted,
    SlotSet,
    SlotSource,
    Warned,
)
from mock_server.project.load import assemble

Converse = Callable[..., tuple[DialogueState, list[list[Event]]]]

TO_SPEED = ("StartFlow(transfer);SetSlot(recipient, Joe);SetSlot(amount, 5)",)
TO_CONFIRM = (*TO_SPEED, "SetSlot(speed, now)")


def texts(turn: Iterable[Event]) -> list[str]:
    return [event.text for event in turn if isinstance(event, BotUttered)]


def test_corrected_value_is_confirmed_and_the_question_repeated(
    bank: Assistant, converse: Converse
) -> None:
    state, turns = converse(bank, [*TO_CONFIRM, "SetSlot(amount, 7)"])
    assert texts(turns[-1]) == ["Corrected: amount is now 7.0.", "Send 7.0 to Joe?"]
    assert state.slots["amount"] == 7.0


def test_several_values_are_corrected_at_once(bank: Assistant, converse: Converse) -> None:
    _, turns = converse(bank, [*TO_CONFIRM, "SetSlot(amount, 7);SetSlot(recipient, Jane)"])
    assert texts(turns[-1])[0] == "Corrected: amount is now 7.0; recipient is now Jane."


def test_correction_of_a_caller_leaves_its_child(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(bank, [*TO_SPEED, "SetSlot(recipient, Jane)"])
    life = [e for e in turns[-1] if isinstance(e, FlowCancelled | FlowStarted)]
    assert life == [FlowCancelled("timing", "timing_0_collect_speed"), FlowStarted("timing")]
    assert [frame.flow_id for frame in state.stack] == [
        "transfer",
        "timing",
        "pattern_collect_information",
    ]


def test_correction_of_a_child_calls_it_again(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(bank, [*TO_CONFIRM, "SetSlot(speed, later)"])
    assert FlowStarted("timing") in turns[-1]
    assert texts(turns[-1])[-1] == "Send 5.0 to Joe?"
    assert state.slots["speed"] == "later"


def test_corrected_value_may_be_rejected(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(bank, [*TO_CONFIRM, "SetSlot(amount, -1)"])
    assert texts(turns[-1]) == [
        "Corrected: amount is now -1.0.",
        "-1.0 is too little.",
        "How much for Joe?",
    ]
    assert state.slots["amount"] is None


def test_value_taken_back_is_asked_for_again(bank: Assistant, converse: Converse) -> None:
    _, turns = converse(bank, [*TO_CONFIRM, "SetSlot(recipient, null)"])
    assert texts(turns[-1]) == ["To whom?"]


def test_value_that_lies_ahead_is_corrected_in_place(bank: Assistant, converse: Converse) -> None:
    early = "StartFlow(transfer);SetSlot(speed, now)"
    state, turns = converse(bank, [early, "SetSlot(speed, later)"])
    assert texts(turns[-1]) == ["Corrected: speed is now later.", "To whom?"]
    assert state.slots["speed"] == "later"


def test_value_kept_from_an_earlier_flow_is_corrected(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(
        bank,
        [*TO_CONFIRM, "SetSlot(confirm, yes)", "StartFlow(transfer);SetSlot(recipient, Jane)"],
    )
    assert texts(turns[-1]) == ["Corrected: recipient is now Jane.", "How much for Jane?"]
    assert state.slots["recipient"] == "Jane"


def test_corrected_slot_is_validated(bank: Assistant, converse: Converse) -> None:
    state, turns = converse(
        bank, ["StartFlow(account)", "StartFlow(memo);SetSlot(iban, DE1)", "SetSlot(iban, FR1)"]
    )
    assert texts(turns[-1]) == [
        "Corrected: iban is now FR1.",
        "FR1 is not German.",
        "Which German IBAN?",
    ]
    assert state.slots["iban"] is None


def test_correction_leaves_the_other_commands_their_patterns(
    bank: Assistant, converse: Converse
) -> None:
    _, turns = converse(bank, [*TO_CONFIRM, "SetSlot(amount, 7);ChitChat()"])
    assert texts(turns[-1]) == [
        "Corrected: amount is now 7.0.",
        "Sorry, that is nothing I can help with.",
        "Send 7.0 to Joe?",
    ]


DOMAIN = """
slots:
  budget: {type: text}
  chosen_car: {type: text, mappings: [{type: controlled}]}
  booked: {type: bool, mappings: [{type: controlled}]}
  price: {type: float, mappings: [{type: controlled}]}
actions: [action_x]
responses:
  utter_ask_budget: [{text: Which budget?}]
  utter_bought: [{text: "Bought {chosen_car}."}]
  utter_weather: [{text: It rains.}]
  utter_price: [{text: "{price}"}]
"""
FLOWS = """
flows:
  buy_car:
    description: buy a car
    steps:
      - collect: budget
      - call: car_agent
      - action: utter_bought
  book_drive:
    description: book a drive
    run_pattern_completed: false
    steps:
      - call: booking_agent
        exit_if: [slots.booked, slots.chosen_car is not null]
  tell_weather: {description: tell the weather, steps: [{action: utter_weather}]}
  fail_now: {description: fail now, steps: [{call: broken_agent}]}
  say_nothing: {description: say nothing, steps: [{call: silent_agent}, {action: utter_weather}]}
  price_car:
    description: price a car
    run_pattern_completed: false
    steps:
      - call: get_price
        mcp_server: cars
        mapping:
          input: [{param: car, slot: chosen_car}]
          output:
            - {slot: price, value: "result.structuredContent.price * 2"}
            - {slot: chosen_car, value: "{{ result.structuredContent.name | upper }}"}
      - action: utter_price
"""
MOCK = """
sub_agents:
  car_agent:
    - {say: "Which colour, for {budget}?", wait: true}
    - {say: "Which size?", wait: true}
    - {say: "I found one.", set: {chosen_car: Beetle}, complete: true}
    - {say: "Never said."}
  booking_agent:
    - {say: "When?", wait: true}
    - {set: {booked: true}, say: "Where?", wait: true}
    - {set: {chosen_car: Beetle}, say: "Booked.", wait: true}
    - {say: "Never said."}
  broken_agent: [{say: "Oh.", fail: true}]
tools:
  get_price:
    - {when: slots.booked, fail: true}
    - {result: {structuredContent: {price: 21, name: beetle}}}
"""
AGENT = "agent: {name: silent_agent, protocol: rasa, description: Says nothing.}\n"


@pytest.fixture(scope="module")
def cars() -> Assistant:
    return assemble(
        {
            "domain.yml": DOMAIN,
            "data/flows.yml": FLOWS,
            "mock.yml": MOCK,
            "sub_agents/silent/config.yml": AGENT,
        }
    )


def said(turn: list[Event]) -> list[str]:
    return [event.text for event in turn if isinstance(event, BotUttered)]


def flows(state: DialogueState) -> list[str]:
    return [frame.flow_id for frame in state.stack]


def test_agent_keeps_the_conversation_until_it_completes(
    cars: Assistant, converse: Converse
) -> None:
    messages = [UserMessage(text) for text in ("/StartFlow(buy_car)", "cheap", "red", "small")]
    state, turns = converse(cars, messages)
    assert said(turns[1]) == ["Which colour, for cheap?"]
    assert said(turns[2]) == ["Which size?"]
    assert said(turns[3])[:2] == ["I found one.", "Bought Beetle."]
    assert SlotSet("chosen_car", "Beetle", SlotSource.ACTION) in turns[3]
    assert [e.flow_id for e in turns[3] if isinstance(e, FlowCompleted)] == ["buy_car"]
    assert "pattern_agent_car_agent" not in flows(state)


def test_agent_is_no_flow_of_the_user(cars: Assistant, converse: Converse) -> None:
    _, turns = converse(cars, [UserMessage("/StartFlow(book_drive)")])
    assert [e.flow_id for e in turns[0] if isinstance(e, FlowStarted)] == ["book_drive"]
    assert cars.flows["pattern_agent_booking_agent"].is_agent


def test_agent_ends_silently_when_all_of_exit_if_hold(cars: Assistant, converse: Converse) -> None:
    messages = [UserMessage(text) for text in ("/StartFlow(book_drive)", "now", "here")]
    state, turns = converse(cars, messages)
    assert [said(turn) for turn in turns] == [["When?"], ["Where?"], ["Booked."]]
    assert state.stack == ()


def test_slots_of_exit_if_are_cleared_when_the_agent_runs_again(
    cars: Assistant, converse: Converse
) -> None:
    once = [UserMessage(text) for text in ("/StartFlow(book_drive)", "now", "here")]
    state, turns = converse(cars, [*once, UserMessage("/StartFlow(book_drive)")])
    assert state.slots["booked"] is None
    assert said(turns[3]) == ["When?"]


def test_digression_interrupts_the_agent_and_comes_back_to_it(
    cars: Assistant, converse: Converse
) -> None:
    messages = [UserMessage(t) for t in ("/StartFlow(book_drive)", "tell me the weather", "yes")]
    state, turns = converse(cars, messages)
    assert said(turns[1])[0] == "It rains."
    assert said(turns[2]) == ["When?"]
    assert flows(state) == ["book_drive", "pattern_agent_booking_agent"]


def test_repair_returns_to_the_agents_question(cars: Assistant, converse: Converse) -> None:
    _, turns = converse(cars, [UserMessage("/StartFlow(book_drive)"), UserMessage("/ChitChat()")])
    assert said(turns[1])[-1] == "When?"


def test_cancelling_ends_the_agent_with_its_flow(cars: Assistant, converse: Converse) -> None:
    state, turns = converse(cars, [UserMessage("/StartFlow(book_drive)"), UserMessage("cancel")])
    assert [e.flow_id for e in turns[1] if isinstance(e, FlowCancelled)] == ["book_drive"]
    assert state.stack == ()


def test_agent_that_fails_is_an_internal_error(cars: Assistant, converse: Converse) -> None:
    state, [turn] = converse(cars, [UserMessage("/StartFlow(fail_now)")])
    assert said(turn) == ["Oh.", "Something went wrong on my side. Please try again later."]
    assert [e.flow_id for e in turn if isinstance(e, FlowCancelled)] == ["fail_now"]
    assert state.stack == ()


def test_agent_without_a_script_completes_at_once(cars: Assistant, converse: Converse) -> None:
    _, [turn] = converse(cars, [UserMessage("/StartFlow(say_nothing)")])
    assert said(turn)[0] == "It rains."


def test_correction_takes_the_flow_back_before_its_agent(
    cars: Assistant, converse: Converse
) -> None:
    messages = ["StartFlow(buy_car)", "SetSlot(budget, cheap)", "SetSlot(budget, high)"]
    state, turns = converse(cars, messages)
    assert said(turns[2])[-1] == "Which colour, for high?"
    assert flows(state) == ["buy_car", "pattern_agent_car_agent"]


def test_words_for_an_agent_where_none_waits_are_dropped(
    cars: Assistant, converse: Converse
) -> None:
    _, [turn] = converse(cars, ["ContinueAgent()"])
    assert said(turn) == ["I did not get that. Could you put it in other words?"]


def test_tool_fills_slots_from_its_result(cars: Assistant, converse: Converse) -> None:
    state, [turn] = converse(cars, [UserMessage("/StartFlow(price_car)")])
    assert said(turn) == ["42.0"]
    assert state.slots["chosen_car"] == "BEETLE"


def test_tool_that_fails_is_an_internal_error(cars: Assistant, converse: Converse) -> None:
    message = UserMessage("/StartFlow(price_car)", (("booked", True),))
    state, [turn] = converse(cars, [message])
    assert [e.flow_id for e in turn if isinstance(e, FlowCancelled)] == ["price_car"]
    assert state.stack == ()


@pytest.mark.parametrize(
    ("tools", "warning"),
    [
        ("{}", "tool 'get_price' has no result in mock.yml, so it sets no slot"),
        ("{get_price: {result: {structuredContent: {price: x, name: y}}}}", "output 'price'"),
        ("{get_price: {result: 5}}", "output 'price'"),
    ],
)
def test_tool_without_a_fitting_result_leaves_the_slot_alone(
    converse: Converse, tools: str, warning: str
) -> None:
    texts = {"domain.yml": DOMAIN, "data/flows.yml": FLOWS, "mock.yml": f"tools: {tools}"}
    texts["mock.yml"] += "\n" + MOCK.partition("tools:")[0]
    texts["sub_agents/silent/config.yml"] = AGENT
    state, [turn] = converse(assemble(texts), [UserMessage("/StartFlow(price_car)")])
    assert any(warning in event.text for event in turn if isinstance(event, Warned))
    assert state.slots["price"] is None


def test_agent_that_runs_or_has_run_begins_anew(cars: Assistant, converse: Converse) -> None:
    asked = [UserMessage(text) for text in ("/StartFlow(buy_car)", "cheap", "red")]
    again = UserMessage("/RestartAgent(car_agent)")
    state, turns = converse(cars, [*asked, again, UserMessage("red"), UserMessage("small")])
    assert [said(turn)[:1] for turn in turns[2:]] == [
        ["Which size?"],
        ["Which colour, for cheap?"],
        ["Which size?"],
        ["I found one."],
    ]
    assert "pattern_agent_car_agent" not in flows(state)


@pytest.mark.parametrize("opening", ["/StartFlow(tell_weather)", "/StartFlow(buy_car)"])
def test_agent_that_no_running_flow_calls_is_not_restarted(
    cars: Assistant, converse: Converse, opening: str
) -> None:
    restart = UserMessage("/RestartAgent(booking_agent)")
    _, turns = converse(cars, [UserMessage(opening), restart])
    (dropped,) = [e for e in turns[1] if isinstance(e, CommandDropped)]
    assert dropped.reason == "no flow that runs calls this sub agent"
