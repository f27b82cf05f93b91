"""The buttons of a response, also in other languages (flows.md §4.2)."""

from collections.abc import Iterator, Mapping, Sequence

from mock_server.dialogue.model import Button
from mock_server.project.findings import Findings, Mention, MentionKind
from mock_server.project.nodes import ListNode, MapNode, Node
from mock_server.project.reading import as_items, as_map, as_text


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
        for language, translated in _translations(what, item, button, mentions, found):
            rows.setdefault(language, [*buttons])[index] = translated
    return {language: tuple(row) for language, row in rows.items()}


def _translations(
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
