"""Checks of the flows of a project that loads: faults at run time, and what is never used."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from mock_server.dialogue.actions import DEFAULT_ACTIONS
from mock_server.dialogue.assistant import Assistant, called_flows
from mock_server.dialogue.expressions import HOLE, SLOT
from mock_server.dialogue.model import (
    AGENT_PREFIX,
    ActionStep,
    AgentTurnStep,
    Branch,
    CallStep,
    CollectStep,
    Flow,
    Json,
    LinkStep,
    SetSlotsStep,
    Step,
    ToolStep,
    Variation,
)
from mock_server.errors import Location
from mock_server.project.builtin import LATEST, builtin
from mock_server.project.checks.names import UNLISTED_ACTIONS
from mock_server.project.domain import Domain
from mock_server.project.files import Sources
from mock_server.project.findings import Findings, Mention, MentionKind, nearest, suggestion

LINKABLE_PATTERNS = frozenset(
    {"pattern_human_handoff", "pattern_search", "pattern_chitchat", "pattern_customer_satisfaction"}
)
ASK = "utter_ask_"
# Rasa 3.17 brings it; its steps are not published (flows.md §6).
EXTERNAL_AGENT = "pattern_external_agent_processing"
LINKED_BY_PATTERNS = frozenset({"pattern_chitchat", "pattern_customer_satisfaction"})
INTERNAL_ERROR = "pattern_internal_error"


def lint(
    assistant: Assistant,
    flows: Mapping[str, Flow],
    mentions: Sequence[Mention],
    stubbed: Mapping[str, Location],
    found: Findings,
) -> None:
    """Report the faults of the project's own `flows`."""
    called = {step.flow_id for step in _steps(assistant.flows) if isinstance(step, CallStep)}
    begun = {step.flow_id for step in _steps(assistant.flows) if isinstance(step, LinkStep)}
    named = {m.name for m in mentions if m.kind is MentionKind.FLOW}
    # A flow whose name is misspelled somewhere starts once that is fixed.
    begun |= called | named | {nearest(name, flows) or "" for name in named - flows.keys()}
    for flow in flows.values():
        _check_startable(flow, flow.id in begun, found)
        _check_pattern(flow, flow.id in begun, found)
        _check_call_cycle(flow, assistant.flows, found)
        _check_prompts(assistant, flow, found)
        _check_persisted(assistant, flow, found)
        _check_links(flow, flow.id in called, found)
    for step in _steps(flows):
        if isinstance(step, ToolStep) and step.tool not in assistant.tools:
            text = f"tool {step.tool!r} has no result in mock.yml, so it sets no slot"
            fix = f"add `tools: {{{step.tool}: {{result: …}}}}`"
            found.warn(step.location, "tool.no_result", text, fix)
    for name, place in stubbed.items():
        if name not in assistant.actions and name not in UNLISTED_ACTIONS:
            text = f"the stub of {name!r} is never used; the domain has no such action"
            found.warn(place, "mock.unknown_action", text, suggestion(name, assistant.actions))


def _check_prompts(assistant: Assistant, flow: Flow, found: Findings) -> None:
    """A question is a response or an action, and one of them only (flows.md §2.2)."""
    for step in flow.steps.values():
        if not isinstance(step, CollectStep):
            continue
        utter, action = step.utter or f"{ASK}{step.slot}", f"action_ask_{step.slot}"
        has_utter, has_action = utter in assistant.responses, action in assistant.actions
        slot = assistant.slots.get(step.slot)
        if has_utter and has_action:
            text = f"slot {step.slot!r} has both {utter} and {action}"
            found.fault(step.location, "flow.two_questions", text, "remove one of the two")
        elif step.utter or has_utter or has_action:
            continue
        elif slot and slot.initial_value is None:
            text = f"nothing asks for slot {step.slot!r}: there is neither {utter} nor {action}"
            fix = _misspelled_question(assistant, utter) or "add one of them to the domain"
            found.fault(step.location, "flow.no_question", text, fix)


def _misspelled_question(assistant: Assistant, utter: str) -> str:
    """Suggest a similar response that asks for no existing slot; empty if there is none."""
    asking = (name for name in assistant.responses if name.startswith(ASK))
    return suggestion(utter, {n for n in asking if n.removeprefix(ASK) not in assistant.slots})


def _check_persisted(assistant: Assistant, flow: Flow, found: Findings) -> None:
    filled: set[str] = set()
    for step in flow.steps.values():
        match step:
            case CollectStep(slot=slot):
                filled.add(slot)
                if flow.persisted_slots and not step.reset_after_flow_ends:
                    text = "reset_after_flow_ends may not be mixed with persisted_slots"
                    found.fault(step.location, "flow.mixed_persistence", text, "remove it")
            case SetSlotsStep(values=values):
                filled |= {name for name, _ in values}
            case _:
                pass
    if not filled <= assistant.slots.keys():
        # A misspelled slot is reported at its place, and not again as one that is not filled.
        return
    for name in flow.persisted_slots:
        if name in assistant.slots and name not in filled:
            text = f"flow {flow.id!r} persists slot {name!r}, which none of its steps fills"
            found.fault(flow.location, "flow.persisted_not_filled", text)


def _check_links(flow: Flow, is_called: bool, found: Findings) -> None:
    for step in flow.steps.values():
        match step:
            case LinkStep(flow_id=target):
                _check_link(flow, step, target, is_called, found)
            case CallStep(flow_id=target):
                if flow.is_pattern:
                    text = f"pattern {flow.id!r} may not call a flow"
                    found.fault(step.location, "flow.pattern_calls", text, "link it instead")
                elif target.startswith("pattern_") and not target.startswith(AGENT_PREFIX):
                    text = f"flow {flow.id!r} calls pattern {target!r}"
                    found.fault(step.location, "flow.calls_pattern", text, "link it instead")
                elif target == flow.id:
                    text = f"flow {flow.id!r} calls itself"
                    found.fault(step.location, "flow.calls_itself", text)
            case _:
                pass


def _check_startable(flow: Flow, is_begun: bool, found: Findings) -> None:
    is_closed = flow.guard is not None and flow.guard.strip().lower() == "false"
    if is_closed and not (is_begun or flow.nlu_triggers):
        text = f"flow {flow.id!r} never starts: its guard is false, and nothing calls or links it"
        found.warn(flow.location, "flow.never_starts", text, "give it an nlu_trigger, or a caller")


def _check_pattern(flow: Flow, is_begun: bool, found: Findings) -> None:
    """Only events start patterns, and only those that Rasa has."""
    if is_begun or flow.nlu_triggers or not flow.is_pattern:
        return
    known = {*builtin(LATEST).flows, EXTERNAL_AGENT}
    if flow.id not in known:
        text = f"flow {flow.id!r} never starts: Rasa has no pattern of this name"
        found.warn(flow.location, "flow.never_starts", text, suggestion(flow.id, known))


def _check_call_cycle(flow: Flow, flows: Mapping[str, Flow], found: Findings) -> None:
    for step in flow.steps.values():
        if isinstance(step, CallStep) and step.flow_id in flows and step.flow_id != flow.id:
            reached = called_flows(step, flows)
            if any(other.id == flow.id for other in reached):
                text = f"flow {flow.id!r} calls {step.flow_id!r}, which calls it again"
                found.warn(step.location, "flow.call_cycle", text)


def _check_link(flow: Flow, step: LinkStep, target: str, is_called: bool, found: Findings) -> None:
    if is_called:
        text = f"flow {flow.id!r} is called by another flow and may not link"
        found.fault(step.location, "flow.link_in_called", text, "call the flow instead")
    if flow.id == INTERNAL_ERROR:
        found.fault(step.location, "flow.link_in_error", f"{INTERNAL_ERROR} may not link")
    if target.startswith("pattern_") and target not in LINKABLE_PATTERNS:
        text = f"flow {flow.id!r} links to {target!r}, which cannot be linked to"
        fix = f"expected one of {', '.join(sorted(LINKABLE_PATTERNS))}"
        found.fault(step.location, "flow.link_to_pattern", text, fix)
    elif target in LINKED_BY_PATTERNS and not flow.is_pattern:
        text = f"flow {flow.id!r} links to {target!r}, which is for patterns to link to"
        found.warn(step.location, "flow.link_to_pattern", text)


def _steps(flows: Mapping[str, Flow]) -> Iterator[Step]:
    return (step for flow in flows.values() for step in flow.steps.values())


# A cycle with one of these may ask the user; any other runs until the turn is stopped.
ASKING_STEPS = (CollectStep, CallStep, ToolStep, AgentTurnStep)
WAITING_ACTION = "action_listen"


def check_paths(flows: Iterable[Flow], found: Findings) -> None:
    """Warn of steps that nothing leads to, and of cycles without an exit."""
    for flow in flows:
        _check_reachable(flow, found)
        _check_cycles(flow, found)


def _check_reachable(flow: Flow, found: Findings) -> None:
    """Only the first of connected steps is reported: the others follow from it."""
    reached = _reached(flow, (flow.first_step,))
    for id, step in flow.steps.items():
        if id not in reached:
            text = f"step {id!r} of flow {flow.id!r} is never reached"
            found.warn(step.location, "flow.unreachable_step", text, "lead to it, or remove it")
            reached |= _reached(flow, (id,))


def _check_cycles(flow: Flow, found: Findings) -> None:
    for id in _cycles(flow):
        text = f"step {id!r} of flow {flow.id!r} comes back to itself without asking anything"
        fix = "branch out of the cycle, or ask something in it"
        found.fault(flow.steps[id].location, "flow.endless", text, fix)


def _cycles(flow: Flow) -> Iterator[str]:
    """One step of each cycle that has no exit and in which no step waits."""
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
    """Where `step` always leads; None where it may ask the user, or lead elsewhere as well."""
    is_listening = isinstance(step, ActionStep) and step.action == WAITING_ACTION
    if step is None or is_listening or isinstance(step, ASKING_STEPS):
        return None
    ways = {branch.target for branch in _next(step)}
    return ways.pop() if len(ways) == 1 else None


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


def check_duplicates(flows: Iterable[Flow], found: Findings) -> None:
    """Report flows that one intent starts, and warn of those of one name or description."""
    own = [flow for flow in flows if not flow.is_pattern]
    for flow, twin, intent in _duplicates(own, lambda flow: flow.nlu_triggers):
        text = f"intent {intent!r} starts flow {flow.id!r} and flow {twin.id!r}, at {twin.location}"
        found.fault(flow.location, "flow.same_trigger", text, "leave it to one of the two")
    for flow, twin, name in _duplicates(own, lambda flow: (flow.name,)):
        text = f"flow {flow.id!r} has the name {name!r} of flow {twin.id!r}, at {twin.location}"
        found.warn(flow.location, "flow.same_name", text, "rename one of the two")
    for flow, twin, _ in _duplicates(own, lambda flow: (flow.description,)):
        text = f"flow {flow.id!r} has the description of flow {twin.id!r}, at {twin.location}"
        fix = "describe the difference: a command generator goes by that"
        found.warn(flow.location, "flow.same_description", text, fix)


def _duplicates(
    flows: Iterable[Flow], marks: Callable[[Flow], tuple[str, ...]]
) -> Iterable[tuple[Flow, Flow, str]]:
    """Each flow with the first that shares one of its `marks`, and that mark, unless empty."""
    first: dict[str, Flow] = {}
    for flow in flows:
        for mark in filter(None, marks(flow)):
            twin = first.setdefault(mark, flow)
            if twin is not flow:
                yield flow, twin, mark


WORD = re.compile(r"\w+")
SLOTS_OF: Mapping[MentionKind, re.Pattern[str]] = {
    MentionKind.CONDITION: SLOT,
    MentionKind.GUARD: SLOT,
    MentionKind.PAYLOAD: re.compile(r"(\w+)\s*="),
    MentionKind.TEXT: HOLE,
}
# Default actions of Rasa that only rules and stories use.
CLASSIC_ACTIONS = frozenset(
    {
        "action_back", "action_deactivate_loop", "action_default_ask_affirmation",
        "action_default_ask_rephrase", "action_default_fallback", "action_extract_slots",
        "action_listen", "action_revert_fallback_events", "action_two_stage_fallback",
        "action_unlikely_intent",
    }
)  # fmt: skip


def check_usage(
    assistant: Assistant,
    domain: Domain,
    mentions: Sequence[Mention],
    sources: Sources,
    found: Findings,
) -> None:
    """Warn of what is defined and never used; a name that occurs anywhere counts as used."""
    code, mock = _words(sources.code.values()), _words(sources.mock.values())
    words = code | mock | _words(sources.flows.values())
    asked = {step.slot for step in _steps(assistant.flows) if isinstance(step, CollectStep)}
    named = words | _names_in(domain.responses.values()) | _meant(assistant.slots, _slots(mentions))
    _check_slots(domain, assistant, named, found)
    said = {m.name for m in mentions if m.kind is MentionKind.RESPONSE}
    said |= {f"utter_ask_{slot}" for slot in asked if f"action_ask_{slot}" not in assistant.actions}
    meant = _meant(assistant.responses, said)
    _check_responses(domain, words | said | meant, found)
    if code:
        _check_code(domain, code | mock, found)
    for mention in mentions:
        if mention.kind is MentionKind.TEXT:
            _check_holes(mention, assistant, words, found)


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in WORD.findall(text)}


def _slots(mentions: Iterable[Mention]) -> set[str]:
    """The slots that conditions, texts and buttons name, whether they exist or not."""
    return {
        name
        for mention in mentions
        if mention.kind in SLOTS_OF
        for name in SLOTS_OF[mention.kind].findall(mention.name)
        if name
    }


def _meant(known: Collection[str], named: Iterable[str]) -> set[str]:
    """The known names that misspelled ones stand for, which are therefore used."""
    near = (nearest(name, known) for name in named if name not in known)
    return {name for name in near if name is not None}


def _names_in(responses: Iterable[tuple[Variation, ...]]) -> set[str]:
    texts: list[str] = []
    for variation in (v for variations in responses for v in variations):
        texts += (variation.text, variation.condition or "", variation.image or "")
        texts += variation.translations.values()
        texts += (text for button in variation.buttons for text in (button.title, button.payload))
        texts.append(_spelled(variation.custom))
    return _words(texts)


def _spelled(custom: Json) -> str:
    return "" if custom is None else str(custom)


def _is_used(name: str, words: set[str]) -> bool:
    return words.issuperset(WORD.findall(name))


def _check_slots(domain: Domain, assistant: Assistant, words: set[str], found: Findings) -> None:
    for slot in domain.slots.values():
        asked_by = {f"action_ask_{slot.name}", f"validate_{slot.name}"} & assistant.actions
        if not (assistant.slots[slot.name].is_builtin or _is_used(slot.name, words) or asked_by):
            text = f"slot {slot.name!r} is in no flow, response, condition or action"
            found.warn(slot.location, "slot.unused", text, "remove it")


def _check_responses(domain: Domain, words: set[str], found: Findings) -> None:
    defaults = builtin(LATEST).responses
    for name in domain.responses:
        if name not in defaults and not _is_used(name, words):
            text = f"response {name!r} is said by no flow and no action"
            found.warn(domain.places["response", name], "response.unused", text, "remove it")


def _check_code(domain: Domain, words: set[str], found: Findings) -> None:
    for name, place in domain.actions.items():
        is_ours = name.startswith("utter_") or name in DEFAULT_ACTIONS or name in CLASSIC_ACTIONS
        if not (is_ours or _is_used(name, words)):
            text = f"action {name!r} is in the domain, and in no file of the actions"
            fix = "write it, remove it, or give it a stub in mock.yml"
            found.warn(place, "action.not_written", text, fix)


def _check_holes(mention: Mention, assistant: Assistant, words: set[str], found: Findings) -> None:
    """An action may fill a hole by keyword, so a name that an action has is left alone."""
    for hole in HOLE.finditer(mention.name):
        name = hole.group(1)
        if name is None or name.startswith("context.") or name in assistant.slots or name in words:
            continue
        text = f"{mention.by} has {{{name}}}, and there is no slot {name!r}"
        fix = suggestion(name, assistant.slots) or f"double the braces to say {{{name}}} itself"
        found.warn(mention.location, "response.unknown_slot", text, fix)


NAMED = re.compile(r"""\b(?P<use>SlotSet|get_slot)\(\s*(?:key\s*=\s*)?["'](?P<slot>\w+)["']""")
MEANS: Mapping[str, str] = {
    "SlotSet": "this sets slot {slot!r}, which the domain does not have: nothing comes of it",
    "get_slot": "this reads slot {slot!r}, which the domain does not have: it is always None",
}


def check_code(code: Mapping[str, str], slots: Collection[str], found: Findings) -> None:
    """Warn of each slot that rasa-sdk would neither set nor find, once a file and use."""
    for file, text in code.items():
        reported: set[tuple[str, str]] = set()
        for line, use, slot in _named(text):
            if slot not in slots and (use, slot) not in reported:
                reported.add((use, slot))
                fix = suggestion(slot, slots) or "define it in the domain"
                found.warn(
                    Location(file, line), "action.unknown_slot", MEANS[use].format(slot=slot), fix
                )


def _named(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, use and slot of each place; comments do not count."""
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.partition("#")[0]
        yield from ((number, match["use"], match["slot"]) for match in NAMED.finditer(code))
