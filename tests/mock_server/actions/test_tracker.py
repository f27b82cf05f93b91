"""The tracker that an action server gets."""

import pytest

from mock_server.actions.story import Story
from mock_server.actions.tracker import encode_tracker
from mock_server.dialogue.events import (
    ActionExecuted,
    ActionRequested,
    BotUttered,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowInterrupted,
    FlowResumed,
    FlowStarted,
    Frame,
    FramePushed,
    Listened,
    Restarted,
    SessionEnded,
    SessionStarted,
    SlotSet,
    SlotSource,
    UserUttered,
    Warned,
)
from mock_server.dialogue.model import Button, Json
from mock_server.dialogue.state import DialogueState

STATE = DialogueState(
    slots={"a": 1}, initial_slots={}, user_text="hi", stack=(Frame("1", "f", "s"),)
)
ACTION: dict[str, Json] = {"event": "action", "policy": None, "confidence": None}
MESSAGE: Json = {
    "text": "hi",
    "intent": {"name": None, "confidence": 1.0},
    "entities": [],
    "metadata": {"k": 1},
}


def events_of(*told: Event) -> Json:
    story = Story("c1")
    for event in told:
        story.tell(event, 7.5)
    return encode_tracker(STATE, story)["events"]


@pytest.mark.parametrize(
    ("event", "encoded"),
    [
        (SessionStarted(), {"event": "session_started"}),
        (SessionEnded(), {"event": "session_ended"}),
        (Restarted(), {"event": "restart"}),
        (
            UserUttered("hi", {"k": 1}),
            {"event": "user", "text": "hi", "parse_data": MESSAGE, "metadata": {"k": 1}},
        ),
        (
            BotUttered("yes", (Button("t", "/p"),)),
            {
                "event": "bot",
                "text": "yes",
                "data": {
                    "buttons": [{"title": "t", "payload": "/p"}],
                    "custom": None,
                    "image": None,
                },
            },
        ),
        (SlotSet("a", [1], SlotSource.USER), {"event": "slot", "name": "a", "value": [1]}),
        (ActionExecuted("action_x"), {**ACTION, "name": "action_x"}),
        (Listened(), {**ACTION, "name": "action_listen"}),
        (FlowStarted("f"), {"event": "flow_started", "flow_id": "f"}),
        (FlowCompleted("f", "s"), {"event": "flow_completed", "flow_id": "f", "step_id": "s"}),
        (FlowCancelled("f", "s"), {"event": "flow_cancelled", "flow_id": "f", "step_id": "s"}),
        (FlowInterrupted("f", "s"), {"event": "flow_interrupted", "flow_id": "f", "step_id": "s"}),
        (FlowResumed("f", "s"), {"event": "flow_resumed", "flow_id": "f", "step_id": "s"}),
    ],
)
def test_event_has_its_name_and_time(event: Event, encoded: dict[str, Json]):
    assert events_of(event) == [{"metadata": {}, **encoded, "timestamp": 7.5}]


@pytest.mark.parametrize(
    "event",
    [
        Warned("!"),
        ActionRequested("action_x"),
        ActionExecuted("action_x", {"action": "action_x"}),
        FramePushed(Frame("1", "f", "s")),
    ],
)
def test_inner_matters_are_left_out(event: Event):
    assert events_of(event) == []


def test_tracker_tells_where_the_dialogue_stands():
    story = Story("c1")
    for event in (UserUttered("hi"), ActionExecuted("action_x"), Warned("!")):
        story.tell(event, 0.0)
    tracker = encode_tracker(STATE, story)
    assert (tracker["sender_id"], tracker["slots"]) == ("c1", {"a": 1})
    assert tracker["latest_action_name"] == "action_x"
    assert tracker["stack"] == [
        {
            "frame_id": "1",
            "flow_id": "f",
            "step_id": "s",
            "frame_type": "regular",
            "type": "flow",
        }
    ]
