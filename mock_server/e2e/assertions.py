"""The assertions of test cases: read from files, compared with a turn's events (flows.md §11)."""

import re
from collections.abc import Iterable, Iterator, Sequence

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import END, Json, LinkStep, coerce
from mock_server.dialogue.state import (
    ActionExecuted,
    BotUttered,
    DialogueState,
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
    apply,
)
from mock_server.e2e.model import (
    ActionRuns,
    BotDoesNotSay,
    BotSays,
    ClarificationOffers,
    Demand,
    Expectation,
    ExpectedButton,
    FlowCompletes,
    FlowIsCancelled,
    FlowStarts,
    JudgeNeeded,
    Saying,
    SlotChange,
    SlotIsNotSet,
    SlotIsSet,
)
from mock_server.errors import InvalidSlotValue, Location
from mock_server.project.findings import Findings, suggestion
from mock_server.project.nodes import (
    Fields,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    as_items,
    as_map,
    as_text,
    as_texts,
    fields_of,
    is_empty,
    mistyped,
    plain,
)

CLARIFICATION = "pattern_clarification"
LISTEN = "action_listen"
CHECKED = (
    "flow_started", "flow_completed", "flow_cancelled", "pattern_clarification_contains",
    "slot_was_set", "slot_was_not_set", "action_executed", "bot_uttered", "bot_did_not_utter",
)  # fmt: skip
JUDGED = ("generative_response_is_relevant", "generative_response_is_grounded")
SAYING_KEYS = ("utter_name", "text_matches", "buttons")
FLOW_STEP_KEYS = ("flow_id", "flow_step_id")
CHOICE_KEYS = ("operator", "flow_ids")
BUTTON_KEYS = ("title", "payload")
UNKNOWN_KEY = "e2e.unknown_key"


def read_assertions(node: Node | None, found: Findings) -> tuple[Expectation, ...]:
    """What the list of `assertions` demands, each at its line."""
    expectations: list[Expectation] = []
    for item in as_items(node, found, "assertions"):
        assertion = as_map(item, found, "an assertion")
        if assertion is not None:
            for key, value in assertion.entries.items():
                expectations += _read(key, value, assertion.place(key), found)
    return tuple(expectations)


def read_slot_changes(
    node: Node, found: Findings, what: str
) -> Iterator[tuple[Location, SlotChange]]:
    """The slots of a plain step: names, or `name: value`; one may stand without a list."""
    for item in node.items if isinstance(node, ListNode) else (node,):
        if isinstance(item, MapNode):
            for name, value in item.entries.items():
                yield item.place(name), SlotChange(name, plain(value), has_value=True)
            continue
        name = as_text(item, found, what)
        if name is None:
            mistyped(found, item, what, "a slot, or `slot: value`")
        else:
            yield item.location, SlotChange(name)


def _read(key: str, node: Node, place: Location, found: Findings) -> Iterator[Expectation]:
    if key in JUDGED:
        yield Expectation(JudgeNeeded(key), place)
        return
    if key not in CHECKED:
        text = f"there is no assertion {key!r}"
        fix = suggestion(key, (*CHECKED, *JUDGED))
        found.error(place, "e2e.assertion", text, fix or f"expected one of {', '.join(CHECKED)}")
        return
    for demand, line in _demands(key, node, found):
        yield Expectation(demand, line or place)


Demands = Iterator[tuple[Demand, Location | None]]
"""Demands, each with its own line where one assertion makes several."""


def _demands(key: str, node: Node, found: Findings) -> Demands:
    match key:
        case "flow_started":
            flow_ids, is_any = _choice(node, found, key)
            for choice in (flow_ids,) if is_any else ((flow_id,) for flow_id in flow_ids):
                yield FlowStarts(choice), None
        case "flow_completed":
            yield FlowCompletes(*_flow_step(node, found, key)), None
        case "flow_cancelled":
            yield FlowIsCancelled(*_flow_step(node, found, key)), None
        case "pattern_clarification_contains":
            yield ClarificationOffers(*_choice(node, found, key)), None
        case "slot_was_set" | "slot_was_not_set":
            demand = SlotIsSet if key == "slot_was_set" else SlotIsNotSet
            for location, change in _changes(node, found, key):
                yield demand(change), location
        case "action_executed":
            yield ActionRuns(_text(node, found, key)), None
        case "bot_uttered":
            yield BotSays(_saying(node, found, key)), None
        case _:
            yield BotDoesNotSay(_saying(node, found, key)), None


def _text(node: Node | None, found: Findings, what: str, place: Location | None = None) -> str:
    """A text that must be there."""
    text = as_text(node, found, what)
    if text is None and (node is None or is_empty(node)):
        location = node.location if node is not None else place
        if location is not None:
            found.error(location, "yaml.type", f"{what}: found nothing, expected a text")
    return text or ""


def _choice(node: Node, found: Findings, key: str) -> tuple[tuple[str, ...], bool]:
    """Flows, and whether one of them is enough: a name, a list, or `{operator, flow_ids}`."""
    if isinstance(node, ScalarNode):
        return (_text(node, found, key),), False
    if isinstance(node, ListNode):
        return as_texts(node, found, key), False
    choice = Fields(node, key, found)
    choice.refuse_unknown(CHOICE_KEYS, UNKNOWN_KEY)
    operator, flow_ids = choice.text("operator") or "all", choice.texts("flow_ids")
    if operator not in {"any", "all"}:
        text = f"operator: found {operator!r}, expected any or all"
        found.error(choice.at("operator"), "e2e.operator", text)
    if not flow_ids:
        found.error(node.location, "e2e.assertion", f"{key} names no flow_ids")
    return flow_ids, operator == "any"


def _flow_step(node: Node, found: Findings, key: str) -> tuple[str, str | None]:
    """A flow and perhaps a step of it; the flow's id may stand alone."""
    if not isinstance(node, MapNode):
        return _text(node, found, key), None
    step = Fields(node, key, found)
    step.refuse_unknown(FLOW_STEP_KEYS, UNKNOWN_KEY)
    flow_id = _text(step.get("flow_id"), found, f"flow_id of {key}", node.location)
    return flow_id, step.text("flow_step_id")


def _changes(node: Node, found: Findings, key: str) -> Iterator[tuple[Location, SlotChange]]:
    """The items `{name, value}` of an assertion; `name: value` as in plain steps does as well."""
    for item in as_items(node, found, key):
        if not isinstance(item, MapNode) or "name" not in item.entries:
            yield from read_slot_changes(item, found, key)
            continue
        change = Fields(item, key, found)
        change.refuse_unknown(("name", "value"), UNKNOWN_KEY)
        name = _text(item.entries["name"], found, f"name of {key}")
        yield item.location, SlotChange(name, change.json("value"), "value" in change)


def _saying(node: Node, found: Findings, key: str) -> Saying:
    said = fields_of(node, found, key)
    if said is None or not said.node.entries:
        _refuse_nothing(node, found, key)
    if said is None:
        return Saying()
    said.refuse_unknown(SAYING_KEYS, UNKNOWN_KEY)
    pattern = said.text("text_matches")
    _check_pattern(pattern, said)
    buttons = tuple(_buttons(said)) if "buttons" in said else None
    return Saying(pattern=pattern, response=said.text("utter_name"), buttons=buttons)


def _refuse_nothing(node: Node, found: Findings, key: str) -> None:
    text = f"{key} says nothing of what was uttered"
    found.error(node.location, "e2e.assertion", text, f"give it {', '.join(SAYING_KEYS)}, or some")


def _check_pattern(pattern: str | None, said: Fields) -> None:
    try:
        re.compile(pattern or "")
    except re.error as error:
        text = f"text_matches is not a regular expression: {error}"
        said.found.error(said.at("text_matches"), "e2e.text_matches", text)


def _buttons(said: Fields) -> Iterator[ExpectedButton]:
    for button in said.each("buttons", "a button"):
        button.refuse_unknown(BUTTON_KEYS, UNKNOWN_KEY)
        title = _text(button.get("title"), said.found, "title", button.node.location)
        yield ExpectedButton(title, button.text("payload"))


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
    # In Python true equals 1; in YAML it does not.
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
