"""One slot of a domain (flows.md §4.1)."""

from dataclasses import replace

from mock_server.dialogue.model import Json, Rejection, Slot, SlotType, SlotValidation
from mock_server.dialogue.slots import coerce
from mock_server.errors import InvalidSlotValue, Location
from mock_server.project.findings import Findings, Mention, MentionKind, suggestion
from mock_server.project.mappings import read_action_every_turn, read_filler
from mock_server.project.nodes import MapNode, Node
from mock_server.project.reading import (
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
