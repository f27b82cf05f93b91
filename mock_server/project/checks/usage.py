"""What a project defines and never uses, and what it uses and does not define."""

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from mock_server.dialogue.actions import DEFAULT_ACTIONS
from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.expressions import HOLE
from mock_server.dialogue.model import CollectStep, Json, Variation
from mock_server.errors import Location
from mock_server.project.domain import Domain
from mock_server.project.findings import Findings, Mention, MentionKind, nearest, suggestion

WORD = re.compile(r"\w+")
SLOT = re.compile(r"\bslots\.(\w+)")
SLOTS_OF: Mapping[MentionKind, re.Pattern[str]] = {
    MentionKind.CONDITION: SLOT,
    MentionKind.GUARD: SLOT,
    MentionKind.PAYLOAD: re.compile(r"(\w+)\s*="),
    MentionKind.TEXT: HOLE,
}
# Default actions of Rasa that only rules and stories use.
CLASSIC_ACTIONS = frozenset(
    {
        "action_back",
        "action_deactivate_loop",
        "action_default_ask_affirmation",
        "action_default_ask_rephrase",
        "action_default_fallback",
        "action_extract_slots",
        "action_listen",
        "action_revert_fallback_events",
        "action_two_stage_fallback",
        "action_unlikely_intent",
    }
)


@dataclass(frozen=True, slots=True)
class Texts:
    """Where a name may occur: the flow files, `mock.yml`, and the code of the actions.

    `defaults` are the names of Rasa's own responses.
    """

    flows: Iterable[str]
    mock: Iterable[str]
    code: Iterable[str]
    defaults: Container[str] = ()


def check_usage(
    assistant: Assistant, domain: Domain, mentions: Iterable[Mention], texts: Texts, found: Findings
) -> None:
    """Warn of what is defined and never used; a name that occurs anywhere counts as used."""
    code = _words(texts.code)
    words = code | _words(texts.flows) | _words(texts.mock)
    mentions = tuple(mentions)
    steps = (step for flow in assistant.flows.values() for step in flow.steps.values())
    asked = {step.slot for step in steps if isinstance(step, CollectStep)}
    named = words | _names_in(domain.responses.values()) | _meant(assistant.slots, _slots(mentions))
    _check_slots(domain, assistant, named, found)
    said = {m.name for m in mentions if m.kind is MentionKind.RESPONSE}
    said |= {f"utter_ask_{slot}" for slot in asked if f"action_ask_{slot}" not in assistant.actions}
    meant = _meant(assistant.responses, said)
    _check_responses(domain, texts.defaults, words | said | meant, found)
    if code:
        _check_code(domain, code | _words(texts.mock), found)
    for mention in mentions:
        if mention.kind is MentionKind.TEXT:
            _check_holes(mention, assistant, words, found)


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in WORD.findall(text)}


def _slots(mentions: Iterable[Mention]) -> set[str]:
    """The slots that conditions, texts and buttons name, whether there are such or not."""
    return {
        name
        for mention in mentions
        if mention.kind in SLOTS_OF
        for name in SLOTS_OF[mention.kind].findall(mention.name)
        if name
    }


def _meant(known: Collection[str], named: Iterable[str]) -> set[str]:
    """The names that misspelt ones stand for, which are therefore used."""
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


def _check_responses(
    domain: Domain, defaults: Container[str], words: set[str], found: Findings
) -> None:
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
