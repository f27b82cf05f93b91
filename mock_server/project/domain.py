"""Domain files, merged: slots, responses, actions and session_config (flows.md §4).

They are read by hand: most of what is wrong in them is only warned of, and the places of the values
are needed for what names them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mock_server.dialogue.actions import CHANNEL
from mock_server.dialogue.model import (
    Button,
    Json,
    Rejection,
    Slot,
    SlotFiller,
    SlotType,
    SlotValidation,
    Variation,
    coerce,
)
from mock_server.errors import InvalidSlotValue, Location
from mock_server.project.findings import Findings, MentionKind, suggestion
from mock_server.project.nodes import (
    Fields,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    as_items,
    as_text,
    fields_of,
    is_empty,
    kind_of,
    mistyped,
    plain,
)

DOMAIN_KEYS = (
    "version", "intents", "entities", "slots", "responses", "actions", "forms", "session_config",
    "e2e_actions", "config", "flows", "nlu", "stories", "rules",
)  # fmt: skip
EXPIRY = "session_expiration_time"
CARRIED = "carry_over_slots_to_new_session"
KEPT = "start_session_after_expiry"
SESSION_KEYS = (EXPIRY, CARRIED, KEPT)


SLOT_KEYS = (
    "type", "initial_value", "values", "min_value", "max_value", "influence_conversation",
    "mappings", "validation", "shared_for_coexistence", "auto_fill", "max_history", "description",
)  # fmt: skip
UNSENDABLE = frozenset("()=,")
VALIDATION_KEYS = ("rejections", "refill_utter")
REJECTION_KEYS = ("if", "utter")
NLU = frozenset(
    {"entity", "from_entity", "from_intent", "from_text", "from_trigger_intent", "intent"}
)
CONTROLLED = frozenset({"controlled", "custom"})
TYPES = NLU | CONTROLLED | {"from_llm"}
EVERY_TURN_KEYS = ("run_action_every_turn", "action")
JINJA = "jinja"
VARIATION_KEYS = (
    "text", "buttons", "quick_replies", "elements", "image", "attachment", "custom", "channel",
    "condition", "id", "metadata", "translation", "allow_interruptions", "button_type",
)  # fmt: skip


@dataclass(slots=True)
class Domain:
    """The domain files read so far, merged; `places` are those of the definitions.

    `keeps_session`: `start_session_after_expiry` is explicitly false, as CFG-5 asks.
    `carries_slots`: a new session begins with the slots of the one before, as it does by default.
    """

    slots: dict[str, Slot] = field(default_factory=dict[str, Slot])
    responses: dict[str, tuple[Variation, ...]] = field(
        default_factory=dict[str, tuple[Variation, ...]]
    )
    actions: dict[str, Location] = field(default_factory=dict[str, Location])
    keeps_session: bool = False
    carries_slots: bool = True
    session_place: Location | None = None
    places: dict[tuple[str, str], Location] = field(default_factory=dict[tuple[str, str], Location])


def read_domain(roots: Mapping[str, Node | None], found: Findings) -> Domain:
    """Merge the domain files; a name that two of them define is an error naming both."""
    domain = Domain()
    for root in roots.values():
        file = fields_of(root, found, "a domain file")
        if file is None:
            continue
        file.warn_unknown(DOMAIN_KEYS, "a domain")
        if file.json("forms"):
            file.warn("forms", "ignored.forms", "`forms` are ignored: flows collect slots")
        for name, node, place in file.below("slots", "slots").entries():
            if _is_new(domain, "slot", name, place, found):
                domain.slots[name] = read_slot(name, node, place, found)
        for name, node, place in file.below("responses", "responses").entries():
            if _is_new(domain, "response", name, place, found):
                domain.responses[name] = read_response(name, node, found)
        _read_actions(domain, file)
        _read_session_config(domain, file)
    return domain


def _read_actions(domain: Domain, file: Fields) -> None:
    """An action is its name, or `{name: {send_domain: true}}`."""
    for item in file.items("actions"):
        name = None if isinstance(item, MapNode) else as_text(item, file.found, "an action")
        names = item.entries if isinstance(item, MapNode) else filter(None, (name,))
        for name in names:
            domain.actions.setdefault(name, item.location)


def _read_session_config(domain: Domain, file: Fields) -> None:
    config = file.below("session_config", "session_config")
    if config.node.entries:
        config.warn_unknown(SESSION_KEYS)
        config.flag(CARRIED, default=True)
        config.number(EXPIRY)
        domain.session_place = file.at("session_config")
    if CARRIED in config:
        domain.carries_slots = not _is_false(config.get(CARRIED))
    if KEPT in config:
        domain.keeps_session = _is_false(config.get(KEPT))


def _is_new(domain: Domain, kind: str, name: str, place: Location, found: Findings) -> bool:
    first = domain.places.setdefault((kind, name), place)
    if first == place:
        return True
    text = f"{kind} {name!r} is defined twice; first at {first}"
    found.error(place, f"domain.duplicate_{kind}", text, "remove one of the two")
    return False


def _is_false(node: Node | None) -> bool:
    return isinstance(node, ScalarNode) and node.value is False


def read_slot(name: str, node: Node, place: Location, found: Findings) -> Slot:
    """Slot `name`; what is wrong with it is reported and left at its default."""
    what = f"slot {name!r}"
    fields = fields_of(node, found, what)
    if fields is None and not is_empty(node):
        return Slot(name, SlotType.ANY, location=place)
    fields = fields or Fields(MapNode(place, {}, {}), what, found)
    fields.warn_unknown(SLOT_KEYS)
    if fields.flag("shared_for_coexistence", default=False):
        text = f"`shared_for_coexistence` of {what} is ignored: there is one system only"
        fields.warn("shared_for_coexistence", "ignored.coexistence", text)
    values, type = fields.texts("values"), _type(fields)
    if type is SlotType.CATEGORICAL and not values:
        found.error(place, "slot.no_values", f"categorical {what} has no `values`")
        type = SlotType.ANY
    mappings = _items(fields.get("mappings"))
    slot = Slot(
        name,
        type,
        values=values,
        min_value=fields.number("min_value"),
        max_value=fields.number("max_value"),
        filler=_filler(name, mappings, found),
        action_every_turn=_action_every_turn(name, mappings, found),
        validation=_validation(name, fields) if fields.has_value("validation") else None,
        location=place,
    )
    _check_categories(slot, found)
    _check_bounds(slot, found)
    if UNSENDABLE.intersection(name):
        text = f"no button can set {what}, because of its name"
        found.warn(place, "slot.name", text, "leave out parentheses, commas and =")
    initial = fields.get("initial_value")
    return slot if initial is None else replace(slot, initial_value=_initial(slot, initial, found))


def _check_bounds(slot: Slot, found: Findings) -> None:
    low, high = slot.min_value, slot.max_value
    if low is not None and high is not None and low > high:
        text = f"slot {slot.name!r} admits no number: min_value {low:g} is above max_value {high:g}"
        found.warn(slot.location, "slot.bounds", text, "swap the two")


def _check_categories(slot: Slot, found: Findings) -> None:
    """Warn of values that differ in case only: the first of them is always taken."""
    first: dict[str, str] = {}
    for value in slot.values if slot.type is SlotType.CATEGORICAL else ():
        twin = first.setdefault(value.casefold(), value)
        if twin is not value:
            text = f"slot {slot.name!r} cannot tell its values {twin!r} and {value!r} apart"
            found.warn(slot.location, "slot.like_values", text, "remove one of the two")


def _type(fields: Fields) -> SlotType:
    spelled, place = fields.text("type"), fields.at("type")
    expected = f"expected one of {', '.join(SlotType)}"
    if spelled is None:
        fields.found.error(place, "slot.no_type", f"{fields.what} has no `type`", expected)
    elif spelled in set(SlotType):
        return SlotType(spelled)
    elif "." in spelled:
        text = f"{fields.what} has the class {spelled!r}, which needs Rasa; it is read as `any`"
        fields.warn("type", "slot.custom_type", text)
    else:
        fix = suggestion(spelled, list(SlotType)) or expected
        text = f"{fields.what} has type {spelled!r}"
        fields.found.error(place, "slot.unknown_type", text, fix)
    return SlotType.ANY


def _initial(slot: Slot, node: Node, found: Findings) -> Json:
    value = plain(node)
    try:
        return coerce(slot, value)
    except InvalidSlotValue as error:
        text = f"initial_value of slot {slot.name!r}: found {value!r}, expected {error.expected}"
        found.error(node.location, "slot.initial_value", text)
        return None


def _validation(name: str, slot: Fields) -> SlotValidation:
    fields = slot.below("validation")
    fields.warn_unknown(VALIDATION_KEYS)
    refill = fields.text("refill_utter")
    if refill is not None:
        by = f"the validation of slot {name!r}"
        fields.mention(MentionKind.RESPONSE, refill, "refill_utter", by)
    return SlotValidation(read_rejections(name, fields), refill)


def read_rejections(slot: str, owner: Fields) -> tuple[Rejection, ...]:
    """The `rejections` of a collect step or of a slot's validation."""
    rejections: list[Rejection] = []
    for fields in owner.each("rejections", f"a rejection of slot {slot!r}"):
        fields.warn_unknown(REJECTION_KEYS)
        condition, utter = fields.text("if"), fields.text("utter")
        if condition is None or utter is None:
            text = f"{fields.what} has no `{'if' if condition is None else 'utter'}`"
            fields.found.error(fields.node.location, "rejection.incomplete", text)
            continue
        fields.mention(MentionKind.CONDITION, condition, "if", own_slot=slot)
        fields.mention(MentionKind.RESPONSE, utter, "utter")
        rejections.append(Rejection(condition, utter))
    return tuple(rejections)


def _filler(name: str, mappings: Sequence[Node], found: Findings) -> SlotFiller:
    """Who fills slot `name`, and a warning for each mapping that needs a model."""
    types: set[str] = set()
    for item in mappings:
        of = item.entries.get("type") if isinstance(item, MapNode) else item
        spelled = as_text(of, found, f"a mapping of slot {name!r}")
        if spelled is None:
            text = f"a mapping of slot {name!r} has no `type`, and is ignored"
            found.warn(item.location, "slot.mapping", text, f"expected one of {sorted(TYPES)}")
            continue
        types.add(spelled)
        if spelled in NLU:
            text = f"mapping {spelled!r} of slot {name!r} needs an NLU model and is ignored"
            fix = f"send `/SetSlots({name}=value)`, or let an action set it"
            found.warn(item.location, "ignored.nlu_mapping", text, fix)
        elif spelled not in TYPES:
            text = f"slot {name!r} has a mapping of unknown type {spelled!r}"
            found.warn(item.location, "slot.mapping", text, suggestion(spelled, TYPES))
    if not types or "from_llm" in types:
        return SlotFiller.FROM_LLM
    return SlotFiller.CONTROLLED if types & CONTROLLED else SlotFiller.NLU


def _action_every_turn(name: str, mappings: Sequence[Node], found: Findings) -> str | None:
    """The action that a controlled slot has run in every turn; `action` is its older name."""
    for item in mappings:
        if not isinstance(item, MapNode):
            continue
        fields = Fields(item, f"the mapping of slot {name!r}", found)
        if "coexistence_system" in fields:
            text = f"`coexistence_system` of slot {name!r} is ignored: there is one system only"
            fields.warn("coexistence_system", "ignored.coexistence", text)
        for key in EVERY_TURN_KEYS:
            action = fields.text(key)
            if action is not None:
                fields.mention(MentionKind.ACTION, action, key)
                return action
    return None


def _items(node: Node | None) -> tuple[Node, ...]:
    """`mappings` as a list; real projects also have one mapping or a name."""
    match node:
        case None | ScalarNode(value=None):
            return ()
        case ListNode(items=items):
            return items
        case MapNode() | ScalarNode():
            return (node,)


def read_response(name: str, node: Node, found: Findings) -> tuple[Variation, ...]:
    """The variations of response `name`, in file order."""
    what = f"a variation of {name!r}"
    items = as_items(node, found, f"response {name!r}")
    read = (fields_of(item, found, what) for item in items)
    variations = tuple(_variation(name, fields) for fields in read if fields is not None)
    if not variations and (isinstance(node, ListNode) or is_empty(node)):
        found.error(node.location, "response.empty", f"response {name!r} has no variation")
    if variations:
        _check_eligible(name, variations, node.location, found)
    return variations


def _check_eligible(
    name: str, variations: Sequence[Variation], place: Location, found: Findings
) -> None:
    """Warn of a response that may have nothing to say, an internal error (flows.md §4.2)."""
    here = [variation for variation in variations if variation.channel in (None, CHANNEL)]
    if not here:
        text = f"response {name!r} has no variation for A2A, all are for other channels"
        found.warn(place, "response.other_channel", text, "add a variation without `channel`")
    elif len(here) == 1 and here[0].condition:
        # Several may well leave no case out, which only their author knows.
        text = f"response {name!r} has nothing to say where its only condition does not hold"
        found.warn(place, "response.no_default", text, "add a variation without `condition`")


def _variation(name: str, fields: Fields) -> Variation:
    what = fields.what
    fields.warn_unknown(VARIATION_KEYS)
    if "allow_interruptions" in fields:
        text = f"`allow_interruptions` of {what} is ignored: it is about voice"
        fields.warn("allow_interruptions", "ignored.voice", text)
    condition = _condition(fields)
    if condition is not None:
        fields.mention(MentionKind.CONDITION, condition, "condition", f"response {name!r}")
    text, is_jinja = fields.text("text") or "", _is_jinja(fields)
    kind = MentionKind.TEMPLATE if is_jinja else MentionKind.TEXT
    fields.mention(kind, text, "text")
    translations = _translations(fields)
    for language, translated in translations.items():
        fields.mention(MentionKind.LANGUAGE, language, "translation")
        fields.mention(kind, translated, "translation")
    written = fields.get("buttons") or fields.get("quick_replies")
    buttons = tuple(_buttons(what, written, fields.found))
    languages = dict.fromkeys(language for _, others in buttons for language in others)
    return Variation(
        text=text,
        buttons=tuple(button for button, _ in buttons),
        condition=condition,
        channel=fields.text("channel"),
        is_jinja=is_jinja,
        translations=translations,
        translated_buttons={
            language: tuple(others.get(language, button) for button, others in buttons)
            for language in languages
        },
        image=fields.text("image"),
        custom=fields.json("custom"),
    )


def _translations(variation: Fields) -> Mapping[str, str]:
    fields = variation.below("translation")
    texts = ((language, fields.text(language)) for language in fields.node.entries)
    return {language: text for language, text in texts if text is not None}


def _is_jinja(variation: Fields) -> bool:
    metadata = variation.below("metadata")
    engine = metadata.text("template")
    if engine not in {None, JINJA}:
        text = f"{variation.what} has template {engine!r}, and is read as plain text with {{slots}}"
        metadata.warn("template", "response.template", text, f"expected {JINJA}")
    return engine == JINJA


def _condition(variation: Fields) -> str | None:
    """A predicate; of Rasa's older list of slot values the predicate that all are equal."""
    node, what = variation.get("condition"), f"condition of {variation.what}"
    if node is None or isinstance(node, ScalarNode):
        return variation.text("condition")
    if isinstance(node, MapNode):
        mistyped(variation.found, node, what, "a predicate or a list")
        return None
    clauses: list[str] = []
    for item in node.items:
        fields = fields_of(item, variation.found, what)
        name = fields.text("name") if fields else None
        if fields is None or name is None:
            text = f"{what}: found {kind_of(item)}, expected type, name and value"
            variation.found.error(item.location, "response.condition", text)
            continue
        kind = fields.text("type") or "slot"
        if kind != "slot":
            text = f"{what}: type {kind!r} is read as `slot`, the only one there is"
            fields.warn("type", "response.condition", text)
        clauses.append(f"slots.{name} {_equals(fields.get('value'))}")
    return " and ".join(clauses) or None


def _equals(node: Node | None) -> str:
    """The right half of a predicate.

    pypred's texts have no escapes: where quotes or Jinja in a text would end or change it, a
    regular expression, which has, stands for it.
    """
    value = node.value if isinstance(node, ScalarNode) else None
    match value:
        case None:
            return "is null"
        case bool():
            return f"is {str(value).lower()}"
        case int() | float():
            return f"= {value}"
        case str() if "{" in value or ("'" in value and '"' in value):
            escaped = re.escape(value).replace(r"\{", r"\x7b").replace('"', r"\x22")
            return rf'matches "\A{escaped}\Z"'
        case str():
            quote = "'" if '"' in value else '"'
            return f"= {quote}{value}{quote}"


def _buttons(
    what: str, node: Node | None, found: Findings
) -> Iterator[tuple[Button, Mapping[str, Button]]]:
    """Each button with its translations; one without a payload sends its title."""
    for item in as_items(node, found, f"buttons of {what}"):
        fields = fields_of(item, found, f"a button of {what}")
        title = fields.text("title") if fields else None
        if fields is not None and title is not None:
            payload = _payload(fields, title)
            button = Button(title, title if payload is None else payload)
            yield button, dict(_translated(fields, button))
        elif fields is not None:
            found.error(item.location, "response.button", f"{fields.what} has no `title`")


def _payload(button: Fields, title: str) -> str | None:
    payload = button.text("payload")
    if payload is not None:
        button.mention(MentionKind.PAYLOAD, payload, "payload", f"button {title!r}")
    return payload


def _translated(fields: Fields, button: Button) -> Iterator[tuple[str, Button]]:
    """A button by language; what a translation leaves out is as in the first one."""
    translations = fields.below("translation")
    for language in translations.node.entries:
        translations.mention(MentionKind.LANGUAGE, language, language, fields.what)
        if translations.has_value(language):
            said = translations.below(language)
            title = said.text("title") or button.title
            yield language, Button(title, _payload(said, title) or button.payload)
