"""What a task's status message says."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.events import BotUttered, Event, FlowCompleted, Frame, FramePushed
from mock_server.dialogue.model import Button, Json, Slot, SlotType
from mock_server.tasks.mapper import TurnOutcome
from mock_server.tasks.report import CancelReason, Failure, status_parts
from mock_server.tasks.task import DataPart, TaskState, TextPart

ASSISTANT = Assistant(
    slots={
        slot.name: slot
        for slot in (
            Slot("recipient", SlotType.TEXT),
            Slot("amount", SlotType.FLOAT),
            Slot("continue_conversation", SlotType.BOOL, is_builtin=True),
        )
    }
)
SLOTS: Mapping[str, Json] = {"recipient": "Joe", "amount": None, "continue_conversation": True}


def pattern(flow_id: str, **context: Json) -> Event:
    return FramePushed(Frame("1", flow_id, "s", context=context))


def data(state: TaskState, *events: Event, failure: Failure | None = None) -> Mapping[str, Json]:
    turn = TurnOutcome((Frame("0", "transfer", "s"),), events, is_waiting=True)
    part = status_parts(ASSISTANT, SLOTS, state, turn, failure=failure)[-1]
    assert isinstance(part, DataPart)
    return part.data


@pytest.mark.req("OUT-2")
def test_open_task_shows_flow_and_own_slots_with_a_value() -> None:
    assert data(TaskState.INPUT_REQUIRED) == {
        "state": "input_required",
        "active_flow": "transfer",
        "slots": {"recipient": "Joe"},
    }


@pytest.mark.req("OUT-2", "OUT-2a")
def test_completed_task_shows_what_every_completed_flow_persists() -> None:
    events = (
        FlowCompleted("a", "END", persisted_slots={"recipient": "Joe", "amount": None}),
        FlowCompleted("b", "END", persisted_slots={"amount": 3.0}),
    )
    shown = data(TaskState.COMPLETED, *events)
    assert shown["persisted_slots"] == {"recipient": "Joe", "amount": 3.0}
    assert "persisted_slots" not in data(TaskState.INPUT_REQUIRED, *events)


@pytest.mark.req("OUT-2")
@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ({"reason": "cannot_handle_not_supported"}, "cannot_handle_not_supported"),
        ({}, "cannot_handle_default"),
        ({"reason": None}, "cannot_handle_default"),
    ],
)
def test_rejected_task_says_why(context: dict[str, Json], reason: str) -> None:
    event = pattern("pattern_cannot_handle", **context)
    assert data(TaskState.REJECTED, event)["reason"] == reason


@pytest.mark.req("OUT-2")
def test_canceled_task_says_by_whom() -> None:
    turn = TurnOutcome((), (), is_waiting=True)
    for reason in CancelReason:
        part = status_parts(ASSISTANT, SLOTS, TaskState.CANCELED, turn, reason=reason)[0]
        assert isinstance(part, DataPart)
        assert part.data["reason"] == reason.value
        assert part.data["active_flow"] is None


@pytest.mark.req("OUT-2")
def test_failed_task_says_what_failed() -> None:
    event = pattern(
        "pattern_internal_error", error_type="rasa_internal_error_x", info={"action": "action_y"}
    )
    shown = data(TaskState.FAILED, event)
    assert shown["error_type"] == "rasa_internal_error_x"
    assert shown["error_info"] == {"action": "action_y"}


@pytest.mark.req("OUT-2")
def test_failure_outside_the_dialogue_has_its_own_type() -> None:
    shown = data(TaskState.FAILED, failure=Failure("context_limit", {}))
    assert (shown["error_type"], shown["error_info"]) == ("context_limit", {})
    bare = data(TaskState.FAILED)
    assert (bare["error_type"], bare["error_info"]) == ("rasa_internal_error_default", {})


@pytest.mark.req("OUT-1", "OUT-2a")
def test_text_is_what_the_bot_said_with_its_buttons() -> None:
    turn = TurnOutcome((), (), is_waiting=True)
    said = (
        BotUttered("Hello."),
        BotUttered("Sure?", buttons=(Button("Yes", "/SetSlots(x=true)"), Button("No", "no"))),
        BotUttered(""),
    )
    parts = status_parts(ASSISTANT, SLOTS, TaskState.INPUT_REQUIRED, replace(turn, events=said))
    assert parts[0] == TextPart("Hello.\n\nSure?\n1: Yes (/SetSlots(x=true))\n2: No (no)")
    assert isinstance(parts[1], DataPart)


@pytest.mark.req("OUT-1")
def test_silent_turn_has_no_text_part() -> None:
    turn = TurnOutcome((), (), is_waiting=True)
    parts = status_parts(ASSISTANT, SLOTS, TaskState.COMPLETED, turn)
    assert [type(part) for part in parts] == [DataPart]
