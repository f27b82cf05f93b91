"""Requests to an action server and its replies (flows.md §8): JSON and our own types."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Button, Json, Variation
from mock_server.dialogue.outside import ActionResult, Utterance
from mock_server.dialogue.state import (
    ActionExecuted,
    BotUttered,
    DialogueState,
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
    Tracker,
    UserUttered,
)

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
VERSION = "3.21.1"
UTTERANCE_KEYS = frozenset(
    {"text", "buttons", "elements", "custom", "template", "response", "image", "attachment"}
)
SILENT_EVENTS = frozenset({"action", "session_started", "user"})


def encode_tracker(state: DialogueState, tracker: Tracker) -> dict[str, Json]:
    events = [*_encoded(tracker.events)]
    executed = [event["name"] for event in events if event["event"] == "action"]
    return {
        "sender_id": tracker.conversation_id,
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


def _encoded(events: Iterable[tuple[float, Event]]) -> Iterator[dict[str, Json]]:
    for seconds, event in events:
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
            said = {"event": "user", "text": text, "parse_data": message}
            return {**said, "metadata": dict(metadata)}
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
            where = {"flow_id": event.flow_id, "step_id": event.step_id}
            return {"event": NAMES[type(event)], **where}
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


@dataclass(frozen=True, slots=True)
class ActionCall:
    """A run of action `name` in `state`; `tracker` has the events up to it."""

    name: str
    state: DialogueState
    tracker: Tracker
    assistant: Assistant


@dataclass(frozen=True, slots=True)
class Domain:
    """The domain as action servers know it; `digest` names this version of it."""

    content: Json
    digest: str


def describe_domain(assistant: Assistant) -> Domain:
    content: Json = {
        "version": "3.1",
        "config": {"store_entities_as_slots": True},
        "session_config": {},
        "intents": [],
        "entities": [],
        "slots": {
            slot.name: {
                "type": slot.type.value,
                "initial_value": slot.initial_value,
                "influence_conversation": False,
                "values": list(slot.values),
                "mappings": [{"type": slot.filler.value}],
            }
            for slot in assistant.slots.values()
        },
        "responses": {
            name: [_variation(variation) for variation in variations]
            for name, variations in assistant.responses.items()
        },
        "actions": [*sorted(assistant.actions)],
        "forms": {},
        "e2e_actions": [],
    }
    return Domain(content, hashlib.sha256(json.dumps(content).encode()).hexdigest())


def _variation(variation: Variation) -> Json:
    said: dict[str, Json] = {"text": variation.text, "buttons": encode_buttons(variation.buttons)}
    more = {"channel": variation.channel, "image": variation.image, "custom": variation.custom}
    return said | {key: value for key, value in more.items() if value is not None}


def encode_call(call: ActionCall, domain: Domain, *, with_domain: bool) -> Json:
    """The body of `POST /webhook`; the server may know the domain by its digest."""
    body: dict[str, Json] = {
        "next_action": call.name,
        "sender_id": call.tracker.conversation_id,
        "tracker": encode_tracker(call.state, call.tracker),
        "domain_digest": domain.digest,
        "version": VERSION,
    }
    return {**body, "domain": domain.content} if with_domain else body


def read_reply(name: str, assistant: Assistant, reply: Json) -> ActionResult | None:
    """The result of action `name` in the body of a 200; None if it has another shape.

    Events that a flow cannot use are named in the warnings.
    """
    if not isinstance(reply, dict):
        return None
    events, responses = reply.get("events") or [], reply.get("responses") or []
    if isinstance(events, dict):  # a validation that returns its slots plainly
        events = [{"event": "slot", "name": key, "value": value} for key, value in events.items()]
    if not isinstance(events, list) or not isinstance(responses, list):
        return None
    slots: list[tuple[str, Json]] = []
    utterances = [*_utterances(responses)]
    warnings: list[str] = []
    for event in events:
        fields: Mapping[str, Json] = event if isinstance(event, dict) else {}
        match fields.get("event"), fields.get("name"):
            case "slot", str(slot):
                slots.append((slot, fields.get("value")))
            case "reset_slots", _:
                known = assistant.slots.values()
                slots += ((s.name, s.initial_value) for s in known if not s.is_builtin)
            case "bot", _:
                extra = fields.get("data")
                said = {**(extra if isinstance(extra, dict) else {}), "text": fields.get("text")}
                utterances += _utterances([said])
            case str(kind), _ if kind in SILENT_EVENTS:
                pass
            case kind, _:
                warnings.append(f"action {name!r} sent event {kind!r}: it is ignored")
    return ActionResult(tuple(slots), tuple(utterances), None, tuple(warnings))


def _utterances(responses: Iterable[Json]) -> Iterator[Utterance]:
    for response in responses:
        if isinstance(response, dict):
            arguments = {key: said for key, said in response.items() if key not in UTTERANCE_KEYS}
            yield Utterance(
                text=_text(response, "text") or "",
                buttons=tuple(_read_buttons(response.get("buttons"))),
                response=_text(response, "response") or _text(response, "template"),
                arguments=arguments,
                image=_text(response, "image"),
                custom=response.get("custom") or None,
            )


def _text(fields: Mapping[str, Json], key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) and value else None


def _read_buttons(buttons: Json) -> Iterator[Button]:
    for button in buttons if isinstance(buttons, list) else ():
        title = button.get("title") if isinstance(button, dict) else None
        if isinstance(button, dict) and isinstance(title, str):
            yield Button(title, _text(button, "payload") or title)


def failed(name: str, reason: str) -> ActionResult:
    """A failure of action `name`; only the developer sees why."""
    return ActionResult(failure={"action": name}, warnings=(f"action {name!r} failed: {reason}",))
