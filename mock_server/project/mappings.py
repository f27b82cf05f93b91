"""Who fills a slot: its `mappings` (flows.md §4.1)."""

from mock_server.dialogue.model import SlotFiller
from mock_server.project.findings import Findings, Mention, MentionKind, suggestion
from mock_server.project.nodes import ListNode, MapNode, Node, ScalarNode
from mock_server.project.reading import as_text

NLU = frozenset({"from_entity", "from_intent", "from_text", "from_trigger_intent"})
NLU_ALIASES = frozenset({"intent", "entity"})
CONTROLLED = frozenset({"controlled", "custom"})
TYPES = NLU | NLU_ALIASES | CONTROLLED | {"from_llm"}
EVERY_TURN_KEYS = ("run_action_every_turn", "action")


def read_filler(name: str, node: Node | None, found: Findings) -> SlotFiller:
    """Who fills slot `name`, and a warning for each mapping that needs a model."""
    types: set[str] = set()
    for item in _items(node):
        of = item.entries.get("type") if isinstance(item, MapNode) else item
        spelled = as_text(of, found, f"a mapping of slot {name!r}")
        if spelled is None:
            text = f"a mapping of slot {name!r} has no `type`, and is ignored"
            found.warn(item.location, "slot.mapping", text, f"expected one of {sorted(TYPES)}")
            continue
        types.add(spelled)
        if spelled in NLU | NLU_ALIASES:
            text = f"mapping {spelled!r} of slot {name!r} needs an NLU model and is ignored"
            mend = f"send `/SetSlots({name}=value)`, or let an action set it"
            found.warn(item.location, "ignored.nlu_mapping", text, mend)
        elif spelled not in TYPES:
            text = f"slot {name!r} has a mapping of unknown type {spelled!r}"
            found.warn(item.location, "slot.mapping", text, suggestion(spelled, TYPES))
    if not types or "from_llm" in types:
        return SlotFiller.FROM_LLM
    return SlotFiller.CONTROLLED if types & CONTROLLED else SlotFiller.NLU


def read_action_every_turn(
    name: str, node: Node | None, mentions: list[Mention], found: Findings
) -> str | None:
    """The action that a controlled slot has run in every turn; `action` is its older name."""
    for item in _items(node):
        if not isinstance(item, MapNode):
            continue
        if "coexistence_system" in item.entries:
            text = f"`coexistence_system` of slot {name!r} is ignored: there is one system only"
            found.warn(item.place("coexistence_system"), "ignored.coexistence", text)
        for key in EVERY_TURN_KEYS:
            action = as_text(item.entries.get(key), found, f"`{key}` of slot {name!r}")
            if action is not None:
                by = f"the mapping of slot {name!r}"
                mentions.append(Mention(MentionKind.ACTION, action, item.place(key), by))
                return action
    return None


def _items(node: Node | None) -> tuple[Node, ...]:
    """`mappings` is a list, and in the wild also one mapping or a name."""
    match node:
        case None | ScalarNode(value=None):
            return ()
        case ListNode(items=items):
            return items
        case MapNode() | ScalarNode():
            return (node,)
