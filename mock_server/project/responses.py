"""The responses of a domain: their variations and buttons (flows.md §4.2)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from mock_server.dialogue.model import Button, Variation
from mock_server.dialogue.responses import CHANNEL
from mock_server.errors import Location
from mock_server.project.findings import Findings, Mention, MentionKind
from mock_server.project.nodes import (
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    as_items,
    as_json,
    as_map,
    as_text,
    is_empty,
    kind_of,
    mistyped,
    warn_unknown_keys,
)

JINJA = "jinja"
VARIATION_KEYS = (
    "text", "buttons", "quick_replies", "elements", "image", "attachment", "custom", "channel",
    "condition", "id", "metadata", "translation", "allow_interruptions", "button_type",
)  # fmt: skip


def read_response(
    name: str, node: Node, mentions: list[Mention], found: Findings
) -> tuple[Variation, ...]:
    """The variations of response `name`, in file order."""
    variations = tuple(
        variation
        for item in as_items(node, found, f"response {name!r}")
        if (variation := _variation(name, item, mentions, found)) is not None
    )
    if not variations and (isinstance(node, ListNode) or is_empty(node)):
        found.error(node.location, "response.empty", f"response {name!r} has no variation")
    if variations:
        _check_eligible(name, variations, node.location, found)
    return variations


def _check_eligible(
    name: str, variations: Sequence[Variation], place: Location, found: Findings
) -> None:
    """A response of which no variation may be said is an internal error (flows.md §4.2)."""
    here = [variation for variation in variations if variation.channel in (None, CHANNEL)]
    if not here:
        text = f"response {name!r} has no variation for A2A, all are for other channels"
        found.warn(place, "response.other_channel", text, "add a variation without `channel`")
    elif len(here) == 1 and here[0].condition:
        # Several may well leave no case out, which only their author knows.
        text = f"response {name!r} has nothing to say where its only condition does not hold"
        found.warn(place, "response.no_default", text, "add a variation without `condition`")


def _variation(name: str, node: Node, mentions: list[Mention], found: Findings) -> Variation | None:
    what = f"a variation of {name!r}"
    entries = as_map(node, found, what)
    if entries is None:
        return None
    warn_unknown_keys(entries, VARIATION_KEYS, found, what)
    get = entries.entries.get
    if "allow_interruptions" in entries.entries:
        text = f"`allow_interruptions` of {what} is ignored: it is about voice"
        found.warn(entries.place("allow_interruptions"), "ignored.voice", text)
    condition = _condition(what, get("condition"), found)
    if condition is not None:
        place = entries.place("condition")
        mentions.append(Mention(MentionKind.CONDITION, condition, place, f"response {name!r}"))
    text = as_text(get("text"), found, f"text of {what}") or ""
    is_jinja = _is_jinja(what, get("metadata"), found)
    kind = MentionKind.TEMPLATE if is_jinja else MentionKind.TEXT
    mentions.append(Mention(kind, text, entries.place("text"), what))
    translations = _translations(what, get("translation"), found)
    for language, translated in translations.items():
        place = entries.place("translation")
        mentions.append(Mention(MentionKind.LANGUAGE, language, place, what))
        mentions.append(Mention(kind, translated, place, what))
    offered = get("buttons") or get("quick_replies")
    buttons = read_buttons(what, offered, mentions, found)
    return Variation(
        text=text,
        buttons=buttons,
        condition=condition,
        channel=as_text(get("channel"), found, f"channel of {what}"),
        is_jinja=is_jinja,
        translations=translations,
        translated_buttons=read_translated_buttons(what, offered, buttons, mentions, found),
        image=as_text(get("image"), found, f"image of {what}"),
        custom=as_json(get("custom")),
    )


def _translations(what: str, node: Node | None, found: Findings) -> Mapping[str, str]:
    entries = as_map(node, found, f"translation of {what}")
    if entries is None:
        return {}
    texts = {
        language: as_text(text, found, f"translation of {what}")
        for language, text in entries.entries.items()
    }
    return {language: text for language, text in texts.items() if text is not None}


def _is_jinja(what: str, node: Node | None, found: Findings) -> bool:
    metadata = as_map(node, found, f"metadata of {what}")
    template = metadata.entries.get("template") if metadata else None
    engine = as_text(template, found, f"template of {what}")
    if template is not None and engine not in {None, JINJA}:
        text = f"{what} has template {engine!r}, and is read as a plain text with {{slots}}"
        found.warn(template.location, "response.template", text, f"expected {JINJA}")
    return engine == JINJA


def _condition(what: str, node: Node | None, found: Findings) -> str | None:
    """A predicate; of Rasa's older list of slot values the predicate that all are equal."""
    if node is None or isinstance(node, ScalarNode):
        return as_text(node, found, f"condition of {what}")
    if isinstance(node, MapNode):
        mistyped(found, node, f"condition of {what}", "a predicate or a list")
        return None
    clauses: list[str] = []
    for item in node.items:
        entries = as_map(item, found, f"condition of {what}")
        name = as_text(entries.entries.get("name") if entries else None, found, "a slot's name")
        if entries is None or name is None:
            text = f"condition of {what}: found {kind_of(item)}, expected type, name and value"
            found.error(item.location, "response.condition", text)
            continue
        kind = as_text(entries.entries.get("type"), found, "type of a condition") or "slot"
        if kind != "slot":
            text = f"condition of {what}: type {kind!r} is read as `slot`, the only one there is"
            found.warn(item.location, "response.condition", text)
        clauses.append(f"slots.{name} {_equals(entries.entries.get('value'))}")
    return " and ".join(clauses) or None


def _equals(node: Node | None) -> str:
    """The right half of a predicate; pypred has no escapes, so the quote is one not in the text."""
    value = node.value if isinstance(node, ScalarNode) else None
    match value:
        case None:
            return "is null"
        case bool():
            return f"is {str(value).lower()}"
        case int() | float():
            return f"= {value}"
        case str():
            quote = "'" if '"' in value else '"'
            return f"= {quote}{re.sub(quote, '.', value)}{quote}"


def read_buttons(
    what: str, node: Node | None, mentions: list[Mention], found: Findings
) -> tuple[Button, ...]:
    """Buttons with a title; one without a payload sends its title."""
    buttons: list[Button] = []
    for item in as_items(node, found, f"buttons of {what}"):
        entries = as_map(item, found, f"a button of {what}")
        if entries is None:
            continue
        title = as_text(entries.entries.get("title"), found, "title of a button")
        payload = as_text(entries.entries.get("payload"), found, "payload of a button")
        if title is None:
            found.error(item.location, "response.button", f"a button of {what} has no `title`")
            continue
        if payload is not None:
            place = entries.place("payload")
            mentions.append(Mention(MentionKind.PAYLOAD, payload, place, f"button {title!r}"))
        buttons.append(Button(title, title if payload is None else payload))
    return tuple(buttons)


def read_translated_buttons(
    what: str,
    node: Node | None,
    buttons: Sequence[Button],
    mentions: list[Mention],
    found: Findings,
) -> Mapping[str, tuple[Button, ...]]:
    """`buttons` in each language that one of them is translated to; `node` is what they are of."""
    items = node.items if isinstance(node, ListNode) else ()
    rows: dict[str, list[Button]] = {}
    # A button without a title has been reported, and is none of `buttons`.
    titled = [item for item in items if isinstance(item, MapNode) and "title" in item.entries]
    for index, (item, button) in enumerate(zip(titled, buttons, strict=False)):
        for language, translated in _translated(what, item, button, mentions, found):
            rows.setdefault(language, [*buttons])[index] = translated
    return {language: tuple(row) for language, row in rows.items()}


def _translated(
    what: str, item: MapNode, button: Button, mentions: list[Mention], found: Findings
) -> Iterator[tuple[str, Button]]:
    """A button of `what` by language; what a translation leaves out is as in the first one."""
    of = f"translation of a button of {what}"
    entries = as_map(item.entries.get("translation"), found, of)
    for language, value in entries.entries.items() if entries else ():
        mentions.append(
            Mention(MentionKind.LANGUAGE, language, value.location, f"a button of {what}")
        )
        said = as_map(value, found, of)
        if said is None:
            continue
        title = as_text(said.entries.get("title"), found, f"title in a {of}")
        payload = as_text(said.entries.get("payload"), found, f"payload in a {of}")
        if payload is not None:
            by = f"button {title or button.title!r}"
            mentions.append(Mention(MentionKind.PAYLOAD, payload, said.place("payload"), by))
        yield language, Button(title or button.title, payload or button.payload)
