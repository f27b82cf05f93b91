"""Expectations and events in the words of the test files."""

import pytest

from mock_server.dialogue.events import (
    ActionExecuted,
    BotUttered,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowStarted,
    Listened,
    SlotSet,
    SlotSource,
)
from mock_server.dialogue.model import Button
from mock_server.e2e.model import (
    ActionRuns,
    BotDoesNotSay,
    BotSays,
    ClarificationOffers,
    Demand,
    ExpectedButton,
    FlowCompletes,
    FlowIsCancelled,
    FlowStarts,
    JudgeNeeded,
    Saying,
    SlotChange,
    SlotIsNotSet,
    SlotIsSet,
)
from mock_server.e2e.report import spell, spell_event

BUTTONS = (ExpectedButton("Yes", "/y"), ExpectedButton("No"))


@pytest.mark.parametrize(
    ("demand", "words"),
    [
        (BotSays(Saying(text='a "b"')), 'bot: "a \\"b\\""'),
        (BotSays(Saying(response="utter_a")), "utter: utter_a"),
        (BotDoesNotSay(Saying(response="utter_a")), "bot_did_not_utter: utter_a"),
        (
            BotSays(Saying(pattern="^a", response="utter_a", buttons=BUTTONS)),
            'bot_uttered: utter_name utter_a, text_matches "^a", buttons ["Yes" (/y), "No"]',
        ),
        (BotDoesNotSay(Saying(pattern="é")), 'bot_did_not_utter: text_matches "é"'),
        (SlotIsSet(SlotChange("a")), "slot_was_set: a"),
        (SlotIsSet(SlotChange("a", None, has_value=True)), "slot_was_set: a = null"),
        (SlotIsNotSet(SlotChange("a", "x", has_value=True)), 'slot_was_not_set: a = "x"'),
        (FlowStarts(("a", "b")), "flow_started: a or b"),
        (FlowCompletes("a", "s"), "flow_completed: a at s"),
        (FlowIsCancelled("a"), "flow_cancelled: a"),
        (ClarificationOffers(("a", "b")), "pattern_clarification_contains: a, b"),
        (ClarificationOffers(("a", "b"), True), "pattern_clarification_contains: a or b"),
        (ActionRuns("act"), "action_executed: act"),
        (JudgeNeeded("generative_response_is_grounded"), "generative_response_is_grounded"),
    ],
)
def test_demand_is_spelled_on_one_line(demand: Demand, words: str) -> None:
    assert spell(demand) == words


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (BotUttered("a", response="utter_a"), 'bot: "a" (utter_a)'),
        (BotUttered("a", (Button("Yes", "/y"), Button("No", "/n"))), 'bot: "a" ["Yes", "No"]'),
        (SlotSet("a", 5.0, SlotSource.USER), "slot_was_set: a = 5.0"),
        (FlowStarted("a"), "flow_started: a"),
        (FlowCompleted("a", "s"), "flow_completed: a at s"),
        (FlowCancelled("a", "s"), "flow_cancelled: a at s"),
        (ActionExecuted("act"), "action_executed: act"),
        (ActionExecuted("act", {"action": "act"}), "action act failed"),
        (Listened(), None),
    ],
)
def test_event_is_spelled_as_it_would_be_asked_for(event: Event, words: str | None) -> None:
    assert spell_event(event) == words
