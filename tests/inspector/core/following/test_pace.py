"""When a task is asked for again: Rasa's timing, whatever time the polls themselves take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.following.pace import Pace, next_delay


@pytest.mark.req("COMP-3")
def test_polling_is_that_of_the_orchestrator() -> None:
    delays: list[float] = []
    while (delay := next_delay(Pace(), len(delays), sum(delays))) is not None:
        delays.append(delay)
    assert delays[:6] == [0.5, 1, 2, 4, 5, 5]
    assert sum(delays) == 60


@given(polls=st.integers(0, 10**6), elapsed=st.floats(0, 1000), total=st.floats(0.1, 100))
def test_no_poll_is_later_than_the_end(polls: int, elapsed: float, total: float) -> None:
    delay = next_delay(Pace(poll_total_seconds=total), polls, elapsed)
    if elapsed >= total:
        assert delay is None
    else:
        assert delay is not None
        assert 0 < delay <= 5
        assert elapsed + delay <= total * (1 + 1e-12)
