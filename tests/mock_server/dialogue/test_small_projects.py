"""Sentences of flows.md that need a project of their own to be seen."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.engine import UserMessage
from mock_server.dialogue.state import (
    BotUttered,
    DialogueState,
    Event,
    FlowResumed,
    SlotSet,
    Warned,
)
from mock_server.project.load import assemble

Converse = Callable[..., tuple[DialogueState, list[list[Event]]]]

DOMAIN = """
slots:
  a: {type: text}
  b: {type: text}
  n: {type: float}
responses:
  utter_ask_a: [{text: a?}]
  utter_ask_b: [{text: b?}]
  utter_ask_n: [{text: n?}]
  utter_ask_confirm_correction: [{text: sure?}]
  utter_place: [{text: "{context.flow_id} {context.frame_id} {context.step_id}"}]
  utter_seen: [{text: "{context.reason} {context.previous_flow_name}"}]
  utter_broken:
    - text: never
      condition: "slots.n < 'x' and {{ 1 / 0 }}"
    - text: always
"""

ONE = """
flows:
  one:
    name: the first
    description: d
    steps: [{collect: a}, {collect: b}]
  two:
    name: the other
    description: d
    steps: [{collect: n}]
  three:
    description: d
    steps: [{id: here, action: utter_place, next: END}]
"""


def project(flows: str = "") -> Assistant:
    return assemble({"domain.yml": DOMAIN, "data/one.yml": ONE, "data/more.yml": flows})


def texts(turn: Iterable[Event]) -> list[str]:
    return [event.text for event in turn if isinstance(event, BotUttered)]


def test_pattern_knows_its_own_place(converse: Converse) -> None:
    pattern = "{description: d, steps: [{id: here, action: utter_place}]}"
    assistant = project(f"flows: {{pattern_chitchat: {pattern}}}")
    _, [turn] = converse(assistant, ["ChitChat()"])
    assert texts(turn) == ["pattern_chitchat 1 here"]


def test_pattern_does_not_see_the_fields_of_another_below_it(converse: Converse) -> None:
    pattern = "{description: d, steps: [{action: utter_seen}]}"
    assistant = project(f"flows: {{pattern_cannot_handle: {pattern}}}")
    _, turns = converse(assistant, ["StartFlow(three)", "CannotHandle(odd)"])
    assert texts(turns[-1])[0] == "odd None"


def test_correction_outside_its_pattern_does_nothing(converse: Converse) -> None:
    odd = "{description: d, steps: [{action: action_correct_flow_slot}]}"
    _, [turn] = converse(project(f"flows: {{odd: {odd}}}"), ["StartFlow(odd)"])
    assert Warned("'odd' has nothing to correct") in turn


CONFIRMING = """
flows:
  pattern_correction:
    description: d
    steps:
      - collect: confirm_correction
      - action: action_correct_flow_slot
"""


def test_correction_goes_on_where_its_step_was_renamed_meanwhile(converse: Converse) -> None:
    old = project(CONFIRMING)
    state, _ = converse(old, ["StartFlow(one)", "SetSlot(a, x)", "SetSlot(a, y)"])
    flow = old.flows["one"]
    first, second = flow.steps.values()
    steps = {"renamed": replace(first, id="renamed"), second.id: second}
    edited = replace(flow, steps=steps, first_step="renamed")
    new = replace(old, flows={**old.flows, "one": edited})
    state, [turn] = converse(new, ["SetSlot(confirm_correction, true)"], state=state)
    assert state.slots["a"] == "y"
    assert texts(turn) == ["b?"]


def test_silence_is_counted_anew_once_the_user_speaks(converse: Converse) -> None:
    silence = UserMessage("/silence_timeout")
    state, turns = converse(project(), ["StartFlow(one)", silence, silence, "SetSlot(a, x)"])
    assert state.slots["consecutive_silence_timeouts"] == 0.0
    _, [turn] = converse(project(), [silence], state=state)
    assert texts(turns[2])[0] == "Are you still there?"
    assert texts(turn) == ["b?"]


INTERRUPTED = ("StartFlow(one)", "StartFlow(two)", "StartFlow(odd)", "SetSlot(b, x)")
ODD = "flows: {odd: {description: d, steps: [{collect: b}]}}"


def test_offered_flow_is_chosen_by_words_that_are_like_its_name(converse: Converse) -> None:
    _, turns = converse(project(ODD), [*INTERRUPTED, UserMessage("the frist")])
    assert FlowResumed("one", "one_0_collect_a") in turns[-1]


def test_words_that_name_no_offered_flow_choose_none(converse: Converse) -> None:
    state, turns = converse(project(ODD), [*INTERRUPTED, UserMessage("potatoes")])
    assert texts(turns[-1])[-1] == texts(turns[-2])[-1]
    _, [turn] = converse(project(ODD), [UserMessage("neither of them")], state=state)
    assert next(e.value for e in turn if isinstance(e, SlotSet)) == "none"


def test_flow_that_starts_ends_the_pattern_whose_question_it_answers(converse: Converse) -> None:
    asking = "flows: {pattern_completed: {description: d, steps: [{collect: a}, {collect: b}]}}"
    state, _ = converse(project(asking), ["StartFlow(three)", "SetSlot(a, x)", "StartFlow(two)"])
    assert state.slots["a"] is None


def test_condition_that_cannot_be_read_chooses_no_variation(converse: Converse) -> None:
    odd = "flows: {odd: {description: d, steps: [{action: utter_broken}]}}"
    _, [turn] = converse(project(odd), ["StartFlow(odd)"])
    assert "always" in texts(turn)
    assert any(isinstance(e, Warned) and "utter_broken" in e.text for e in turn)


def test_flow_that_a_pattern_calls_is_not_offered_to_go_on(converse: Converse) -> None:
    calling = "flows: {pattern_chitchat: {description: d, steps: [{call: two}]}}"
    state, turns = converse(project(calling), ["ChitChat()", "StartFlow(three)"])
    assert texts(turns[-1])[-1] == "n?"
    assert [frame.flow_id for frame in state.stack][:2] == ["pattern_chitchat", "two"]


def test_flow_that_repeats_in_circles_does_not_say_ever_more(converse: Converse) -> None:
    step = "{id: again, action: action_repeat_bot_messages, next: again}"
    circle = f"flows: {{circle: {{description: d, steps: [{step}]}}}}"
    _, turns = converse(project(circle), ["ChitChat()", *["StartFlow(circle)"] * 4])
    assert max(len(turn) for turn in turns) < 10_000
