"""What a task's status says of a turn: the bot's words and the DataPart (server.md OUT)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.events import BotUttered, Event, FlowCompleted
from mock_server.dialogue.model import Json
from mock_server.tasks.mapper import (
    CANNOT_HANDLE,
    INTERNAL_ERROR,
    TurnOutcome,
    activated,
    active_flow,
)
from mock_server.tasks.task import DataPart, Part, TaskState, TextPart

DEFAULT_REASON = "cannot_handle_default"
DEFAULT_ERROR = "rasa_internal_error_default"


class CancelReason(StrEnum):
    USER = "user"
    ORCHESTRATOR = "orchestrator"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a task failed that no pattern of the dialogue accounts for."""

    error_type: str
    info: Mapping[str, Json]


def status_parts(
    assistant: Assistant,
    slots: Mapping[str, Json],
    state: TaskState,
    turn: TurnOutcome,
    *,
    reason: CancelReason = CancelReason.USER,
    failure: Failure | None = None,
) -> tuple[Part, ...]:
    """The parts of the status message: a TextPart if anything was said, then the DataPart."""
    data: dict[str, Json] = {
        "state": state.value,
        "active_flow": active_flow(turn.stack),
        "slots": visible_slots(assistant, slots),
    }
    match state:
        case TaskState.COMPLETED:
            data["persisted_slots"] = persisted_slots(turn.events)
        case TaskState.REJECTED:
            data["reason"] = _context(turn, CANNOT_HANDLE).get("reason") or DEFAULT_REASON
        case TaskState.CANCELED:
            data["reason"] = reason.value
        case TaskState.FAILED:
            data |= _failure(turn) if failure is None else _written(failure)
        case _:
            pass
    text = "\n\n".join(utterances(turn.events))
    return (TextPart(text), DataPart(data)) if text else (DataPart(data),)


def visible_slots(assistant: Assistant, slots: Mapping[str, Json]) -> dict[str, Json]:
    """The domain's own slots that have a value; not those of an earlier version of it."""
    return {
        name: value
        for name, value in slots.items()
        if value is not None and name in assistant.slots and not assistant.slots[name].is_builtin
    }


def persisted_slots(events: Iterable[Event]) -> dict[str, Json]:
    """What the flows that completed in this turn leave behind."""
    return {
        name: value
        for event in events
        if isinstance(event, FlowCompleted)
        for name, value in event.persisted_slots.items()
        if value is not None
    }


def utterances(events: Iterable[Event]) -> tuple[str, ...]:
    """The bot's texts; buttons a line each, as Rasa's base channel prints them (OUT-2a)."""
    return tuple(
        text for event in events if isinstance(event, BotUttered) and (text := _text(event))
    )


def _text(event: BotUttered) -> str:
    buttons = (
        f"{number}: {button.title} ({button.payload})"
        for number, button in enumerate(event.buttons, start=1)
    )
    return "\n".join(line for line in (event.text, *buttons) if line)


def _context(turn: TurnOutcome, pattern: str) -> Mapping[str, Json]:
    frame = activated(turn, pattern)
    return frame.context if frame else {}


def _failure(turn: TurnOutcome) -> dict[str, Json]:
    context = _context(turn, INTERNAL_ERROR)
    info = context.get("info")
    return {
        "error_type": context.get("error_type") or DEFAULT_ERROR,
        "error_info": info if isinstance(info, dict) else {},
    }


def _written(failure: Failure) -> dict[str, Json]:
    return {"error_type": failure.error_type, "error_info": dict(failure.info)}
