"""Where a session begins and ends, and what runs beside the flows in every turn."""

from collections.abc import Callable

import pytest

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.engine import UserMessage
from mock_server.dialogue.outside import ActionResult
from mock_server.dialogue.state import (
    ActionRequested,
    DialogueState,
    Event,
    FlowCancelled,
    FlowStarted,
    SessionEnded,
    SessionStarted,
    SlotSet,
    SlotSource,
    Warned,
)
from mock_server.project.files import Sources
from mock_server.project.findings import Findings
from mock_server.project.load import assemble, assemble_sources

Converse = Callable[..., tuple[DialogueState, list[list[Event]]]]

DOMAIN = """
actions: [action_session_start, action_clock]
slots:
  name: {type: text}
  now: {type: text, mappings: [{type: controlled, run_action_every_turn: action_clock}]}
  later: {type: text, mappings: [{type: custom, action: action_clock}]}
responses: {utter_ask_name: [{text: Which name?}]}
"""
FLOWS = """
flows:
  rename: {description: change the name, steps: [{collect: name}]}
  other: {description: something else, steps: [{collect: name}]}
"""


@pytest.fixture(scope="module")
def assistant() -> Assistant:
    return assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS})


def requested(turn: list[Event]) -> list[str]:
    return [event.name for event in turn if isinstance(event, ActionRequested)]


def test_own_session_start_runs_before_the_first_message_only(
    assistant: Assistant, converse: Converse
) -> None:
    outcome = ActionResult(slots=(("now", "noon"),))
    _, [first, second] = converse(
        assistant, ["StartFlow(rename)", "SetSlot(name, Joe)"], {"action_session_start": outcome}
    )
    assert first[:3] == [
        SessionStarted(),
        ActionRequested("action_session_start"),
        SlotSet("now", "noon", SlotSource.ACTION),
    ]
    assert "action_session_start" not in requested(second)


def test_action_of_a_controlled_slot_runs_once_in_every_turn(
    assistant: Assistant, converse: Converse
) -> None:
    outcome = ActionResult(slots=(("now", "noon"),))
    state, turns = converse(
        assistant, ["StartFlow(rename)", "SetSlot(name, Joe)"], {"action_clock": outcome}
    )
    assert [requested(turn).count("action_clock") for turn in turns] == [1, 1]
    assert state.slots["now"] == "noon"


def test_its_failure_leaves_the_conversation_alone(
    assistant: Assistant, converse: Converse
) -> None:
    outcome = ActionResult(failure={"action": "action_clock"}, warnings=("no answer",))
    state, [turn] = converse(assistant, ["StartFlow(rename)"], {"action_clock": outcome})
    assert [event.text for event in turn if isinstance(event, Warned)] == [
        "no answer",
        "action 'action_clock' failed: {'action': 'action_clock'}",
    ]
    assert [frame.flow_id for frame in state.stack][:1] == ["rename"]


def test_session_end_leaves_all_flows_and_the_next_message_begins_anew(
    assistant: Assistant, converse: Converse
) -> None:
    state, turns = converse(
        assistant,
        ["StartFlow(rename)", UserMessage("/session_end"), UserMessage("/SetSlots(now=x)")],
    )
    assert [type(e) for e in turns[1] if isinstance(e, FlowCancelled | SessionEnded)] == [
        FlowCancelled,
        SessionEnded,
    ]
    assert SessionStarted() in turns[2]
    assert state.is_started


def test_several_starts_are_clarified_where_the_environment_says_so(converse: Converse) -> None:
    sources = Sources(domain={"domain.yml": DOMAIN}, flows={"data/flows.yml": FLOWS})
    for value, started in (("true", 0), ("false", 2)):
        environment = {"CLARIFY_ON_MULTIPLE_START_FLOWS": value}
        made = assemble_sources(sources, environment, Findings()).assistant
        _, [turn] = converse(made, ["StartFlow(rename);StartFlow(other)"])
        assert sum(isinstance(event, FlowStarted) for event in turn) == started


@pytest.mark.parametrize(("is_carried", "kept"), [("true", "Joe"), ("false", None)])
def test_slots_are_carried_to_a_new_session_as_the_domain_says(
    converse: Converse, is_carried: str, kept: str | None
) -> None:
    assistant = assemble(
        {
            "domain.yml": f"session_config: {{carry_over_slots_to_new_session: {is_carried}}}\n"
            "slots: {who: {type: text}}\nresponses: {utter_ask_who: [{text: Who?}]}",
            "data/f.yml": "flows: {f: {description: d, persisted_slots: [who], "
            "steps: [{collect: who}]}}",
        }
    )
    messages = ["StartFlow(f);SetSlot(who, Joe)", "SessionEnd()", "ChitChat()"]
    state, _ = converse(assistant, messages)
    assert state.slots["who"] == kept
