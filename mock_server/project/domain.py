"""Domain files, merged: slots, responses, actions and session_config (flows.md §4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mock_server.dialogue.model import (
    Json,
    Rejection,
    Slot,
    SlotFiller,
    SlotType,
    SlotValidation,
    Variation,
)
from mock_server.dialogue.slots import coerce
from mock_server.errors import InvalidSlotValue, Location
from mock_server.project.findings import Findings, Mention, MentionKind, suggestion
from mock_server.project.nodes import (
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    as_bool,
    as_items,
    as_json,
    as_map,
    as_number,
    as_text,
    as_texts,
    is_empty,
    warn_unknown_keys,
)
from mock_server.project.responses import read_response

DOMAIN_KEYS = (
    "version", "intents", "entities", "slots", "responses", "actions", "forms", "session_config",
    "e2e_actions", "config", "flows", "nlu", "stories", "rules",
)  # fmt: skip
EXPIRY = "session_expiration_time"
CARRIED = "carry_over_slots_to_new_session"
KEPT = "start_session_after_expiry"
SESSION_KEYS = (EXPIRY, CARRIED, KEPT)


@dataclass(slots=True)
class Domain:
    """What the domain files read so far say; `places` are those of the definitions."""

    slots: dict[str, Slot] = field(default_factory=dict[str, Slot])
    responses: dict[str, tuple[Variation, ...]] = field(
        default_factory=dict[str, tuple[Variation, ...]]
    )
    actions: dict[str, Location] = field(default_factory=dict[str, Location])
    session_config: dict[str, Node] = field(default_factory=dict[str, Node])
    session_place: Location | None = None
    mentions: list[Mention] = field(default_factory=list[Mention])
    places: dict[tuple[str, str], Location] = field(default_factory=dict[tuple[str, str], Location])


def read_domain(roots: Mapping[str, Node | None], found: Findings) -> Domain:
    """Merge the domain files; a name that two of them define is an error naming both."""
    domain = Domain()
    for root in roots.values():
        node = as_map(root, found, "a domain file")
        if node is None:
            continue
        warn_unknown_keys(node, DOMAIN_KEYS, found, "a domain")
        if "forms" in node.entries and as_json(node.entries["forms"]):
            text = "`forms` are ignored: flows collect slots"
            found.warn(node.place("forms"), "ignored.forms", text)
        _read_slots(domain, node, found)
        _read_responses(domain, node, found)
        _read_actions(domain, node, found)
        _read_session_config(domain, node, found)
    return domain


def _read_slots(domain: Domain, node: MapNode, found: Findings) -> None:
    slots = as_map(node.entries.get("slots"), found, "slots")
    if slots is None:
        return
    for name, value in slots.entries.items():
        place = slots.place(name)
        if _is_new(domain, "slot", name, place, found):
            domain.slots[name] = read_slot(name, value, place, domain.mentions, found)


def _read_responses(domain: Domain, node: MapNode, found: Findings) -> None:
    responses = as_map(node.entries.get("responses"), found, "responses")
    if responses is None:
        return
    for name, value in responses.entries.items():
        if _is_new(domain, "response", name, responses.place(name), found):
            domain.responses[name] = read_response(name, value, domain.mentions, found)


def _read_actions(domain: Domain, node: MapNode, found: Findings) -> None:
    """An action is its name, or `{name: {send_domain: true}}`."""
    for item in as_items(node.entries.get("actions"), found, "actions"):
        if isinstance(item, MapNode):
            names = tuple(item.entries)
        else:
            name = as_text(item, found, "an action")
            names = () if name is None else (name,)
        for name in names:
            domain.actions.setdefault(name, item.location)


def _read_session_config(domain: Domain, node: MapNode, found: Findings) -> None:
    config = as_map(node.entries.get("session_config"), found, "session_config")
    if config is not None:
        warn_unknown_keys(config, SESSION_KEYS, found, "session_config")
        as_bool(config.entries.get(CARRIED), found, f"session_config.{CARRIED}", default=True)
        as_number(config.entries.get(EXPIRY), found, f"session_config.{EXPIRY}")
        domain.session_config.update(config.entries)
        domain.session_place = node.place("session_config")


def _is_new(domain: Domain, kind: str, name: str, place: Location, found: Findings) -> bool:
    first = domain.places.setdefault((kind, name), place)
    if first == place:
        return True
    text = f"{kind} {name!r} is defined twice; first at {first}"
    found.error(place, f"domain.duplicate_{kind}", text, "remove one of the two")
    return False


def is_session_kept(domain: Domain) -> bool:
    """Whether `start_session_after_expiry` is explicitly false, as CFG-5 asks."""
    return _is_false(domain.session_config.get(KEPT))


def carries_slots(domain: Domain) -> bool:
    """Whether a new session begins with the slots of the one before, as it does by default."""
    return not _is_false(domain.session_config.get(CARRIED))


def _is_false(node: Node | None) -> bool:
    return isinstance(node, ScalarNode) and node.value is False


SLOT_KEYS = (
    "type", "initial_value", "values", "min_value", "max_value", "influence_conversation",
    "mappings", "validation", "shared_for_coexistence", "auto_fill", "max_history", "description",
)  # fmt: skip
UNSENDABLE = frozenset("()=,")
VALIDATION_KEYS = ("rejections", "refill_utter")
REJECTION_KEYS = ("if", "utter")


def read_slot(
    name: str, node: Node, place: Location, mentions: list[Mention], found: Findings
) -> Slot:
    """Slot `name`; what is wrong with it is reported and left at its default."""
    entries = as_map(node, found, f"slot {name!r}")
    if entries is None and not is_empty(node):
        return Slot(name, SlotType.ANY, location=place)
    entries = entries or MapNode(place, {}, {})
    warn_unknown_keys(entries, SLOT_KEYS, found, f"slot {name!r}")
    if as_bool(
        entries.entries.get("shared_for_coexistence"),
        found,
        f"shared_for_coexistence of {name!r}",
        default=False,
    ):
        text = f"`shared_for_coexistence` of slot {name!r} is ignored: there is one system only"
        found.warn(entries.place("shared_for_coexistence"), "ignored.coexistence", text)
    get = entries.entries.get
    values = as_texts(get("values"), found, f"values of slot {name!r}")
    type = _type(name, entries, place, found)
    if type is SlotType.CATEGORICAL and not values:
        found.error(place, "slot.no_values", f"categorical slot {name!r} has no `values`")
        type = SlotType.ANY
    slot = Slot(
        name,
        type,
        values=values,
        min_value=as_number(get("min_value"), found, f"min_value of slot {name!r}"),
        max_value=as_number(get("max_value"), found, f"max_value of slot {name!r}"),
        filler=read_filler(name, get("mappings"), found),
        action_every_turn=read_action_every_turn(name, get("mappings"), mentions, found),
        validation=_validation(name, get("validation"), mentions, found),
        location=place,
    )
    _check_categories(slot, found)
    _check_bounds(slot, found)
    if UNSENDABLE.intersection(name):
        text = f"no button can set slot {name!r}, because of its name"
        found.warn(place, "slot.name", text, "leave out parentheses, commas and =")
    initial = get("initial_value")
    return slot if initial is None else replace(slot, initial_value=_initial(slot, initial, found))


def _check_bounds(slot: Slot, found: Findings) -> None:
    low, high = slot.min_value, slot.max_value
    if low is not None and high is not None and low > high:
        text = f"slot {slot.name!r} admits no number: min_value {low:g} is above max_value {high:g}"
        found.warn(slot.location, "slot.bounds", text, "exchange the two")


def _check_categories(slot: Slot, found: Findings) -> None:
    """A value is known by its letters, whatever their case: the first of two alike is taken."""
    first: dict[str, str] = {}
    for value in slot.values if slot.type is SlotType.CATEGORICAL else ():
        twin = first.setdefault(value.casefold(), value)
        if twin is not value:
            text = f"slot {slot.name!r} cannot tell its values {twin!r} and {value!r} apart"
            found.warn(slot.location, "slot.like_values", text, "remove one of the two")


def _type(name: str, entries: MapNode, place: Location, found: Findings) -> SlotType:
    node = entries.entries.get("type")
    spelled = as_text(node, found, f"type of slot {name!r}")
    if node is None or spelled is None:
        found.error(place, "slot.no_type", f"slot {name!r} has no `type`", _types())
        return SlotType.ANY
    if spelled in set(SlotType):
        return SlotType(spelled)
    if "." in spelled:
        text = f"slot {name!r} has the class {spelled!r}, which needs Rasa; it is read as `any`"
        found.warn(node.location, "slot.custom_type", text)
        return SlotType.ANY
    mend = suggestion(spelled, list(SlotType)) or _types()
    found.error(node.location, "slot.unknown_type", f"slot {name!r} has type {spelled!r}", mend)
    return SlotType.ANY


def _types() -> str:
    return f"expected one of {', '.join(SlotType)}"


def _initial(slot: Slot, node: Node, found: Findings) -> Json:
    value = as_json(node)
    try:
        return coerce(slot, value)
    except InvalidSlotValue as error:
        text = f"initial_value of slot {slot.name!r}: found {value!r}, expected {error.expected}"
        found.error(node.location, "slot.initial_value", text)
        return None


def _validation(
    name: str, node: Node | None, mentions: list[Mention], found: Findings
) -> SlotValidation | None:
    entries = as_map(node, found, f"validation of slot {name!r}")
    if entries is None:
        return None
    warn_unknown_keys(entries, VALIDATION_KEYS, found, f"validation of slot {name!r}")
    rejections = read_rejections(name, entries.entries.get("rejections"), mentions, found)
    refill_node = entries.entries.get("refill_utter")
    refill = as_text(refill_node, found, f"refill_utter of slot {name!r}")
    if refill is not None and refill_node is not None:
        by = f"the validation of slot {name!r}"
        mentions.append(Mention(MentionKind.RESPONSE, refill, refill_node.location, by))
    return SlotValidation(rejections, refill)


def read_rejections(
    slot: str, node: Node | None, mentions: list[Mention], found: Findings
) -> tuple[Rejection, ...]:
    """A `rejections` list, of a collect step or of a slot's validation."""
    what = f"a rejection of slot {slot!r}"
    rejections: list[Rejection] = []
    for item in as_items(node, found, f"rejections of slot {slot!r}"):
        entries = as_map(item, found, what)
        if entries is None:
            continue
        warn_unknown_keys(entries, REJECTION_KEYS, found, what)
        condition = as_text(entries.entries.get("if"), found, f"`if` of {what}")
        utter = as_text(entries.entries.get("utter"), found, f"`utter` of {what}")
        if condition is None or utter is None:
            missing = "if" if condition is None else "utter"
            found.error(item.location, "rejection.incomplete", f"{what} has no `{missing}`")
            continue
        place = entries.place
        mentions.append(Mention(MentionKind.CONDITION, condition, place("if"), what, slot))
        mentions.append(Mention(MentionKind.RESPONSE, utter, place("utter"), what))
        rejections.append(Rejection(condition, utter))
    return tuple(rejections)


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
