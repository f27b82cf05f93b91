"""Which slots a flow asks for, and which it resets, with those of the flows that it calls."""

from collections.abc import Iterator, Mapping

from mock_server.dialogue.model import CallStep, CollectStep, Flow, SetSlotsStep


def called_flows(step: CallStep, flows: Mapping[str, Flow]) -> list[Flow]:
    """The flow that `step` calls and all that are called from there, each once."""
    found: dict[str, Flow] = {}
    waiting = [step.flow_id]
    while waiting:
        flow = flows[waiting.pop()]
        if flow.id not in found:
            found[flow.id] = flow
            waiting += (s.flow_id for s in flow.steps.values() if isinstance(s, CallStep))
    return list(found.values())


def collects_of(flow: Flow, flows: Mapping[str, Flow]) -> Iterator[tuple[str, CollectStep]]:
    """Each collect step of `flow` and of the flows it calls, with the id of `flow`'s own step."""
    for step in flow.steps.values():
        match step:
            case CollectStep():
                yield step.id, step
            case CallStep():
                for called in called_flows(step, flows):
                    collects = (s for s in called.steps.values() if isinstance(s, CollectStep))
                    yield from ((step.id, collect) for collect in collects)
            case _:
                pass


def slots_collected(flow: Flow, flows: Mapping[str, Flow]) -> tuple[str, ...]:
    """The slots that `flow` and the flows it calls ask for, in file order."""
    return tuple(dict.fromkeys(collect.slot for _, collect in collects_of(flow, flows)))


def slots_to_reset(flow: Flow, flows: Mapping[str, Flow]) -> set[str]:
    """The slots that return to their initial value when `flow` ends (flows.md §4.1)."""
    reset = _own_reset(flow)
    for step in flow.steps.values():
        if isinstance(step, CallStep):
            reset.update(*map(_own_reset, called_flows(step, flows)))
    return reset - _own_kept(flow)


def _own_reset(flow: Flow) -> set[str]:
    reset: set[str] = set()
    for step in flow.steps.values():
        match step:
            case CollectStep():
                reset.add(step.slot)
            case SetSlotsStep():
                reset.update(name for name, _ in step.values)
            case _:
                pass
    return reset - _own_kept(flow)


def _own_kept(flow: Flow) -> set[str]:
    kept = (
        step.slot
        for step in flow.steps.values()
        if isinstance(step, CollectStep) and not step.reset_after_flow_ends
    )
    return {*kept, *flow.persisted_slots}
