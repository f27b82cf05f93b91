"""`mock.yml: actions`: the scripts of custom actions (flows.md §13)."""

from collections.abc import Mapping

from mock_server.dialogue.model import Json
from mock_server.dialogue.outcome import Utterance
from mock_server.dialogue.stubs import Stub, StubBranch
from mock_server.project import reading
from mock_server.project.buttons import read_buttons
from mock_server.project.circumstances import read_match, read_when
from mock_server.project.findings import Findings, Mention, MentionKind
from mock_server.project.nodes import ListNode, MapNode, Node
from mock_server.project.reading import (
    as_items,
    as_json,
    as_map,
    as_number,
    as_text,
    as_texts,
)

BRANCH_KEYS = (
    "when", "match", "events", "responses", "delay_seconds", "stream", "chunk_delay_seconds",
    "fail",
)  # fmt: skip
FAIL_KEYS = ("status", "error")
UTTERANCE_KEYS = frozenset({"text", "buttons", "response", "template", "image", "custom"})
IGNORED_UTTERANCE_KEYS = frozenset({"elements", "attachment", "quick_replies"})


def read_stubs(node: Node | None, mentions: list[Mention], found: Findings) -> Mapping[str, Stub]:
    """A stub by action name; each is one branch or a list of them."""
    actions = as_map(node, found, "actions")
    if actions is None:
        return {}
    return {
        name: Stub(_branches(name, value, mentions, found), actions.place(name))
        for name, value in actions.entries.items()
    }


def _branches(
    name: str, node: Node, mentions: list[Mention], found: Findings
) -> tuple[StubBranch, ...]:
    items = node.items if isinstance(node, ListNode) else (node,)
    what = f"the stub of {name!r}"
    branches: list[StubBranch] = []
    for item in items:
        entries = as_map(item, found, what)
        if entries is None:
            branches.append(StubBranch())
            continue
        if branches and branches[-1].when is None and branches[-1].match is None:
            text = f"a branch of {what} behind one without `when` and `match` is never taken"
            found.warn(item.location, "mock.unreachable_branch", text)
        branches.append(_branch(what, entries, mentions, found))
    return tuple(branches)


def _branch(what: str, node: MapNode, mentions: list[Mention], found: Findings) -> StubBranch:
    refuse_unknown_keys(node, BRANCH_KEYS, found, what)
    get = node.entries.get
    match = read_match(node, what, found)
    fail = as_map(get("fail"), found, f"`fail` of {what}")
    if fail is not None:
        refuse_unknown_keys(fail, FAIL_KEYS, found, f"`fail` of {what}")
        as_number(fail.entries.get("status"), found, f"status of {what}")
    responses = as_items(get("responses"), found, f"responses of {what}")
    utterances = (_utterance(what, item, mentions, found) for item in responses)
    return StubBranch(
        when=read_when(node, what, mentions, found),
        match=None if match is None else match.pattern,
        slots=_slots(what, get("events"), mentions, found),
        utterances=tuple(u for u in utterances if u is not None),
        delay_seconds=_seconds(get("delay_seconds"), f"delay_seconds of {what}", found),
        stream=as_texts(get("stream"), found, f"stream of {what}"),
        chunk_delay_seconds=_seconds(get("chunk_delay_seconds"), "chunk_delay_seconds", found),
        fails=fail is not None,
    )


def _slots(
    what: str, node: Node | None, mentions: list[Mention], found: Findings
) -> tuple[tuple[str, Json], ...]:
    """The `slot` events; the others of Rasa change nothing here."""
    slots: list[tuple[str, Json]] = []
    for item in as_items(node, found, f"events of {what}"):
        entries = as_map(item, found, f"an event of {what}")
        event = entries.entries.get("event") if entries else None
        kind = as_text(event, found, f"`event` of {what}")
        if entries is None or kind is None:
            text = f"an event of {what} has no `event`"
            mend = "write `{event: slot, name: …, value: …}`"
            found.error(item.location, "mock.event", text, mend)
            continue
        name = as_text(entries.entries.get("name"), found, f"a slot's name in {what}")
        if kind != "slot":
            text = f"{what} has a {kind!r} event, which is ignored; only `slot` events count"
            found.warn(item.location, "mock.event", text)
        elif name is None:
            found.error(item.location, "mock.event", f"a slot event of {what} has no `name`")
        else:
            value = as_json(entries.entries.get("value"))
            mentions.append(Mention(MentionKind.SLOT, name, item.location, what))
            mentions.append(Mention(MentionKind.VALUE, name, item.location, what, value=value))
            slots.append((name, value))
    return tuple(slots)


def _utterance(what: str, node: Node, mentions: list[Mention], found: Findings) -> Utterance | None:
    entries = as_map(node, found, f"a response of {what}")
    if entries is None:
        return None
    get = entries.entries.get
    key = "response" if "response" in entries.entries else "template"
    response = as_text(get(key), found, f"`{key}` of {what}")
    if response is not None:
        mentions.append(Mention(MentionKind.RESPONSE, response, entries.place(key), what))
    known = UTTERANCE_KEYS | IGNORED_UTTERANCE_KEYS
    return Utterance(
        text=as_text(get("text"), found, f"text of {what}") or "",
        buttons=read_buttons(what, get("buttons"), mentions, found),
        response=response,
        arguments={k: as_json(v) for k, v in entries.entries.items() if k not in known},
        image=as_text(get("image"), found, f"image of {what}"),
        custom=as_json(get("custom")) or None,
    )


def _seconds(node: Node | None, what: str, found: Findings) -> float:
    seconds = as_number(node, found, what) or 0.0
    if node is not None and not 0 <= seconds < float("inf"):
        found.error(node.location, "mock.seconds", f"{what}: found {seconds:g}, expected 0 or more")
        return 0.0
    return seconds


def refuse_unknown_keys(node: MapNode, known: tuple[str, ...], found: Findings, what: str) -> None:
    """Report keys of our own file that mean nothing."""
    reading.refuse_unknown_keys(node, known, found, what, "mock.unknown_key")
