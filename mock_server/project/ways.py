"""Where the steps of a flow lead: what is never reached, and what never ends."""

from collections.abc import Iterable, Iterator

from mock_server.dialogue.model import (
    ActionStep,
    Branch,
    Flow,
    LinkStep,
    NoopStep,
    SetSlotsStep,
    Step,
)
from mock_server.project.findings import Findings

# Between two of these nobody is asked, so a circle of them alone is run until the turn is stopped.
UNATTENDED = (ActionStep, NoopStep, SetSlotsStep)
WAITING_ACTION = "action_listen"


def check_ways(flows: Iterable[Flow], found: Findings) -> None:
    """Warn of steps that nothing leads to, and of circles that nothing leads out of."""
    for flow in flows:
        _check_reachable(flow, found)
        _check_circles(flow, found)


def _check_reachable(flow: Flow, found: Findings) -> None:
    """Only the first step of those that hang together is told: the others are so because of it."""
    reached = _reached(flow, (flow.first_step,))
    for id, step in flow.steps.items():
        if id not in reached:
            text = f"step {id!r} of flow {flow.id!r} is never reached"
            found.warn(step.location, "flow.unreachable_step", text, "lead to it, or remove it")
            reached |= _reached(flow, (id,))


def _check_circles(flow: Flow, found: Findings) -> None:
    for id in _circles(flow):
        text = f"step {id!r} of flow {flow.id!r} comes back to itself without asking anything"
        mend = "branch out of the circle, or ask in it"
        found.fault(flow.steps[id].location, "flow.endless", text, mend)


def _circles(flow: Flow) -> Iterator[str]:
    """A step of each circle out of which there is no way, and in which none waits."""
    passed: set[str] = set()
    for start in flow.steps:
        path: set[str] = set()
        id = start
        while id is not None and id not in passed:
            passed.add(id)
            path.add(id)
            id = _only_way(flow.steps.get(id))
        if id in path:
            yield id


def _only_way(step: Step | None) -> str | None:
    """Where an unattended step leads; None where it waits, or may lead elsewhere as well."""
    if not isinstance(step, UNATTENDED) or _waits(step):
        return None
    ways = {branch.target for branch in step.next}
    return ways.pop() if len(ways) == 1 else None


def _waits(step: Step) -> bool:
    return isinstance(step, ActionStep) and step.action == WAITING_ACTION


def _reached(flow: Flow, starts: Iterable[str]) -> set[str]:
    reached: set[str] = set()
    ahead = [*starts]
    while ahead:
        id = ahead.pop()
        step = flow.steps.get(id)
        if step is not None and id not in reached:
            reached.add(id)
            ahead += [branch.target for branch in _next(step)]
    return reached


def _next(step: Step) -> tuple[Branch, ...]:
    return () if isinstance(step, LinkStep) else step.next
