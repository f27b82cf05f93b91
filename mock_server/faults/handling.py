"""What the edge asks of one turn beside what its message says."""

from collections.abc import Iterable
from dataclasses import dataclass

from mock_server.faults.effects import ContextEvicted, Effect, ForcedState, StuckWorking
from mock_server.tasks.task import TaskState


@dataclass(frozen=True, slots=True)
class Handling:
    """`trace_id`: keep the turn's trace under it. The others are effects of faults."""

    trace_id: str | None = None
    forced_state: TaskState | None = None
    is_stuck: bool = False
    forgets_context: bool = False


AS_USUAL = Handling()


def handling(trace_id: str | None, effects: Iterable[Effect]) -> Handling:
    """What `effects` do to a turn; of two forced states the later one counts."""
    known = tuple(effects)
    forced = [effect.state for effect in known if isinstance(effect, ForcedState)]
    return Handling(
        trace_id=trace_id,
        forced_state=forced[-1] if forced else None,
        is_stuck=any(isinstance(effect, StuckWorking) for effect in known),
        forgets_context=any(isinstance(effect, ContextEvicted) for effect in known),
    )
