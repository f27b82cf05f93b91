"""The tracker of a conversation as rasa-sdk reads it: slots, events and the stack (flows.md §8)."""

from collections.abc import Iterable, Iterator, Mapping

from mock_server.actions.story import Story
from mock_server.dialogue.events import (
    ActionExecuted,
    BotUttered,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowInterrupted,
    FlowResumed,
    FlowStarted,
    Frame,
    Listened,
    Restarted,
    SessionEnded,
    SessionStarted,
    SlotSet,
    UserUttered,
)
from mock_server.dialogue.model import Button, Json
from mock_server.dialogue.state import DialogueState

LISTEN = "action_listen"
NAMES: Mapping[type[Event], str] = {
    SessionStarted: "session_started",
    SessionEnded: "session_ended",
    Restarted: "restart",
    FlowCompleted: "flow_completed",
    FlowCancelled: "flow_cancelled",
    FlowInterrupted: "flow_interrupted",
    FlowResumed: "flow_resumed",
}


def encode_tracker(state: DialogueState, story: Story) -> dict[str, Json]:
    events = [*_encoded(story.events)]
    executed = [event["name"] for event in events if event["event"] == "action"]
    return {
        "sender_id": story.conversation_id,
        "slots": dict(state.slots),
        "latest_message": _message(state.user_text, dict(state.user_metadata)),
        "events": list[Json](events),
        "paused": False,
        "followup_action": None,
        "active_loop": {},
        "latest_action_name": executed[-1] if executed else LISTEN,
        "stack": [_frame(frame) for frame in state.stack],
    }


def encode_buttons(buttons: Iterable[Button]) -> Json:
    return [{"title": button.title, "payload": button.payload} for button in buttons]


def _message(text: str, metadata: Json) -> dict[str, Json]:
    return {
        "text": text,
        "intent": {"name": None, "confidence": 1.0},
        "entities": [],
        "metadata": metadata,
    }


def _encoded(told: Iterable[tuple[float, Event]]) -> Iterator[dict[str, Json]]:
    for seconds, event in told:
        fields = _fields(event)
        if fields is not None:
            yield {"metadata": {}, **fields, "timestamp": seconds}


def _fields(event: Event) -> dict[str, Json] | None:
    """The event as Rasa calls it; None for those that a tracker has under no name."""
    match event:
        case SessionStarted() | SessionEnded() | Restarted():
            return {"event": NAMES[type(event)]}
        case UserUttered(text=text, metadata=metadata):
            message = _message(text, dict(metadata))
            return {
                "event": "user",
                "text": text,
                "parse_data": message,
                "metadata": dict(metadata),
            }
        case BotUttered(text=text, buttons=buttons, custom=custom, image=image):
            extra: Json = {"buttons": encode_buttons(buttons), "custom": custom, "image": image}
            return {"event": "bot", "text": text, "data": extra}
        case SlotSet(name=name, value=value):
            return {"event": "slot", "name": name, "value": value}
        case ActionExecuted(name=name, failure=None):
            return {"event": "action", "name": name, "policy": None, "confidence": None}
        case Listened():
            return {"event": "action", "name": LISTEN, "policy": None, "confidence": None}
        case FlowStarted(flow_id=flow_id):
            return {"event": "flow_started", "flow_id": flow_id}
        case FlowCompleted() | FlowCancelled() | FlowInterrupted() | FlowResumed():
            return {
                "event": NAMES[type(event)],
                "flow_id": event.flow_id,
                "step_id": event.step_id,
            }
        case _:
            return None


def _frame(frame: Frame) -> Json:
    return {
        "frame_id": frame.id,
        "flow_id": frame.flow_id,
        "step_id": frame.step_id,
        "frame_type": frame.type.value,
        "type": frame.flow_id if frame.is_pattern else "flow",
        **frame.context,
    }
