"""What faults ask of a turn."""

from mock_server.faults.effects import ContextEvicted, ForcedState, StuckWorking, WrongId
from mock_server.faults.handling import AS_USUAL, Handling, handling
from mock_server.tasks.task import TaskState


def test_effects_on_the_turn_are_taken_together() -> None:
    effects = [
        ForcedState(state=TaskState.FAILED),
        StuckWorking(),
        ContextEvicted(),
        ForcedState(state=TaskState.REJECTED),
    ]
    assert handling("t", effects) == Handling("t", TaskState.REJECTED, True, True)


def test_other_effects_leave_the_turn_as_it_is() -> None:
    assert handling(None, [WrongId()]) == AS_USUAL
