"""Flow files: the flows and their steps, nested as people write them (flows.md §2).

Nested lists are flattened into steps by id. A step without `next` goes on at the following one of
the same list; after the last one of a nested list the flow ends (§2.3). The files are read by hand:
a thousand flows must load in seconds, and no model can say where the steps lead.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from mock_server.dialogue.expressions import SLOT
from mock_server.dialogue.model import (
    END,
    PATTERN_PREFIX,
    ActionStep,
    Branch,
    CallStep,
    CollectStep,
    Flow,
    Json,
    LinkStep,
    NoopStep,
    SetSlotsStep,
    Slot,
    SlotType,
    Step,
    ToolStep,
    coerce,
)
from mock_server.errors import InvalidSlotValue, Location
from mock_server.project.domain import read_rejections
from mock_server.project.findings import Findings, MentionKind, suggestion
from mock_server.project.nodes import (
    Fields,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    as_map,
    as_text,
    fields_of,
    kind_of,
    mistyped,
    plain,
)

REMOVED_KEYS = ("block_digressions", "ask_confirm_digressions")
COMMON_KEYS = ("id", "next", "metadata", "description")
FLOW_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
FILE_KEYS = ("flows", "version", "nlu", "stories", "rules", "lookup", "synonyms", "regex")
NLU_KEYS = frozenset({"nlu", "stories", "rules", "lookup", "synonyms", "regex"})
FLOW_KEYS = (
    "description", "name", "if", "always_include_in_prompt", "run_pattern_completed",
    "nlu_trigger", "persisted_slots", "steps", "file_path", *REMOVED_KEYS,
)  # fmt: skip
BRANCH_KEYS = frozenset({"if", "then", "else"})
# What is found in a flow where the ways from step to step are not all known.
UNRESOLVED = frozenset(
    {
        "flow.branch_after_else", "flow.duplicate_step", "flow.link_not_last", "flow.no_else",
        "flow.no_if", "flow.no_then", "flow.open_branch", "flow.reserved_step", "flow.step_kind",
        "flow.target", "flow.unknown_step", "yaml.type",
    }
)  # fmt: skip
RESERVED_IDS = frozenset({END, "START"})


@dataclass(slots=True)
class FlowFiles:
    """The flows read so far; of the `unresolved`, some steps could not be read."""

    flows: dict[str, Flow] = field(default_factory=dict[str, Flow])
    unresolved: set[str] = field(default_factory=set[str])

    def resolved(self) -> Iterator[Flow]:
        return (flow for flow in self.flows.values() if flow.id not in self.unresolved)


def read_flows(
    roots: Mapping[str, Node | None], slots: Mapping[str, Slot], found: Findings
) -> FlowFiles:
    """All flows of the files; an id that two of them define is an error naming both."""
    files = FlowFiles()
    for root in roots.values():
        file = fields_of(root, found, "a flow file")
        if file is None:
            continue
        file.warn_unknown(FILE_KEYS)
        for key in NLU_KEYS & file.node.entries.keys():
            text = f"`{key}` trains a model, and is ignored: only flows run here"
            file.warn(key, "ignored.training_data", text)
        for flow_id, node, place in file.below("flows", "flows").entries():
            first = files.flows.get(flow_id)
            if first is None:
                before = found.count(UNRESOLVED)
                files.flows[flow_id] = _read_flow(flow_id, node, place, slots, found)
                if found.count(UNRESOLVED) > before:
                    files.unresolved.add(flow_id)
            else:
                text = f"flow {flow_id!r} is defined twice; first at {first.location}"
                found.error(place, "flow.duplicate", text, "rename or remove one of the two")
    return files


def _read_flow(
    flow_id: str, node: Node, place: Location, slots: Mapping[str, Slot], found: Findings
) -> Flow:
    what = f"flow {flow_id!r}"
    if not FLOW_ID.fullmatch(flow_id):
        text = f"{flow_id!r} is not a flow id; expected letters, digits, _ and -"
        found.error(place, "flow.id", text)
    flow = fields_of(node, found, what) or Fields(MapNode(place, {}, {}), what, found)
    flow.warn_unknown(FLOW_KEYS, "a flow")
    warn_removed_keys(flow)
    description = (flow.text("description") or "").strip()
    if not description and not flow_id.startswith(PATTERN_PREFIX):
        found.fault(place, "flow.no_description", f"{what} has no `description`")
    items = flow.items("steps")
    if not items:
        found.error(flow.at("steps"), "flow.no_steps", f"{what} has no steps")
    first, steps = StepReader(flow_id, slots, found).read(items)
    return Flow(
        id=flow_id,
        name=flow.text("name") or flow_id,
        description=description,
        steps=steps,
        first_step=first,
        guard=_guard(flow),
        run_pattern_completed=flow.flag("run_pattern_completed", default=True),
        nlu_triggers=_triggers(flow),
        persisted_slots=_persisted(flow),
        location=place,
    )


def _guard(flow: Fields) -> str | None:
    guard = flow.text("if")
    if guard is not None:
        flow.mention(MentionKind.GUARD, guard, "if", f"the guard of {flow.what}")
    return guard


def _triggers(flow: Fields) -> tuple[str, ...]:
    """Intents: `{intent: name}` or `{intent: {name: …, confidence_threshold: …}}`."""
    intents: list[str] = []
    for item in flow.items("nlu_trigger"):
        intent = item.entries.get("intent") if isinstance(item, MapNode) else item
        if isinstance(intent, MapNode):
            intent = intent.entries.get("name")
        name = as_text(intent, flow.found, f"an intent of {flow.what}")
        if name is None:
            text = f"an nlu_trigger of {flow.what} names no intent"
            flow.found.error(item.location, "flow.trigger", text, "write `- intent: name`")
        else:
            intents.append(name)
    return tuple(intents)


def _persisted(flow: Fields) -> tuple[str, ...]:
    for item in flow.items("persisted_slots"):
        if isinstance(item, ScalarNode) and item.value is not None:
            by = f"persisted_slots of {flow.what}"
            flow.found.mention(MentionKind.SLOT, item.source, item.location, by)
    return flow.texts("persisted_slots")


@dataclass(slots=True)
class _Draft:
    """A step whose successor is not known yet; `following` is the next one of its list."""

    id: str
    kind: str
    node: MapNode
    branches: tuple[Branch, ...] | None = None
    following: str = END

    def next(self) -> tuple[Branch, ...]:
        return self.branches if self.branches is not None else (Branch(self.following),)


@dataclass(frozen=True, slots=True)
class _Target:
    id: str
    location: Location


class StepReader:
    """Reads the steps of flow `flow_id`; lives as long as that takes."""

    def __init__(self, flow_id: str, slots: Mapping[str, Slot], found: Findings) -> None:
        self._flow_id = flow_id
        self._slots = slots
        self._found = found
        self._drafts: dict[str, _Draft] = {}
        self._targets: list[_Target] = []
        self._unread: set[str | None] = set()

    def read(self, items: tuple[Node, ...]) -> tuple[str, Mapping[str, Step]]:
        """The id of the first step, END if there is none, and all steps by id in file order."""
        first = self._read_list(items, is_nested=False)
        for target in self._targets:
            if target.id not in {*self._drafts, *self._unread, END}:
                text = f"flow {self._flow_id!r} has no step {target.id!r}"
                fix = suggestion(target.id, self._drafts)
                self._found.error(target.location, "flow.unknown_step", text, fix)
        return first, {draft.id: self._build(draft) for draft in self._drafts.values()}

    def _build(self, draft: _Draft) -> Step:
        by = f"step {draft.id!r} of flow {self._flow_id!r}"
        step = Fields(draft.node, by, self._found)
        step.warn_unknown((*COMMON_KEYS, *KINDS, *KINDS[draft.kind].keys), f"a {draft.kind} step")
        return KINDS[draft.kind].read(step, draft.id, draft.next(), self._slots)

    def _read_list(self, items: tuple[Node, ...], *, is_nested: bool) -> str:
        drafts: list[_Draft] = []
        draft: _Draft | None = None
        for item in items:
            draft = self._draft(item)
            if draft is None:
                continue
            if drafts:
                drafts[-1].following = draft.id
            drafts.append(draft)
            draft.branches = self._read_next(draft.node)
        self._check_ends(drafts, is_nested=is_nested and draft is not None)
        return drafts[0].id if drafts else END

    def _check_ends(self, drafts: list[_Draft], *, is_nested: bool) -> None:
        for draft in drafts[:-1]:
            if draft.kind == "link":
                text = "steps after a link are never reached"
                self._found.fault(draft.node.location, "flow.link_not_last", text)
        last = drafts[-1] if drafts else None
        if is_nested and last and last.branches is None and last.kind != "link":
            text = f"the last step of a branch, {last.id!r}, has neither `next` nor `link`"
            fix = "write where it goes, e.g. `next: END`"
            self._found.fault(last.node.location, "flow.open_branch", text, fix)

    def _draft(self, item: Node) -> _Draft | None:
        node = as_map(item, self._found, f"a step of flow {self._flow_id!r}")
        if node is None:
            return None
        kinds = [kind for kind in KINDS if kind in node.entries]
        if len(kinds) != 1:
            keys = ", ".join(kinds or node.entries) or "nothing"
            text = f"a step of flow {self._flow_id!r} has {keys}"
            fix = f"give it exactly one of {', '.join(KINDS)}"
            self._found.error(node.location, "flow.step_kind", text, fix)
            self._unread.add(as_text(node.entries.get("id"), self._found, "id of a step"))
            return None
        draft = _Draft(self._id(node, kinds[0]), kinds[0], node)
        self._drafts[draft.id] = draft
        return draft

    def _id(self, node: MapNode, kind: str) -> str:
        written = as_text(node.entries.get("id"), self._found, "id of a step")
        if written is not None and self._is_free(written, node.place("id")):
            return written
        named = node.entries[kind]
        name = f"_{named.source}" if isinstance(named, ScalarNode) and kind != "noop" else ""
        index = len(self._drafts)
        while (id := f"{self._flow_id}_{index}_{kind}{name}") in self._drafts:
            index += 1
        return id

    def _is_free(self, id: str, place: Location) -> bool:
        if id in RESERVED_IDS:
            self._found.error(place, "flow.reserved_step", f"step id {id!r} is Rasa's own")
            return False
        if id in self._drafts:
            first = self._drafts[id].node.place("id")
            text = f"step {id!r} occurs twice in flow {self._flow_id!r}; first at {first}"
            self._found.error(place, "flow.duplicate_step", text, "rename one of the two")
            return False
        return True

    def _read_next(self, node: MapNode) -> tuple[Branch, ...] | None:
        """The branches of `next`; None if there is no `next`."""
        after = node.entries.get("next")
        if after is None or (isinstance(after, ScalarNode) and after.value is None):
            return None
        if isinstance(after, ListNode) and _is_branching(after):
            return self._read_branches(after, node)
        return (Branch(self._target(after)),)

    def _read_branches(self, after: ListNode, step: MapNode) -> tuple[Branch, ...]:
        branches: list[Branch] = []
        for item in after.items:
            node = as_map(item, self._found, "a branch")
            if node is None:
                continue
            if branches and branches[-1].condition is None:
                text = "a branch after `else` is never taken"
                self._found.error(node.location, "flow.branch_after_else", text)
            branches.append(self._read_branch(node))
        if all(branch.condition is not None for branch in branches):
            text = "the branches have no `else`; the flow ends where none holds"
            place = step.place("next")
            self._found.fault(place, "flow.no_else", text, "add `- else: END`")
            branches.append(Branch(END))
        return tuple(branches)

    def _read_branch(self, node: MapNode) -> Branch:
        self._warn_stray_keys(node)
        if "else" in node.entries:
            for key in node.entries.keys() & {"if", "then"}:
                text = f"a branch has `else`, so its `{key}` is ignored"
                self._found.warn(node.place(key), "flow.branch_key", text, "write two branches")
            return Branch(self._target(node.entries["else"]))
        condition = as_text(node.entries.get("if"), self._found, "`if` of a branch")
        if condition is None:
            self._found.error(node.location, "flow.no_if", "a branch has neither `if` nor `else`")
            condition = "false"
        by = f"flow {self._flow_id!r}"
        self._found.mention(MentionKind.CONDITION, condition, node.place("if"), by)
        then = node.entries.get("then")
        if then is None:
            self._found.error(node.location, "flow.no_then", "a branch with `if` has no `then`")
            return Branch(END, condition)
        return Branch(self._target(then), condition)

    def _warn_stray_keys(self, node: MapNode) -> None:
        for key in node.entries.keys() - BRANCH_KEYS:
            text = f"a branch has no key {key!r}; it is ignored"
            fix = "put it into the step that the branch leads to" if key == "next" else ""
            self._found.warn(node.place(key), "flow.branch_key", text, fix)

    def _target(self, node: Node) -> str:
        """The step that `node` leads to: by its id, or the first of a list of steps."""
        match node:
            case ListNode(items=items) if items:
                return self._read_list(items, is_nested=True)
            case ScalarNode(source=source, value=value) if value is not None:
                self._targets.append(_Target(source, node.location))
                return source
            case _:
                text = f"found {kind_of(node)}, expected a step's id, END or a list of steps"
                self._found.error(node.location, "flow.target", text)
                return END


def _is_branching(node: ListNode) -> bool:
    return any(
        isinstance(item, MapNode) and not item.entries.keys().isdisjoint(BRANCH_KEYS)
        for item in node.items
    )


def _mention(step: Fields, kind: MentionKind, name: str, key: str) -> None:
    """Note that the step names `name`, or the Jinja that computes it."""
    step.mention(MentionKind.TEMPLATE if "{{" in name else kind, name, key)


Ways: TypeAlias = tuple[Branch, ...]
Slots: TypeAlias = Mapping[str, Slot]


def _read_collect(step: Fields, id: str, next: Ways, _: Slots) -> CollectStep:
    slot, utter = step.text("collect") or "", step.text("utter")
    _mention(step, MentionKind.SLOT, slot, "collect")
    if utter is not None:
        _mention(step, MentionKind.RESPONSE, utter, "utter")
    warn_removed_keys(step)
    for key in ("silence_timeout", "dtmf"):
        if key in step:
            text = f"`{key}` of {step.what} is ignored: a conversation over A2A is text, not voice"
            step.warn(key, "ignored.voice", text)
    if "reset_after_flow_ends" in step:
        text = "`reset_after_flow_ends` is deprecated"
        fix = "name the slot in the flow's `persisted_slots` instead where it is false"
        step.warn("reset_after_flow_ends", "flow.deprecated_key", text, fix)
    return CollectStep(
        id,
        slot,
        next,
        description=(step.text("description") or "").strip(),
        utter=utter,
        ask_before_filling=step.flag("ask_before_filling", default=False),
        force_slot_filling=step.flag("force_slot_filling", default=False),
        reset_after_flow_ends=step.flag("reset_after_flow_ends", default=True),
        rejections=read_rejections(slot, step),
        location=step.node.location,
    )


def _read_action(step: Fields, id: str, next: Ways, _: Slots) -> ActionStep:
    name = step.text("action")
    if name is None:
        step.found.error(step.at("action"), "flow.no_name", f"{step.what} is empty")
    else:
        kind = MentionKind.RESPONSE if name.startswith("utter_") else MentionKind.ACTION
        _mention(step, kind, name, "action")
    return ActionStep(id, name or "", next, step.node.location)


def _flow(step: Fields, key: str) -> str:
    name = step.text(key)
    if name is None:
        step.found.error(step.at(key), "flow.no_name", f"{step.what} is empty")
    else:
        _mention(step, MentionKind.FLOW, name, key)
    return name or ""


def _read_link(step: Fields, id: str, _: Ways, __: Slots) -> LinkStep:
    flow_id = _flow(step, "link")
    if "next" in step:
        text = f"{step.what} is a link and cannot have `next`"
        step.fault("next", "flow.link_next", text, "remove it")
    return LinkStep(id, flow_id, step.node.location)


def _read_call(step: Fields, id: str, next: Ways, slots: Slots) -> CallStep | ToolStep:
    if "mcp_server" in step:
        return _read_tool(step, id, next)
    exit_if = step.texts("exit_if")
    for condition in exit_if:
        _mention(step, MentionKind.CONDITION, condition, "exit_if")
    named = {name for condition in exit_if for name in SLOT.findall(condition)}
    exit_slots = tuple(sorted(named & slots.keys()))
    return CallStep(id, _flow(step, "call"), next, exit_if, exit_slots, step.node.location)


def _read_tool(step: Fields, id: str, next: Ways) -> ToolStep:
    """`call` of a tool: `mapping` says which slots go in, and which values come out."""
    mapping = step.below("mapping")
    outputs = _pairs(mapping, "output", "slot", "value")
    inputs = _pairs(mapping, "input", "param", "slot")
    for name in (*(slot for slot, _ in outputs), *(slot for _, slot in inputs)):
        _mention(step, MentionKind.SLOT, name, "mapping")
    tool, server = step.text("call") or "", step.text("mcp_server") or ""
    return ToolStep(id, tool, server, next, inputs, outputs, step.node.location)


def _pairs(mapping: Fields, key: str, first: str, second: str) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for item in mapping.each(key, mapping.what):
        left, right = item.text(first), item.text(second)
        if left is None or right is None:
            text = f"{mapping.what}: expected `{first}` and `{second}`"
            item.found.error(item.node.location, "flow.mapping", text)
        else:
            pairs.append((left, right))
    return tuple(pairs)


def _read_set_slots(step: Fields, id: str, next: Ways, slots: Slots) -> SetSlotsStep:
    return SetSlotsStep(id, _assignments(step, slots), next, step.node.location)


def _assignments(step: Fields, slots: Slots) -> tuple[tuple[str, Json], ...]:
    """`set_slots`: a list of mappings; real projects also have one mapping."""
    node = step.node.entries["set_slots"]
    if isinstance(node, ScalarNode):
        mistyped(step.found, node, "set_slots", "a list such as `- amount: 5`")
        return ()
    assignments: list[tuple[str, Json]] = []
    for item in node.items if isinstance(node, ListNode) else (node,):
        if not isinstance(item, MapNode):
            mistyped(step.found, item, "an item of set_slots", "a mapping such as `amount: 5`")
            continue
        for name, value in item.entries.items():
            place = item.place(name)
            step.found.mention(MentionKind.SLOT, name, place, step.what)
            assignments.append((name, _assigned(slots.get(name), value, place, step.found)))
    return tuple(assignments)


def _assigned(slot: Slot | None, node: Node, place: Location, found: Findings) -> Json:
    value = plain(node)
    if slot is None:
        return value
    if slot.type is SlotType.LIST and value is not None:
        text = f"slot {slot.name!r} is a list, which only a custom action may set"
        found.fault(place, "flow.set_list", text)
    try:
        return coerce(slot, value)
    except InvalidSlotValue as error:
        found.fault(place, "flow.set_value", str(error))
        return value


def warn_removed_keys(fields: Fields) -> None:
    for key in REMOVED_KEYS:
        if key in fields:
            text = f"`{key}` is no longer part of Rasa; it is ignored"
            fields.warn(key, "flow.removed_key", text)


def _read_noop(step: Fields, id: str, next: Ways, _: Slots) -> NoopStep:
    if not step.flag("noop", default=True):
        step.fault("noop", "flow.noop", f"{step.what} is not a step", "write `noop: true`")
    if "next" not in step:
        step.fault("next", "flow.noop_next", f"{step.what} is a noop without `next`")
    return NoopStep(id, next, step.node.location)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of step: its reader, and the keys that only it has."""

    read: Callable[[Fields, str, Ways, Slots], Step]
    keys: tuple[str, ...] = ()


# By the key that makes a mapping such a step.
KINDS: Mapping[str, _Kind] = {
    "action": _Kind(_read_action),
    "collect": _Kind(
        _read_collect,
        (
            "utter", "ask_before_filling", "force_slot_filling", "reset_after_flow_ends",
            "rejections", "silence_timeout", "dtmf", *REMOVED_KEYS,
        ),
    ),
    "link": _Kind(_read_link),
    "call": _Kind(_read_call, ("exit_if", "mcp_server", "mapping")),
    "set_slots": _Kind(_read_set_slots),
    "noop": _Kind(_read_noop),
}  # fmt: skip
