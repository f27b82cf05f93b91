"""States: one spelling of three, and which may follow which."""

import pytest

from inspector.wire.states import STATES, TERMINAL, is_legal, is_resting, is_terminal, parse_state


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
