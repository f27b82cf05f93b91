"""Builders of what the mapper looks at."""

from collections.abc import Callable

import pytest

from mock_server.dialogue.state import Event, FlowCompleted, Frame, FramePushed
from mock_server.tasks.mapper import TurnOutcome

MakeFrame = Callable[[str], Frame]


@pytest.fixture
def frame() -> MakeFrame:
    return lambda flow_id: Frame(id=f"frame-{flow_id}", flow_id=flow_id, step_id="step")


@pytest.fixture
def pushed(frame: MakeFrame) -> Callable[[str], Event]:
    return lambda flow_id: FramePushed(frame(flow_id))


@pytest.fixture
def completed() -> Callable[[str], Event]:
    return lambda flow_id: FlowCompleted(flow_id, "END")


@pytest.fixture
def waiting() -> TurnOutcome:
    """A turn after which the bot waits, and nothing else happened."""
    return TurnOutcome(stack=(), events=(), is_waiting=True)
