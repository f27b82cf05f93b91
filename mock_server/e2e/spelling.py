"""What is expected, and what came, in the words of the test files."""

import json
from typing import assert_never

from mock_server.dialogue.events import (
    ActionExecuted,
    BotUttered,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowStarted,
    SlotSet,
)
from mock_server.dialogue.model import Json
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


def spell(demand: Demand) -> str:
    """A demand on one line, e.g. `slot_was_set: amount = 50`."""
    match demand:
        case BotSays(saying=saying):
            return _saying("bot_uttered", "utter", saying)
        case BotDoesNotSay(saying=saying):
            return _saying("bot_did_not_utter", "bot_did_not_utter", saying)
        case SlotIsSet(change=change):
            return f"slot_was_set: {_change(change)}"
        case SlotIsNotSet(change=change):
            return f"slot_was_not_set: {_change(change)}"
        case FlowStarts(flow_ids=flow_ids):
            return f"flow_started: {' or '.join(flow_ids)}"
        case FlowCompletes(flow_id=flow_id, step_id=step_id):
            return f"flow_completed: {_at(flow_id, step_id)}"
        case FlowIsCancelled(flow_id=flow_id, step_id=step_id):
            return f"flow_cancelled: {_at(flow_id, step_id)}"
        case ClarificationOffers(flows=flows, is_any_enough=is_any_enough):
            return (
                f"pattern_clarification_contains: {(' or ' if is_any_enough else ', ').join(flows)}"
            )
        case ActionRuns(name=name):
            return f"action_executed: {name}"
        case JudgeNeeded(assertion=assertion):
            return assertion
        case _:
            assert_never(demand)


def spell_event(event: Event) -> str | None:
    """An event as the test files would ask for it; None for those they cannot ask for."""
    match event:
        case BotUttered(text=text, response=response, buttons=buttons):
            said = f"bot: {_quoted(text)}" + (f" ({response})" if response else "")
            titles = ", ".join(_quoted(button.title) for button in buttons)
            return f"{said} [{titles}]" if titles else said
        case SlotSet(name=name, value=value):
            return f"slot_was_set: {name} = {_quoted(value)}"
        case FlowStarted(flow_id=flow_id):
            return f"flow_started: {flow_id}"
        case FlowCompleted(flow_id=flow_id, step_id=step_id):
            return f"flow_completed: {_at(flow_id, step_id)}"
        case FlowCancelled(flow_id=flow_id, step_id=step_id):
            return f"flow_cancelled: {_at(flow_id, step_id)}"
        case ActionExecuted(name=name, failure=failure):
            return f"action_executed: {name}" if failure is None else f"action {name} failed"
        case _:
            return None


def _saying(key: str, short: str, saying: Saying) -> str:
    match saying:
        case Saying(text=str(text)):
            return f"bot: {_quoted(text)}"
        case Saying(response=str(response), pattern=None, buttons=None):
            return f"{short}: {response}"
        case _:
            parts = [
                f"utter_name {saying.response}" if saying.response is not None else "",
                f"text_matches {_quoted(saying.pattern)}" if saying.pattern is not None else "",
                f"buttons {_buttons(saying.buttons)}" if saying.buttons is not None else "",
            ]
            return f"{key}: {', '.join(part for part in parts if part)}"


def _buttons(buttons: tuple[ExpectedButton, ...]) -> str:
    spelled = (
        _quoted(button.title) + (f" ({button.payload})" if button.payload is not None else "")
        for button in buttons
    )
    return f"[{', '.join(spelled)}]"


def _change(change: SlotChange) -> str:
    return f"{change.name} = {_quoted(change.value)}" if change.has_value else change.name


def _at(flow_id: str, step_id: str | None) -> str:
    return flow_id if step_id is None else f"{flow_id} at {step_id}"


def _quoted(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
