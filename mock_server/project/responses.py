"""The responses of a domain: their variations and buttons (flows.md §4.2)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from mock_server.dialogue.model import Button, Variation
from mock_server.dialogue.responses import CHANNEL
from mock_server.errors import Location
from mock_server.project.findings import Findings, MentionKind
from mock_server.project.nodes import (
    Fields,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    as_items,
    fields_of,
    is_empty,
    kind_of,
    mistyped,
)

JINJA = "jinja"
VARIATION_KEYS = (
    "text", "buttons", "quick_replies", "elements", "image", "attachment", "custom", "channel",
    "condition", "id", "metadata", "translation", "allow_interruptions", "button_type",
)  # fmt: skip


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
    """A response of which no variation may be said is an internal error (flows.md §4.2)."""
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
    offered = fields.get("buttons") or fields.get("quick_replies")
    buttons = _buttons(what, offered, fields.found)
    return Variation(
        text=text,
        buttons=buttons,
        condition=condition,
        channel=fields.text("channel"),
        is_jinja=is_jinja,
        translations=translations,
        translated_buttons=_translated_buttons(what, offered, buttons, fields.found),
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


def _buttons(what: str, node: Node | None, found: Findings) -> tuple[Button, ...]:
    """Buttons with a title; one without a payload sends its title."""
    buttons: list[Button] = []
    for item in as_items(node, found, f"buttons of {what}"):
        fields = fields_of(item, found, f"a button of {what}")
        title = fields.text("title") if fields else None
        if fields is not None and title is not None:
            payload = _payload(fields, title)
            buttons.append(Button(title, title if payload is None else payload))
        elif fields is not None:
            found.error(item.location, "response.button", f"{fields.what} has no `title`")
    return tuple(buttons)


def _payload(button: Fields, title: str) -> str | None:
    payload = button.text("payload")
    if payload is not None:
        button.mention(MentionKind.PAYLOAD, payload, "payload", f"button {title!r}")
    return payload


def _translated_buttons(
    what: str, node: Node | None, buttons: Sequence[Button], found: Findings
) -> Mapping[str, tuple[Button, ...]]:
    """`buttons` in each language that one of them is translated to; `node` is what they are of."""
    items = node.items if isinstance(node, ListNode) else ()
    rows: dict[str, list[Button]] = {}
    # A button without a title has been reported, and is none of `buttons`.
    titled = [item for item in items if isinstance(item, MapNode) and "title" in item.entries]
    for index, (item, button) in enumerate(zip(titled, buttons, strict=False)):
        fields = Fields(item, f"a button of {what}", found)
        for language, translated in _translated(fields, button):
            rows.setdefault(language, [*buttons])[index] = translated
    return {language: tuple(row) for language, row in rows.items()}


def _translated(fields: Fields, button: Button) -> Iterator[tuple[str, Button]]:
    """A button by language; what a translation leaves out is as in the first one."""
    translations = fields.below("translation")
    for language in translations.node.entries:
        translations.mention(MentionKind.LANGUAGE, language, language, fields.what)
        if translations.has_value(language):
            said = translations.below(language)
            title = said.text("title") or button.title
            yield language, Button(title, _payload(said, title) or button.payload)
