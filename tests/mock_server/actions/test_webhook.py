"""What an action server is asked, and what its answers come to."""

import json

import pytest

from mock_server.actions.webhook import (
    ActionCall,
    describe_domain,
    encode_call,
    encode_tracker,
    failed,
    read_reply,
)
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.engine import UserMessage, advance
from mock_server.dialogue.model import Button, Json
from mock_server.dialogue.outside import ActionResult, Utterance
from mock_server.dialogue.state import (
    MAX_TRACKED_EVENTS,
    ActionExecuted,
    ActionRequested,
    BotUttered,
    DialogueState,
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
    Tracker,
    UserUttered,
    Warned,
    initial_state,
)
from mock_server.project.load import assemble

DOMAIN = """
slots:
  name: {type: text}
  amount: {type: float, initial_value: 5}
actions: [action_x]
responses:
  utter_ask_name:
    - {text: Who?, buttons: [{title: Me, payload: /me}], image: i.png, custom: {a: 1}, channel: a2a}
"""
FLOWS = "flows: {f: {description: d, steps: [{collect: name}, {action: action_x}]}}"


@pytest.fixture(scope="module")
def assistant() -> Assistant:
    return assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS})


def call(assistant: Assistant) -> ActionCall:
    """Action x, wanted in the turn that follows the question of flow f."""
    turn = advance(assistant, initial_state(assistant), UserMessage("/StartFlow(f)"))
    tracker = Tracker("c1")
    for event in turn.run():
        tracker.record(event, 5.0)
    return ActionCall("action_x", turn.state, tracker, assistant)


def test_call_has_what_the_sdk_reads(assistant: Assistant) -> None:
    domain = describe_domain(assistant)
    body = encode_call(call(assistant), domain, with_domain=True)
    assert isinstance(body, dict)
    assert json.loads(json.dumps(body)) == body
    assert (body["next_action"], body["sender_id"]) == ("action_x", "c1")
    assert (body["domain"], body["domain_digest"]) == (domain.content, domain.digest)
    tracker = body["tracker"]
    assert isinstance(tracker, dict)
    assert isinstance(tracker["slots"], dict)
    assert (tracker["slots"]["name"], tracker["slots"]["amount"]) == (None, 5.0)
    message = tracker["latest_message"]
    assert isinstance(message, dict)
    assert message["text"] == "/StartFlow(f)"
    events = tracker["events"]
    assert isinstance(events, list)
    assert [e["event"] for e in events if isinstance(e, dict)] == [
        "session_started",
        "user",
        "flow_started",
        "action",
        "bot",
        "action",
        "action",
    ]
    assert tracker["latest_action_name"] == "action_listen"
    stack = tracker["stack"]
    assert isinstance(stack, list)
    assert [f["flow_id"] for f in stack if isinstance(f, dict)] == [
        "f",
        "pattern_collect_information",
    ]


def test_known_domain_is_named_only(assistant: Assistant) -> None:
    body = encode_call(call(assistant), describe_domain(assistant), with_domain=False)
    assert isinstance(body, dict)
    assert "domain" not in body


def test_digest_changes_with_the_domain(assistant: Assistant) -> None:
    again = assemble({"domain.yml": DOMAIN, "data/flows.yml": FLOWS})
    other = assemble({"domain.yml": DOMAIN.replace("5", "6"), "data/flows.yml": FLOWS})
    digests = [describe_domain(made).digest for made in (assistant, again, other)]
    assert digests[0] == digests[1] != digests[2]


REPLIES: list[tuple[Json, ActionResult | None]] = [
    ({}, ActionResult()),
    ({"events": None, "responses": None}, ActionResult()),
    (
        {"events": [{"event": "slot", "name": "name", "value": "Ada"}, {"event": "action"}]},
        ActionResult(slots=(("name", "Ada"),)),
    ),
    ({"events": {"name": "Ada"}}, ActionResult(slots=(("name", "Ada"),))),
    (
        {"events": [{"event": "reset_slots"}]},
        ActionResult(slots=(("name", None), ("amount", 5.0))),
    ),
    (
        {"events": [{"event": "bot", "text": "Hi", "data": {"image": "i.png"}}]},
        ActionResult(utterances=(Utterance("Hi", image="i.png"),)),
    ),
    (
        {"events": [{"event": "reminder", "name": "x"}, "nonsense"]},
        ActionResult(
            warnings=(
                "action 'action_x' sent event 'reminder': it is ignored",
                "action 'action_x' sent event None: it is ignored",
            )
        ),
    ),
    (
        {
            "responses": [
                {
                    "text": "Hi",
                    "buttons": [{"title": "A", "payload": "/a"}, {"title": "B"}, {}, 1],
                    "custom": {},
                    "elements": [],
                    "template": None,
                    "response": None,
                    "image": None,
                    "attachment": None,
                },
                {"text": None, "response": "utter_x", "place": "here"},
                {"template": "utter_y"},
                "nonsense",
            ]
        },
        ActionResult(
            utterances=(
                Utterance("Hi", (Button("A", "/a"), Button("B", "B"))),
                Utterance(response="utter_x", arguments={"place": "here"}),
                Utterance(response="utter_y"),
            )
        ),
    ),
    ([], None),
    ("nonsense", None),
    ({"events": 5}, None),
    ({"responses": "x"}, None),
]


@pytest.mark.parametrize(("reply", "result"), REPLIES)
def test_reply_comes_to(assistant: Assistant, reply: Json, result: ActionResult | None) -> None:
    assert read_reply("action_x", assistant, reply) == result


def test_failure_tells_the_reason_to_the_developer_only() -> None:
    result = failed("action_x", "the server is down")
    assert result.failure == {"action": "action_x"}
    assert result.warnings == ("action 'action_x' failed: the server is down",)


def words(tracker: Tracker) -> list[str]:
    return [event.text for _, event in tracker.events if isinstance(event, UserUttered)]


def test_events_have_their_times():
    tracker = Tracker("c1")
    told: list[Event] = [UserUttered("hi"), SlotSet("a", 1, SlotSource.USER), Listened()]
    for seconds, event in enumerate(told):
        tracker.record(event, float(seconds))
    assert [*tracker.events] == [(0.0, told[0]), (1.0, told[1]), (2.0, told[2])]


def test_turn_that_broke_is_taken_back():
    tracker = Tracker("c1")
    tracker.record(UserUttered("one"), 0.0)
    tracker.begin_turn()
    tracker.record(UserUttered("two"), 1.0)
    tracker.undo_turn()
    assert words(tracker) == ["one"]


def test_long_story_forgets_its_beginning():
    tracker = Tracker("c1")
    for number in range(MAX_TRACKED_EVENTS + 5):
        tracker.record(UserUttered(str(number)), 0.0)
    tracker.begin_turn()
    tracker.record(UserUttered("last"), 0.0)
    assert (len(tracker.events), words(tracker)[0]) == (MAX_TRACKED_EVENTS + 1, "5")
    tracker.undo_turn()
    assert words(tracker)[-1] == str(MAX_TRACKED_EVENTS + 4)


def test_forgotten_story_begins_anew():
    tracker = Tracker("c1")
    tracker.record(UserUttered("one"), 0.0)
    tracker.forget()
    assert words(tracker) == []


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
    tracker = Tracker("c1")
    for event in told:
        tracker.record(event, 7.5)
    return encode_tracker(STATE, tracker)["events"]


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
    tracker = Tracker("c1")
    for event in (UserUttered("hi"), ActionExecuted("action_x"), Warned("!")):
        tracker.record(event, 0.0)
    tracker = encode_tracker(STATE, tracker)
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
