"""The states of a task: spellings, which are terminal, which may follow which; and their times."""

import re
from datetime import datetime

STATES = (
    "submitted",
    "working",
    "input-required",
    "auth-required",
    "completed",
    "failed",
    "canceled",
    "rejected",
    "unknown",
)
TERMINAL = frozenset({"completed", "failed", "canceled", "rejected"})
INTERRUPTED = frozenset({"input-required", "auth-required"})

# A task that ended stays as it ended; one that has begun is not submitted again.
_NEVER_AFTER_BEGIN = frozenset({"submitted"})


def parse_state(spelling: str) -> str | None:
    """The 0.3 spelling of a state written as A2A 0.3, 1.0 or Rasa write it; None if unknown.

    `input-required`, `input_required` and `TASK_STATE_INPUT_REQUIRED` are one.
    """
    state = spelling.strip().lower().replace("_", "-").removeprefix("task-state-")
    state = {"cancelled": "canceled", "unspecified": "unknown"}.get(state, state)
    return state if state in STATES else None


def is_terminal(state: str | None) -> bool:
    return state in TERMINAL


def is_resting(state: str | None) -> bool:
    """The agent has stopped: the task ended, or it waits for the user."""
    return state in TERMINAL or state in INTERRUPTED


def is_legal(before: str | None, after: str) -> bool:
    """Say whether a task in state `before` may be reported in `after` next."""
    if before is None or before == after:
        return True
    return before not in TERMINAL and after not in _NEVER_AFTER_BEGIN


_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def is_timestamp(text: str) -> bool:
    return _TIMESTAMP.fullmatch(text) is not None


def parse_timestamp(text: str) -> float | None:
    """Milliseconds since 1970 UTC; None for what is no timestamp, or a day that never was."""
    if not is_timestamp(text):
        return None
    try:
        return datetime.fromisoformat(text).timestamp() * 1000
    except ValueError:
        return None
