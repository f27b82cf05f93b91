"""The patterns of Rasa 3.14, for projects that were written for it."""

from collections.abc import Callable

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.state import BotUttered, DialogueState, Event, FlowResumed
from mock_server.project.load import assemble

Converse = Callable[..., tuple[DialogueState, list[list[Event]]]]

DOMAIN = """
slots: {note: {type: text}, name: {type: text}}
responses:
  utter_ask_note: [{text: Which note?}]
  utter_ask_name: [{text: Which name?}]
  utter_balance: [{text: You have 5.}]
"""
FLOWS = """
flows:
  memo: {description: leave a note, steps: [{collect: note}]}
  rename: {description: change the name, steps: [{collect: name}]}
  balance: {description: show the balance, steps: [{action: utter_balance}]}
"""


def assistant(mock: str = 'patterns_profile: "3.14"') -> Assistant:
    return assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS, "mock.yml": mock})


def responses(turn: list[Event]) -> list[str | None]:
    return [event.response for event in turn if isinstance(event, BotUttered)]


def test_completion_is_told_and_not_asked(converse: Converse) -> None:
    state, [turn] = converse(assistant(), ["StartFlow(balance)"])
    assert responses(turn) == ["utter_balance", "utter_can_do_something_else"]
    assert state.stack == ()


def test_interrupted_flows_go_on_by_themselves_one_after_the_other(converse: Converse) -> None:
    messages = ["StartFlow(memo)", "StartFlow(rename)", "StartFlow(balance)", "SetSlot(name, Joe)"]
    state, turns = converse(assistant(), messages)
    assert responses(turns[2]) == [
        "utter_balance", "utter_flow_continue_interrupted", "utter_ask_name",
    ]  # fmt: skip
    assert FlowResumed("rename", "rename_0_collect_name") in turns[2]
    assert responses(turns[3]) == ["utter_flow_continue_interrupted", "utter_ask_note"]
    assert [frame.flow_id for frame in state.stack] == ["memo", "pattern_collect_information"]


def test_nobody_asks_how_satisfied_the_user_was() -> None:
    assert "pattern_customer_satisfaction" not in assistant().flows
    assert "pattern_customer_satisfaction" in assistant("").flows


def test_project_overrides_a_pattern_of_either_profile(converse: Converse) -> None:
    silent = "  pattern_completed: {steps: [{noop: true, next: END}]}\n"
    texts = {"domain.yml": DOMAIN, "data/flows.yml": FLOWS + silent}
    for mock in ('patterns_profile: "3.14"', ""):
        _, [turn] = converse(assemble({**texts, "mock.yml": mock}), ["StartFlow(balance)"])
        assert responses(turn) == ["utter_balance"]
