"""Where the steps of a flow lead: what is never reached, and what never ends."""

from collections.abc import Iterable

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
    told: set[str] = set()
    for id in flow.steps:
        circle = _circle(flow, id)
        if circle and told.isdisjoint(circle):
            told.update(circle)
            text = f"step {id!r} of flow {flow.id!r} comes back to itself without asking anything"
            mend = "branch out of the circle, or ask in it"
            found.fault(flow.steps[id].location, "flow.endless", text, mend)


def _circle(flow: Flow, start: str) -> tuple[str, ...]:
    """The steps from `start` back to it, if there is no other way to go and none of them waits."""
    passed: list[str] = []
    id = start
    while id not in passed:
        step = flow.steps.get(id)
        ways = {branch.target for branch in _next(step)} if step else set[str]()
        if not isinstance(step, UNATTENDED) or len(ways) != 1 or _waits(step):
            return ()
        passed.append(id)
        (id,) = ways
    return tuple(passed) if id == start else ()


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
