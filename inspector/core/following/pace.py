"""How often a followed task is asked for, and how long its notifications are waited for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Polling as Rasa's orchestrator does it (inspector.md ORCH-4); the rest is ours.

    `poll_failures` in a row end the polls, `look_failures` the wait for notifications.
    `push_patience_seconds` is how long no notification may come once the task is known to rest,
    `push_settle_seconds` how long stragglers may follow the last one.
    """

    poll_initial_seconds: float = 0.5
    poll_factor: float = 2.0
    poll_longest_seconds: float = 5.0
    poll_total_seconds: float = 60.0
    poll_failures: int = 3
    resubscribe_attempts: int = 3
    look_failures: int = 2
    push_patience_seconds: float = 5.0
    push_settle_seconds: float = 0.5
    push_total_seconds: float = 600.0


def next_delay(pace: Pace, polls: int, elapsed_seconds: float) -> float | None:
    """Seconds until the next poll after `polls` of them; None once the time for polling is up.

    The last delay is cut short, so that the last poll falls on the end of that time.
    """
    left = pace.poll_total_seconds - elapsed_seconds
    if left <= 0:
        return None
    # past the longest delay the power only grows, in time beyond what a float can hold
    factor = pace.poll_factor ** min(polls, 64)
    return min(pace.poll_initial_seconds * factor, pace.poll_longest_seconds, left)
