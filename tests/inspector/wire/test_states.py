"""States: one spelling of three, and which may follow which."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.states import (
    STATES,
    TERMINAL,
    is_legal,
    is_resting,
    is_terminal,
    is_timestamp,
    parse_state,
    parse_timestamp,
)


@pytest.mark.parametrize(
    ("spelling", "state"),
    [
        ("input-required", "input-required"),
        ("input_required", "input-required"),
        ("TASK_STATE_INPUT_REQUIRED", "input-required"),
        ("TASK_STATE_CANCELLED", "canceled"),
        ("TASK_STATE_UNSPECIFIED", "unknown"),
        (" Completed ", "completed"),
        ("done", None),
        ("", None),
    ],
)
def test_spellings(spelling: str, state: str | None) -> None:
    assert parse_state(spelling) == state


@pytest.mark.parametrize("state", STATES)
def test_a_terminal_state_stays(state: str) -> None:
    for before in TERMINAL:
        assert is_legal(before, state) == (before == state)
    assert is_legal(None, state)
    assert is_terminal(state) == (state in TERMINAL)


def test_a_begun_task_is_not_submitted_again() -> None:
    assert not is_legal("working", "submitted")
    assert is_legal("submitted", "submitted")
    assert is_legal("input-required", "working")


def test_resting() -> None:
    assert is_resting("auth-required")
    assert is_resting("failed")
    assert not is_resting("working")
    assert not is_resting(None)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.5Z", 1500),
        ("1970-01-01T01:00:00+01:00", 0),
        ("2026-11-21T10:00:00.123456789Z", 1795255200123.456),
        ("1970-02-31T00:00:00Z", None),
        ("1970-01-01 00:00:00Z", None),
        ("1970-01-01T00:00:00", None),
        ("now", None),
    ],
)
def test_timestamps(text: str, ms: float | None) -> None:
    assert parse_timestamp(text) == ms


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_keep_their_order(time: datetime) -> None:
    read = parse_timestamp(time.isoformat())
    assert read == time.timestamp() * 1000


@given(st.text(max_size=40))
def test_anything_can_be_read(text: str) -> None:
    assert parse_timestamp(text) is None or is_timestamp(text)
