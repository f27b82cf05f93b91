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

from collections.abc import Callable
from dataclasses import dataclass, replace

from mock_server.dialogue.assistant import RejectedScope
from mock_server.dialogue.events import Event, FlowCompleted, Frame, FrameInserted, FramePushed
from mock_server.dialogue.model import PATTERN_PREFIX
from mock_server.records import record
from mock_server.tasks.task import TaskState

CANNOT_HANDLE = "pattern_cannot_handle"
INTERNAL_ERROR = "pattern_internal_error"
CANCEL_FLOW = "pattern_cancel_flow"
COMPLETED = "pattern_completed"

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
# These ask on behalf of the frame below them, whose question it is.
ASKING_PATTERNS = frozenset({"pattern_collect_information", "pattern_validate_slot"})


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
class Rule:
    id: str
    state: TaskState
    holds: Callable[[TurnOutcome], bool]


def task_state(turn: TurnOutcome) -> TaskState:
    """The state of the first rule that holds; the last rule always does."""
    return next(rule.state for rule in RULES if rule.holds(turn))


def candidates(turn: TurnOutcome) -> tuple[Rule, ...]:
    """Every rule that holds, in order, as if cannot-handle always rejected: for the trace."""
    strict = replace(turn, rejected_scope=RejectedScope.ALWAYS)
    return tuple(rule for rule in RULES if rule.holds(strict))


def activated(turn: TurnOutcome, pattern: str) -> Frame | None:
    """The last frame of `pattern` that this turn put on the stack."""
    return next((frame for frame in reversed(_pushed(turn)) if frame.flow_id == pattern), None)


def active_flow(stack: tuple[Frame, ...]) -> str | None:
    """The topmost user flow, never a pattern (OUT-2a)."""
    return next((frame.flow_id for frame in reversed(stack) if not frame.is_pattern), None)


def _pushed(turn: TurnOutcome) -> list[Frame]:
    return [event.frame for event in turn.events if isinstance(event, (FramePushed, FrameInserted))]


def _is_unauthorized(turn: TurnOutcome) -> bool:
    return not turn.is_authorized


def _is_rejected(turn: TurnOutcome) -> bool:
    if activated(turn, CANNOT_HANDLE) is None:
        return False
    return turn.rejected_scope is RejectedScope.ALWAYS or not _has_user_flow(turn)


def _has_failed(turn: TurnOutcome) -> bool:
    return activated(turn, INTERNAL_ERROR) is not None


def _is_canceled(turn: TurnOutcome) -> bool:
    return turn.is_canceled_by_client or activated(turn, CANCEL_FLOW) is not None


def _has_finished(turn: TurnOutcome) -> bool:
    return _completed_user_flow(turn) and not _has_user_flow(turn) and turn.is_waiting


def _offers_more(turn: TurnOutcome) -> bool:
    return (
        _is_open(turn, COMPLETED)
        and not _has_user_flow(turn)
        and turn.offers_repair
        and turn.is_waiting
        and not _completed_user_flow(turn)
    )


def _is_past_completion(turn: TurnOutcome) -> bool:
    return _is_open(turn, COMPLETED) and not _has_user_flow(turn)


def _waits_in_hidden_repair(turn: TurnOutcome) -> bool:
    if turn.offers_repair or not turn.is_waiting:
        return False
    asking = next((f for f in reversed(turn.stack) if f.flow_id not in ASKING_PATTERNS), None)
    if asking is not None:
        return asking.flow_id in REPAIR_PATTERNS
    return any(frame.flow_id in REPAIR_PATTERNS for frame in (*turn.stack_before, *_pushed(turn)))


def _is_waiting(turn: TurnOutcome) -> bool:
    return turn.is_waiting


def _always(turn: TurnOutcome) -> bool:
    return True


def _is_open(turn: TurnOutcome, pattern: str) -> bool:
    return any(frame.flow_id == pattern for frame in turn.stack)


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
    Rule("STATE-1", TaskState.AUTH_REQUIRED, _is_unauthorized),
    Rule("STATE-2", TaskState.REJECTED, _is_rejected),
    Rule("STATE-3", TaskState.FAILED, _has_failed),
    Rule("STATE-4", TaskState.CANCELED, _is_canceled),
    Rule("STATE-5", TaskState.COMPLETED, _has_finished),
    Rule("STATE-6", TaskState.INPUT_REQUIRED, _offers_more),
    Rule("STATE-7", TaskState.COMPLETED, _is_past_completion),
    Rule("STATE-7", TaskState.COMPLETED, _waits_in_hidden_repair),
    Rule("STATE-8", TaskState.INPUT_REQUIRED, _is_waiting),
    Rule("STATE-9", TaskState.WORKING, _always),
)
