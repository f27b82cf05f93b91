"""Flow files: the properties of each flow (flows.md §2.1); the steps are read by `steps`.

They are read by hand, as `steps` are: a thousand flows must load in seconds, and where steps lead
is not what a model can say.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mock_server.dialogue.model import PATTERN_PREFIX, Flow, Slot
from mock_server.errors import Location
from mock_server.project.findings import Findings, MentionKind
from mock_server.project.nodes import Fields, MapNode, Node, ScalarNode, as_text, fields_of
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
    """The flows read so far; of the `tangled` it is not known where all steps lead."""

    flows: dict[str, Flow] = field(default_factory=dict[str, Flow])
    tangled: set[str] = field(default_factory=set[str])

    def untangled(self) -> Iterator[Flow]:
        return (flow for flow in self.flows.values() if flow.id not in self.tangled)


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
                before = found.count(TANGLING)
                files.flows[flow_id] = _read_flow(flow_id, node, place, slots, found)
                if found.count(TANGLING) > before:
                    files.tangled.add(flow_id)
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
