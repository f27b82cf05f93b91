"""Flow files: the properties of each flow (flows.md §2.1); the steps are read by `steps`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mock_server.dialogue.model import PATTERN_PREFIX, Flow, Slot
from mock_server.errors import Location
from mock_server.project.findings import Findings, Mention, MentionKind
from mock_server.project.nodes import (
    MapNode,
    Node,
    ScalarNode,
    as_bool,
    as_items,
    as_map,
    as_text,
    as_texts,
    warn_unknown_keys,
)
from mock_server.project.steps import REMOVED_KEYS, TANGLING, StepReader, warn_removed_keys

FLOW_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
FILE_KEYS = ("flows", "version", "nlu", "stories", "rules", "lookup", "synonyms", "regex")
NLU_KEYS = frozenset({"nlu", "stories", "rules", "lookup", "synonyms", "regex"})
FLOW_KEYS = (
    "description", "name", "if", "always_include_in_prompt", "run_pattern_completed",
    "nlu_trigger", "persisted_slots", "steps", "file_path", *REMOVED_KEYS,
)  # fmt: skip


@dataclass(slots=True)
class FlowFiles:
    """The flows read so far, and what they mention.

    `tangled` are those with steps of which it is unknown where they lead.
    """

    flows: dict[str, Flow] = field(default_factory=dict[str, Flow])
    mentions: list[Mention] = field(default_factory=list[Mention])
    tangled: set[str] = field(default_factory=set[str])

    def untangled(self) -> Iterator[Flow]:
        return (flow for flow in self.flows.values() if flow.id not in self.tangled)


def read_flows(
    roots: Mapping[str, Node | None], slots: Mapping[str, Slot], found: Findings
) -> FlowFiles:
    """All flows of the files; an id that two of them define is an error naming both."""
    files = FlowFiles()
    for root in roots.values():
        node = as_map(root, found, "a flow file")
        if node is None:
            continue
        warn_unknown_keys(node, FILE_KEYS, found, "a flow file")
        for key in NLU_KEYS & node.entries.keys():
            text = f"`{key}` trains a model, and is ignored: only flows run here"
            found.warn(node.place(key), "ignored.training_data", text)
        flows = as_map(node.entries.get("flows"), found, "flows")
        if flows is None:
            continue
        for flow_id, value in flows.entries.items():
            place = flows.place(flow_id)
            first = files.flows.get(flow_id)
            if first is not None:
                text = f"flow {flow_id!r} is defined twice; first at {first.location}"
                found.error(place, "flow.duplicate", text, "rename or remove one of the two")
                continue
            files.flows[flow_id] = _read_flow(
                flow_id, value, place, slots, files=files, found=found
            )
    return files


def _read_flow(
    flow_id: str,
    value: Node,
    place: Location,
    slots: Mapping[str, Slot],
    *,
    files: FlowFiles,
    found: Findings,
) -> Flow:
    what = f"flow {flow_id!r}"
    if not FLOW_ID.fullmatch(flow_id):
        text = f"{flow_id!r} is no flow id; expected letters, digits, _ and -"
        found.error(place, "flow.id", text)
    node = as_map(value, found, what) or MapNode(place, {}, {})
    warn_unknown_keys(node, FLOW_KEYS, found, "a flow")
    warn_removed_keys(node, found)
    get = node.entries.get
    description = as_text(get("description"), found, f"description of {what}")
    if not (description and description.strip()) and not flow_id.startswith(PATTERN_PREFIX):
        found.fault(place, "flow.no_description", f"{what} has no `description`")
    items = as_items(get("steps"), found, f"steps of {what}")
    if not items:
        found.error(node.place("steps"), "flow.no_steps", f"{what} has no steps")
    before = found.count(TANGLING)
    first, steps = StepReader(flow_id, slots, files.mentions, found).read(items)
    if found.count(TANGLING) > before:
        files.tangled.add(flow_id)
    return Flow(
        id=flow_id,
        name=as_text(get("name"), found, f"name of {what}") or flow_id,
        description=(description or "").strip(),
        steps=steps,
        first_step=first,
        guard=_guard(node, what, files.mentions, found),
        run_pattern_completed=as_bool(
            get("run_pattern_completed"), found, "run_pattern_completed", default=True
        ),
        nlu_triggers=_triggers(get("nlu_trigger"), what, found),
        persisted_slots=_persisted(node, what, files.mentions, found),
        location=place,
    )


def _guard(node: MapNode, what: str, mentions: list[Mention], found: Findings) -> str | None:
    guard = as_text(node.entries.get("if"), found, f"`if` of {what}")
    if guard is not None:
        place = node.place("if")
        mentions.append(Mention(MentionKind.GUARD, guard, place, f"the guard of {what}"))
    return guard


def _triggers(node: Node | None, what: str, found: Findings) -> tuple[str, ...]:
    """Intents: `{intent: name}` or `{intent: {name: …, confidence_threshold: …}}`."""
    intents: list[str] = []
    for item in as_items(node, found, f"nlu_trigger of {what}"):
        intent = item.entries.get("intent") if isinstance(item, MapNode) else item
        if isinstance(intent, MapNode):
            intent = intent.entries.get("name")
        name = as_text(intent, found, f"an intent of {what}")
        if name is None:
            text = f"an nlu_trigger of {what} names no intent"
            found.error(item.location, "flow.trigger", text, "write `- intent: name`")
        else:
            intents.append(name)
    return tuple(intents)


def _persisted(
    node: MapNode, what: str, mentions: list[Mention], found: Findings
) -> tuple[str, ...]:
    persisted = node.entries.get("persisted_slots")
    for item in as_items(persisted, found, f"persisted_slots of {what}"):
        if isinstance(item, ScalarNode) and item.value is not None:
            by = f"persisted_slots of {what}"
            mentions.append(Mention(MentionKind.SLOT, item.source, item.location, by))
    return as_texts(persisted, found, f"persisted_slots of {what}")
