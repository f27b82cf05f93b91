"""Domain files, merged: slots, responses, actions and session_config (flows.md §4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mock_server.dialogue.model import Slot, Variation
from mock_server.errors import Location
from mock_server.project.findings import Findings, Mention
from mock_server.project.nodes import MapNode, Node, ScalarNode
from mock_server.project.reading import (
    as_bool,
    as_items,
    as_json,
    as_map,
    as_number,
    as_text,
    warn_unknown_keys,
)
from mock_server.project.responses import read_response
from mock_server.project.slots import read_slot

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
