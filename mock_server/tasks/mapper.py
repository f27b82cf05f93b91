"""Which A2A state a turn ends in (server.md STATE).

The rules are tried in order and the first that holds decides:

1. auth_required   the orchestrator's token is missing or no longer valid
2. rejected        a CannotHandle frame was activated, unless a user flow goes on (rejected_scope)
3. failed          an InternalError frame was activated
4. canceled        a Cancel frame was activated, or the orchestrator called tasks/cancel
5. completed       a user flow completed, none is left, and the bot waits
6. input_required  a Completed frame is open, no user flow, repair is offered, the bot waits,
                   and no user flow completed
7. completed       a Completed frame is open and no user flow; or repair is not offered and the
                   bot waits for an answer to a repair of its own
8. input_required  the bot waits for the user
9. working         otherwise

The patterns of rules 2-4 never listen: their frames are gone when the turn ends, so they count as
active when they were activated during the turn.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from mock_server.dialogue.assistant import Assistant, RejectedScope
from mock_server.dialogue.model import PATTERN_PREFIX, Json
from mock_server.dialogue.state import (
    BotUttered,
    Event,
    FlowCompleted,
    Frame,
    FrameInserted,
    FramePushed,
    asking_frame,
)
from mock_server.dialogue.turn import DEFAULT_ERROR, ERROR_PATTERN
from mock_server.records import record
from mock_server.tasks.task import DataPart, Part, TaskState, TextPart

CANNOT_HANDLE = "pattern_cannot_handle"
CANCEL_FLOW = "pattern_cancel_flow"
COMPLETED = "pattern_completed"
DEFAULT_REASON = "cannot_handle_default"
REPAIR_PATTERNS = frozenset(
    {
        COMPLETED,
        "pattern_customer_satisfaction",
        "pattern_continue_interrupted",
        "pattern_clarification",
        "pattern_skip_question",
        "pattern_chitchat",
        "pattern_search",
        "pattern_session_start",
    }
)


@record
class TurnOutcome:
    """What the mapper sees of a turn: the stack before and after it, and its events."""

    stack: tuple[Frame, ...]
    events: tuple[Event, ...]
    is_waiting: bool
    stack_before: tuple[Frame, ...] = ()
    offers_repair: bool = True
    rejected_scope: RejectedScope = RejectedScope.ONLY_WITHOUT_USER_FLOW
    is_authorized: bool = True
    is_canceled_by_client: bool = False


@dataclass(frozen=True, slots=True)
class StateRule:
    id: str
    state: TaskState
    holds: Callable[[TurnOutcome], bool]


def task_state(turn: TurnOutcome) -> TaskState:
    """The state of the first rule that holds; the last rule always does."""
    return next(rule.state for rule in RULES if rule.holds(turn))


def candidates(turn: TurnOutcome) -> tuple[StateRule, ...]:
    """Every rule that holds, in order, as if cannot-handle always rejected: for the trace."""
    strict = replace(turn, rejected_scope=RejectedScope.ALWAYS)
    return tuple(rule for rule in RULES if rule.holds(strict))


def activated(turn: TurnOutcome, pattern: str) -> Frame | None:
    """The last frame of `pattern` that this turn put on the stack."""
    for event in reversed(turn.events):
        if isinstance(event, FramePushed | FrameInserted) and event.frame.flow_id == pattern:
            return event.frame
    return None


def active_flow(stack: tuple[Frame, ...]) -> str | None:
    """The topmost user flow, never a pattern (OUT-2a)."""
    return next((frame.flow_id for frame in reversed(stack) if not frame.is_pattern), None)


def _pushed(turn: TurnOutcome) -> list[Frame]:
    return [event.frame for event in turn.events if isinstance(event, (FramePushed, FrameInserted))]


def _is_rejected(turn: TurnOutcome) -> bool:
    if activated(turn, CANNOT_HANDLE) is None:
        return False
    return turn.rejected_scope is RejectedScope.ALWAYS or not _has_user_flow(turn)


def _is_canceled(turn: TurnOutcome) -> bool:
    return turn.is_canceled_by_client or activated(turn, CANCEL_FLOW) is not None


def _has_finished(turn: TurnOutcome) -> bool:
    return _completed_user_flow(turn) and not _has_user_flow(turn) and turn.is_waiting


def _offers_more(turn: TurnOutcome) -> bool:
    offers = turn.offers_repair and turn.is_waiting
    return offers and _is_past_completion(turn) and not _completed_user_flow(turn)


def _is_past_completion(turn: TurnOutcome) -> bool:
    is_open = any(frame.flow_id == COMPLETED for frame in turn.stack)
    return is_open and not _has_user_flow(turn)


def _waits_in_hidden_repair(turn: TurnOutcome) -> bool:
    if turn.offers_repair or not turn.is_waiting:
        return False
    asking = asking_frame(turn.stack)
    if asking is not None:
        return asking.flow_id in REPAIR_PATTERNS
    return any(frame.flow_id in REPAIR_PATTERNS for frame in (*turn.stack_before, *_pushed(turn)))


def _has_user_flow(turn: TurnOutcome) -> bool:
    return active_flow(turn.stack) is not None


def _completed_user_flow(turn: TurnOutcome) -> bool:
    return any(
        isinstance(event, FlowCompleted)
        and not event.is_child
        and not event.flow_id.startswith(PATTERN_PREFIX)
        for event in turn.events
    )


RULES = (
    StateRule("STATE-1", TaskState.AUTH_REQUIRED, lambda turn: not turn.is_authorized),
    StateRule("STATE-2", TaskState.REJECTED, _is_rejected),
    StateRule("STATE-3", TaskState.FAILED, lambda turn: activated(turn, ERROR_PATTERN) is not None),
    StateRule("STATE-4", TaskState.CANCELED, _is_canceled),
    StateRule("STATE-5", TaskState.COMPLETED, _has_finished),
    StateRule("STATE-6", TaskState.INPUT_REQUIRED, _offers_more),
    StateRule("STATE-7", TaskState.COMPLETED, _is_past_completion),
    StateRule("STATE-7", TaskState.COMPLETED, _waits_in_hidden_repair),
    StateRule("STATE-8", TaskState.INPUT_REQUIRED, lambda turn: turn.is_waiting),
    StateRule("STATE-9", TaskState.WORKING, lambda _: True),
)


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
            data |= _failure(turn, failure)
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


def _failure(turn: TurnOutcome, failure: Failure | None) -> dict[str, Json]:
    if failure is not None:
        return {"error_type": failure.error_type, "error_info": dict(failure.info)}
    context = _context(turn, ERROR_PATTERN)
    info = context.get("info")
    return {
        "error_type": context.get("error_type") or DEFAULT_ERROR,
        "error_info": info if isinstance(info, dict) else {},
    }
