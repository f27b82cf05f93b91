"""Whether a turn brought what a test case expects of it (flows.md §11)."""

import re
from collections.abc import Iterable, Iterator, Sequence

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.events import (
    ActionExecuted,
    BotUttered,
    Event,
    FlowCancelled,
    FlowCompleted,
    FlowStarted,
    Frame,
    FrameInserted,
    FramePushed,
    FrameRemoved,
    Listened,
    SlotSet,
)
from mock_server.dialogue.model import END, Json, LinkStep
from mock_server.dialogue.slots import coerce
from mock_server.dialogue.state import DialogueState, apply
from mock_server.e2e.model import (
    ActionRuns,
    BotDoesNotSay,
    BotSays,
    ClarificationOffers,
    Demand,
    Expectation,
    FlowCompletes,
    FlowIsCancelled,
    FlowStarts,
    JudgeNeeded,
    Saying,
    SlotChange,
    SlotIsNotSet,
    SlotIsSet,
)
from mock_server.errors import InvalidSlotValue

CLARIFICATION = "pattern_clarification"
LISTEN = "action_listen"


def unmet(
    expectations: Iterable[Expectation],
    observed: Sequence[Event],
    assistant: Assistant,
    *,
    is_ordered: bool = False,
) -> tuple[Expectation, ...]:
    """The expectations that `observed` (see `observe`) does not meet; judges are not missed.

    Where `is_ordered`, what is to happen must happen after what was expected before it.
    """
    missed: list[Expectation] = []
    start = 0
    for expectation in expectations:
        demand = expectation.demand
        if isinstance(demand, JudgeNeeded):
            continue
        if isinstance(demand, BotDoesNotSay | SlotIsNotSet):
            if any(_happens(demand, event, assistant) for event in observed):
                missed.append(expectation)
            continue
        place = next(
            (i for i in range(start, len(observed)) if _happens(demand, observed[i], assistant)),
            None,
        )
        if place is None:
            missed.append(expectation)
        elif is_ordered:
            start = place + 1
    return tuple(missed)


def observe(
    assistant: Assistant, before: DialogueState, events: Iterable[Event]
) -> tuple[Event, ...]:
    """`events` and, among them, the starts and completions of patterns, as of any other flow."""
    return tuple(_observed(assistant, before, events))


def _observed(
    assistant: Assistant, state: DialogueState, events: Iterable[Event]
) -> Iterator[Event]:
    # A flow that is resumed is taken off the stack and put back with the id that it had.
    known = {frame.id for frame in state.stack}
    for event in events:
        yield event
        match event:
            case FramePushed(frame=frame) | FrameInserted(frame=frame):
                if frame.is_pattern and frame.id not in known:
                    yield FlowStarted(frame.flow_id)
                known.add(frame.id)
            case FrameRemoved(frame_id=frame_id):
                frame = next(frame for frame in state.stack if frame.id == frame_id)
                if frame.is_pattern and _may_end_at(assistant, frame.flow_id, frame.step_id):
                    yield FlowCompleted(frame.flow_id, frame.step_id)
            case _:
                pass
        state = apply(state, event)


def _may_end_at(assistant: Assistant, flow_id: str, step_id: str) -> bool:
    """Whether a flow that leaves the stack at this step has ended, rather than been cancelled."""
    step = assistant.flows[flow_id].steps.get(step_id)
    if step is None or isinstance(step, LinkStep):
        return True
    return any(branch.target == END for branch in step.next)


def _happens(demand: Demand, event: Event, assistant: Assistant) -> bool:
    """Whether `event` is what `demand` is for or, of a negative demand, against."""
    match demand, event:
        case ((BotSays() | BotDoesNotSay()), BotUttered()):
            return _is_said(demand.saying, event)
        case ((SlotIsSet() | SlotIsNotSet()), SlotSet()):
            return _is_changed(demand.change, event, assistant)
        case FlowStarts(), FlowStarted():
            return event.flow_id in demand.flow_ids
        case (FlowCompletes(), FlowCompleted()) | (FlowIsCancelled(), FlowCancelled()):
            is_step = demand.step_id in _spellings(event.flow_id, event.step_id)
            return demand.flow_id == event.flow_id and is_step
        case ClarificationOffers(), FramePushed():
            offered = _offered(event.frame, assistant)
            is_enough = any if demand.is_any_enough else all
            return bool(offered) and is_enough(flow in offered for flow in demand.flows)
        case ActionRuns(), ActionExecuted():
            return event.name == demand.name and event.failure is None
        case ActionRuns(), Listened():
            return demand.name == LISTEN
        case _:
            return False


def _is_said(saying: Saying, event: BotUttered) -> bool:
    if saying.text is not None and saying.text.strip() != event.text.strip():
        return False
    if saying.response is not None and saying.response != event.response:
        return False
    if saying.pattern is not None and not re.search(saying.pattern, event.text):
        return False
    if saying.buttons is None:
        return True
    return len(saying.buttons) == len(event.buttons) and all(
        expected.title == button.title and expected.payload in (None, button.payload)
        for expected, button in zip(saying.buttons, event.buttons, strict=True)
    )


def _is_changed(change: SlotChange, event: SlotSet, assistant: Assistant) -> bool:
    if event.name != change.name:
        return False
    if not change.has_value:
        return event.value is not None
    expected = _as_slot_value(change, assistant)
    # YAML's true is no 1, though Python says so.
    return expected == event.value and isinstance(expected, bool) == isinstance(event.value, bool)


def _as_slot_value(change: SlotChange, assistant: Assistant) -> Json:
    """The value as the slot's type spells it: a test may say 50 where the slot holds 50.0."""
    slot = assistant.slots.get(change.name)
    if slot is None:
        return change.value
    try:
        return coerce(slot, change.value)
    except InvalidSlotValue:
        return change.value


def _spellings(flow_id: str, step_id: str) -> tuple[str | None, ...]:
    """What may stand for the step: nothing, or its id; Rasa prefixes it with the flow's (§2.3)."""
    return None, step_id, f"{flow_id}_{step_id}"


def _offered(frame: Frame, assistant: Assistant) -> set[str]:
    """The names and ids of the flows that a clarification asks the user to choose from."""
    names = frame.context.get("names") if frame.flow_id == CLARIFICATION else None
    offered = {str(name) for name in names} if isinstance(names, list) else set[str]()
    return offered | {flow.id for flow in assistant.flows.values() if flow.name in offered}
