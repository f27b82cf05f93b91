"""Flows that cannot be told apart: by their intent, their name, or what they are described as."""

from collections.abc import Callable, Iterable

from mock_server.dialogue.model import Flow
from mock_server.project.findings import Findings


def check_twins(flows: Iterable[Flow], found: Findings) -> None:
    """Report flows of one intent, and warn of those that people or a model mix up."""
    own = [flow for flow in flows if not flow.is_pattern]
    for flow, twin, intent in _twins(own, lambda flow: flow.nlu_triggers):
        text = f"intent {intent!r} starts flow {flow.id!r} and flow {twin.id!r}, at {twin.location}"
        found.fault(flow.location, "flow.same_trigger", text, "leave it to one of the two")
    for flow, twin, name in _twins(own, lambda flow: (flow.name,)):
        text = f"flow {flow.id!r} is called {name!r} as is flow {twin.id!r}, at {twin.location}"
        found.warn(flow.location, "flow.same_name", text, "rename one of the two")
    for flow, twin, _ in _twins(own, lambda flow: (flow.description,)):
        text = f"flow {flow.id!r} is described as flow {twin.id!r} is, at {twin.location}"
        mend = "say what is different: a command generator goes by that"
        found.warn(flow.location, "flow.same_description", text, mend)


def _twins(
    flows: Iterable[Flow], marks: Callable[[Flow], tuple[str, ...]]
) -> Iterable[tuple[Flow, Flow, str]]:
    """Each flow with the first that has a mark of it, and the mark; an empty one is none."""
    first: dict[str, Flow] = {}
    for flow in flows:
        for mark in filter(None, marks(flow)):
            twin = first.setdefault(mark, flow)
            if twin is not flow:
                yield flow, twin, mark
