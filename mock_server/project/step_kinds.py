"""One step of a flow by its kind: the keys it may have and the step they make (flows.md §2.2)."""

import re
from collections.abc import Mapping

from mock_server.dialogue.model import (
    ActionStep,
    Branch,
    CallStep,
    CollectStep,
    Json,
    LinkStep,
    NoopStep,
    SetSlotsStep,
    Slot,
    SlotType,
    Step,
    ToolStep,
)
from mock_server.dialogue.slots import coerce
from mock_server.errors import InvalidSlotValue, Location
from mock_server.project.findings import Findings, Mention, MentionKind
from mock_server.project.nodes import ListNode, MapNode, Node, ScalarNode
from mock_server.project.reading import (
    as_bool,
    as_items,
    as_json,
    as_map,
    as_text,
    as_texts,
    mistyped,
    warn_unknown_keys,
)
from mock_server.project.removed_keys import REMOVED_KEYS, warn_removed_keys
from mock_server.project.slots import read_rejections

SLOT = re.compile(r"\bslots\.(\w+)")
COMMON_KEYS = ("id", "next", "metadata", "description")
KINDS: Mapping[str, tuple[str, ...]] = {
    "action": (),
    "collect": (
        "utter", "ask_before_filling", "force_slot_filling", "reset_after_flow_ends", "rejections",
        "silence_timeout", "dtmf", *REMOVED_KEYS,
    ),
    "link": (),
    "call": ("exit_if", "mcp_server", "mapping"),
    "set_slots": (),
    "noop": (),
}  # fmt: skip


class _StepContext:
    """What reading one step needs besides the step itself."""

    def __init__(self, node: MapNode, by: str, mentions: list[Mention], found: Findings) -> None:
        self.node = node
        self.by = by
        self.mentions = mentions
        self.found = found

    def text(self, key: str) -> str | None:
        return as_text(self.node.entries.get(key), self.found, f"`{key}` of a step")

    def flag(self, key: str, *, default: bool) -> bool:
        node = self.node.entries.get(key)
        return as_bool(node, self.found, f"`{key}` of a step", default=default)

    def mention(self, kind: MentionKind, name: str, key: str) -> None:
        """Note that the step names `name`, or the Jinja that computes it."""
        noted = MentionKind.TEMPLATE if "{{" in name else kind
        self.mentions.append(Mention(noted, name, self.node.place(key), self.by))


def build(
    kind: str,
    node: MapNode,
    id: str,
    next: tuple[Branch, ...],
    *,
    flow_id: str,
    slots: Mapping[str, Slot],
    mentions: list[Mention],
    found: Findings,
) -> Step:
    """The step of `kind` that `node` describes."""
    by = f"step {id!r} of flow {flow_id!r}"
    context = _StepContext(node, by, mentions, found)
    warn_unknown_keys(node, (*COMMON_KEYS, *KINDS, *KINDS[kind]), found, f"a {kind} step")
    place = node.location
    match kind:
        case "collect":
            return _collect(context, id, next)
        case "action":
            return ActionStep(id, _action(context), next, place)
        case "link":
            return LinkStep(id, _flow(context, "link"), place)
        case "call" if "mcp_server" in node.entries:
            return _tool(context, id, next)
        case "call":
            exit_if = _exit_conditions(context)
            named = {name for condition in exit_if for name in SLOT.findall(condition)}
            exit_slots = tuple(sorted(named & slots.keys()))
            return CallStep(id, _flow(context, "call"), next, exit_if, exit_slots, place)
        case "set_slots":
            return SetSlotsStep(id, _assignments(context, slots), next, place)
        case _:
            if not context.flag("noop", default=True):
                text = f"{by} is no step"
                found.fault(node.place("noop"), "flow.noop", text, "write `noop: true`")
            if "next" not in node.entries:
                found.fault(place, "flow.noop_next", f"{by} is a noop without `next`")
            return NoopStep(id, next, place)


def _collect(context: _StepContext, id: str, next: tuple[Branch, ...]) -> Step:
    slot = context.text("collect") or ""
    context.mention(MentionKind.SLOT, slot, "collect")
    utter = context.text("utter")
    if utter is not None:
        context.mention(MentionKind.RESPONSE, utter, "utter")
    rejections = context.node.entries.get("rejections")
    warn_removed_keys(context.node, context.found)
    for key in ("silence_timeout", "dtmf"):
        if key in context.node.entries:
            text = f"`{key}` of {context.by} is ignored: a conversation over A2A is text, not voice"
            context.found.warn(context.node.place(key), "ignored.voice", text)
    if "reset_after_flow_ends" in context.node.entries:
        text = "`reset_after_flow_ends` is deprecated"
        mend = "name the slot in the flow's `persisted_slots` instead where it is false"
        place = context.node.place("reset_after_flow_ends")
        context.found.warn(place, "flow.deprecated_key", text, mend)
    return CollectStep(
        id,
        slot,
        next,
        description=(context.text("description") or "").strip(),
        utter=utter,
        ask_before_filling=context.flag("ask_before_filling", default=False),
        force_slot_filling=context.flag("force_slot_filling", default=False),
        reset_after_flow_ends=context.flag("reset_after_flow_ends", default=True),
        rejections=read_rejections(slot, rejections, context.mentions, context.found),
        location=context.node.location,
    )


def _action(context: _StepContext) -> str:
    name = context.text("action")
    if name is None:
        context.found.error(context.node.place("action"), "flow.no_name", f"{context.by} is empty")
        return ""
    kind = MentionKind.RESPONSE if name.startswith("utter_") else MentionKind.ACTION
    context.mention(kind, name, "action")
    return name


def _flow(context: _StepContext, key: str) -> str:
    place = context.node.place(key)
    name = context.text(key)
    if name is None:
        context.found.error(place, "flow.no_name", f"{context.by} is empty")
    else:
        context.mention(MentionKind.FLOW, name, key)
    if key == "link" and "next" in context.node.entries:
        text = f"{context.by} is a link and cannot have `next`"
        context.found.fault(context.node.place("next"), "flow.link_next", text, "remove it")
    return name or ""


def _exit_conditions(context: _StepContext) -> tuple[str, ...]:
    node = context.node.entries.get("exit_if")
    conditions = as_texts(node, context.found, f"exit_if of {context.by}")
    for condition in conditions:
        context.mention(MentionKind.CONDITION, condition, "exit_if")
    return conditions


def _tool(context: _StepContext, id: str, next: tuple[Branch, ...]) -> Step:
    """`call` of a tool: `mapping` says which slots go in, and which values come out."""
    found, entries = context.found, context.node.entries
    mapping = as_map(entries.get("mapping"), found, f"mapping of {context.by}")
    get = (mapping or MapNode(context.node.location, {}, {})).entries.get
    outputs = _pairs(context, get("output"), "slot", "value")
    for name, _ in outputs:
        context.mention(MentionKind.SLOT, name, "mapping")
    inputs = _pairs(context, get("input"), "param", "slot")
    for _, name in inputs:
        context.mention(MentionKind.SLOT, name, "mapping")
    return ToolStep(
        id,
        context.text("call") or "",
        context.text("mcp_server") or "",
        next,
        inputs,
        outputs,
        context.node.location,
    )


def _pairs(
    context: _StepContext, node: Node | None, first: str, second: str
) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for item in as_items(node, context.found, f"mapping of {context.by}"):
        entries = as_map(item, context.found, f"mapping of {context.by}")
        values = [
            as_text(entries.entries.get(key) if entries else None, context.found, key)
            for key in (first, second)
        ]
        if values[0] is None or values[1] is None:
            text = f"mapping of {context.by}: expected `{first}` and `{second}`"
            context.found.error(item.location, "flow.mapping", text)
        else:
            pairs.append((values[0], values[1]))
    return tuple(pairs)


def _assignments(context: _StepContext, slots: Mapping[str, Slot]) -> tuple[tuple[str, Json], ...]:
    """`set_slots`: a list of mappings, in the wild also one mapping."""
    node = context.node.entries["set_slots"]
    match node:
        case ListNode(items=items):
            maps = items
        case MapNode():
            maps = (node,)
        case ScalarNode():
            mistyped(context.found, node, "set_slots", "a list such as `- amount: 5`")
            maps = ()
    assignments: list[tuple[str, Json]] = []
    for item in maps:
        if not isinstance(item, MapNode):
            mistyped(context.found, item, "an item of set_slots", "a mapping such as `amount: 5`")
            continue
        for name, value in item.entries.items():
            place = item.place(name)
            context.mentions.append(Mention(MentionKind.SLOT, name, place, context.by))
            slot = slots.get(name)
            assignments.append((name, _assigned(slot, value, place, context.found)))
    return tuple(assignments)


def _assigned(slot: Slot | None, node: Node, place: Location, found: Findings) -> Json:
    value = as_json(node)
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
