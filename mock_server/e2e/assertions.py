"""The assertions of test cases: read from files, compared with a turn's events (flows.md §11)."""

from collections.abc import Iterable, Iterator, Sequence

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import END, Json, LinkStep, coerce
from mock_server.dialogue.regular_expressions import compile_expression, search
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
    Assertion,
    BotSays,
    ClarificationOffers,
    Expectation,
    ExpectedButton,
    FlowEnds,
    FlowStarts,
    JudgeNeeded,
    SlotIsSet,
)
from mock_server.errors import InvalidSlotValue, Location, SearchTooSlow
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
    """The list of `assertions`, each at its line."""
    expectations: list[Expectation] = []
    for item in as_items(node, found, "assertions"):
        assertion = as_map(item, found, "an assertion")
        if assertion is not None:
            for key, value in assertion.entries.items():
                expectations += _read(key, value, assertion.place(key), found)
    return tuple(expectations)


def read_slots(node: Node, found: Findings, key: str) -> Iterator[Expectation]:
    """The slots of a plain step: names, or `name: value`; one may stand without a list."""
    is_negated = key == "slot_was_not_set"
    for item in node.items if isinstance(node, ListNode) else (node,):
        if isinstance(item, MapNode):
            for name, value in item.entries.items():
                expected = SlotIsSet(name, plain(value), has_value=True)
                yield Expectation(expected, item.place(name), is_negated)
            continue
        name = as_text(item, found, key)
        if name is None:
            mistyped(found, item, key, "a slot, or `slot: value`")
        else:
            yield Expectation(SlotIsSet(name), item.location, is_negated)


def _read(key: str, node: Node, place: Location, found: Findings) -> Iterator[Expectation]:
    match key:
        case "flow_started":
            flow_ids, is_any = _choice(node, found, key)
            for choice in (flow_ids,) if is_any else ((flow_id,) for flow_id in flow_ids):
                yield Expectation(FlowStarts(choice), place)
        case "flow_completed" | "flow_cancelled":
            flow_id, step_id = _flow_step(node, found, key)
            is_cancelled = key == "flow_cancelled"
            yield Expectation(FlowEnds(flow_id, step_id, is_cancelled), place)
        case "pattern_clarification_contains":
            yield Expectation(ClarificationOffers(*_choice(node, found, key)), place)
        case "slot_was_set" | "slot_was_not_set":
            for item in as_items(node, found, key):
                yield from _slots(item, found, key)
        case "action_executed":
            yield Expectation(ActionRuns(_text(node, found, key)), place)
        case "bot_uttered" | "bot_did_not_utter":
            yield Expectation(_bot_says(node, found, key), place, key == "bot_did_not_utter")
        case _ if key in JUDGED:
            yield Expectation(JudgeNeeded(key), place)
        case _:
            text = f"there is no assertion {key!r}"
            fix = suggestion(key, (*CHECKED, *JUDGED))
            found.error(
                place, "e2e.assertion", text, fix or f"expected one of {', '.join(CHECKED)}"
            )


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


def _slots(item: Node, found: Findings, key: str) -> Iterator[Expectation]:
    """An item `{name, value}` of an assertion; `name: value` as in plain steps is read too."""
    if not isinstance(item, MapNode) or "name" not in item.entries:
        yield from read_slots(item, found, key)
        return
    slot = Fields(item, key, found)
    slot.refuse_unknown(("name", "value"), UNKNOWN_KEY)
    name = _text(item.entries["name"], found, f"name of {key}")
    expected = SlotIsSet(name, slot.json("value"), "value" in slot)
    yield Expectation(expected, item.location, key == "slot_was_not_set")


def _bot_says(node: Node, found: Findings, key: str) -> BotSays:
    said = fields_of(node, found, key)
    if said is None or not said.node.entries:
        text = f"{key} says nothing of what was uttered"
        fix = f"give it {', '.join(SAYING_KEYS)}, or some"
        found.error(node.location, "e2e.assertion", text, fix)
    if said is None:
        return BotSays()
    said.refuse_unknown(SAYING_KEYS, UNKNOWN_KEY)
    pattern = said.text("text_matches")
    _check_pattern(pattern, said)
    buttons = tuple(_buttons(said)) if "buttons" in said else None
    return BotSays(pattern=pattern, response=said.text("utter_name"), buttons=buttons)


def _check_pattern(pattern: str | None, said: Fields) -> None:
    try:
        compile_expression(pattern or "")
    except ValueError as error:
        text = f"text_matches is {error}"
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
        if isinstance(expectation.assertion, JudgeNeeded):
            continue
        first = 0 if expectation.is_negated else start
        places = range(first, len(observed))
        happened = (i for i in places if _happens(expectation.assertion, observed[i], assistant))
        place = next(happened, None)
        if (place is None) is not expectation.is_negated:
            missed.append(expectation)
        elif place is not None and is_ordered:
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


def _happens(assertion: Assertion, event: Event, assistant: Assistant) -> bool:
    """Whether `event` makes `assertion` true."""
    match assertion, event:
        case BotSays(), BotUttered():
            return _is_said(assertion, event)
        case SlotIsSet(), SlotSet():
            return _is_set(assertion, event, assistant)
        case FlowStarts(), FlowStarted():
            return event.flow_id in assertion.flow_ids
        case FlowEnds(), FlowCompleted() | FlowCancelled():
            is_way = assertion.is_cancelled == isinstance(event, FlowCancelled)
            is_step = assertion.step_id in _spellings(event.flow_id, event.step_id)
            return is_way and assertion.flow_id == event.flow_id and is_step
        case ClarificationOffers(), FramePushed():
            offered = _offered(event.frame, assistant)
            is_enough = any if assertion.is_any_enough else all
            return bool(offered) and is_enough(flow in offered for flow in assertion.flows)
        case ActionRuns(), ActionExecuted():
            return event.name == assertion.name and event.failure is None
        case ActionRuns(), Listened():
            return assertion.name == LISTEN
        case _:
            return False


def _is_found(pattern: str, text: str) -> bool:
    """What takes too long to find is not there."""
    try:
        return search(pattern, text) is not None
    except SearchTooSlow:
        return False


def _is_said(expected: BotSays, event: BotUttered) -> bool:
    if expected.text is not None and expected.text.strip() != event.text.strip():
        return False
    if expected.response is not None and expected.response != event.response:
        return False
    if expected.pattern is not None and not _is_found(expected.pattern, event.text):
        return False
    if expected.buttons is None:
        return True
    return len(expected.buttons) == len(event.buttons) and all(
        wanted.title == button.title and wanted.payload in (None, button.payload)
        for wanted, button in zip(expected.buttons, event.buttons, strict=True)
    )


def _is_set(expected: SlotIsSet, event: SlotSet, assistant: Assistant) -> bool:
    if event.name != expected.name:
        return False
    if not expected.has_value:
        return event.value is not None
    value = _as_slot_value(expected, assistant)
    # In Python true equals 1; in YAML it does not.
    return value == event.value and isinstance(value, bool) == isinstance(event.value, bool)


def _as_slot_value(expected: SlotIsSet, assistant: Assistant) -> Json:
    """The value as the slot's type spells it: a test may say 50 where the slot holds 50.0."""
    slot = assistant.slots.get(expected.name)
    try:
        return coerce(slot, expected.value) if slot else expected.value
    except InvalidSlotValue:
        return expected.value


def _spellings(flow_id: str, step_id: str) -> tuple[str | None, ...]:
    """The spellings of a step: none, or its id, which Rasa prefixes with the flow's (§2.3)."""
    return None, step_id, f"{flow_id}_{step_id}"


def _offered(frame: Frame, assistant: Assistant) -> set[str]:
    """The names and ids of the flows that a clarification asks the user to choose from."""
    names = frame.context.get("names") if frame.flow_id == CLARIFICATION else None
    offered = {str(name) for name in names} if isinstance(names, list) else set[str]()
    return offered | {flow.id for flow in assistant.flows.values() if flow.name in offered}
