"""The agent's card for a reader: who it is, what it can do, what is wrong with it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from http import HTTPStatus
from typing import assert_never

from inspector.core.commands import Json
from inspector.core.decoding import read_json
from inspector.core.entries import FrameReceived, Purpose, RequestSent
from inspector.views.reads import Asked, Began, Ended, Pushed, Read, Received
from inspector.wire.card import check_card, check_placement
from inspector.wire.endpoints import card_rules, choose_endpoint, interfaces
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import list_at, object_at, text_at
from inspector.wire.schema import join
from inspector.wire.signatures import Signature, check_signatures

REPAIR_TAG = "conversation-repair"
REPAIR_PREFIX = "pattern_"


@dataclass(frozen=True, slots=True)
class SkillRow:
    """`is_repair`: a conversation-repair pattern of Rasa, shown apart (CARDV-2)."""

    id: str
    name: str
    description: str
    tags: tuple[str, ...]
    examples: tuple[str, ...]
    is_repair: bool


@dataclass(frozen=True, slots=True)
class CardView:
    """Fields of the card in reading order; `raw` is the body as received.

    `before` is the last other card of this log.
    """

    seq: int
    url: str
    source_url: str
    name: str
    version: str
    description: str
    protocol_version: str
    transports: tuple[tuple[str, str], ...]
    capabilities: tuple[tuple[str, bool], ...]
    security: tuple[str, ...]
    input_modes: tuple[str, ...]
    output_modes: tuple[str, ...]
    skills: tuple[SkillRow, ...]
    raw: bytes
    card: dict[str, Json]
    findings: tuple[Finding, ...] = ()
    signatures: tuple[Signature, ...] = ()
    before: "Before | None" = None


@dataclass(frozen=True, slots=True)
class Before:
    """The card as it was until another one came at `until_ms` of the log."""

    card: dict[str, Json]
    until_ms: float


@dataclass(frozen=True, slots=True)
class CardFold:
    """`card` is the last one that could be read; `asked` holds the requests under way.

    `key_sets` are what signatures are checked with, by their URL.
    """

    card: CardView | None = None
    asked: Mapping[int, RequestSent] = field(default_factory=dict[int, RequestSent])
    key_sets: Mapping[str, Json] = field(default_factory=dict[str, Json])


EMPTY = CardFold()


def step(view: CardFold, read: Read) -> CardFold:
    """Take a card from the reply to its request; anything that is not a JSON object is left out."""
    match read:
        case Asked(entry, call):
            if call.purpose not in (Purpose.CARD, Purpose.KEYS):
                return view
            return replace(view, asked={**view.asked, entry.exchange: entry})
        case Received(entry):
            request = view.asked.get(entry.exchange)
            if request is None:
                return view
            parsed = read_json(entry.raw)
            if not isinstance(parsed.value, dict):
                return view
            if request.purpose is Purpose.KEYS:
                return _take_keys(view, request.url, parsed.value)
            shown = read_card(parsed.value, entry, request.url, parsed.warning)
            return _take_card(view, shown, entry.at_ms)
        case Began(entry):
            return view if entry.status == HTTPStatus.OK else _forget(view, entry.exchange)
        case Ended(entry):
            return _forget(view, entry.exchange)
        case Pushed():
            return view
        case _ as never:
            assert_never(never)


def _take_card(view: CardFold, shown: CardView, at_ms: float) -> CardFold:
    last = view.card
    if last is not None:
        before = last.before if last.card == shown.card else Before(last.card, at_ms)
        shown = replace(shown, before=before)
    return replace(view, card=_judged(shown, view.key_sets))


def _take_keys(view: CardFold, url: str, keys: Json) -> CardFold:
    key_sets = {**view.key_sets, url: keys}
    card = None if view.card is None else _judged(view.card, key_sets)
    return replace(view, card=card, key_sets=key_sets)


def _judged(card: CardView, key_sets: Mapping[str, Json]) -> CardView:
    """`card` with its signatures checked by the keys that have come so far."""
    signatures = check_signatures(card.card, card.source_url, key_sets)
    return card if signatures == card.signatures else replace(card, signatures=signatures)


def _forget(view: CardFold, exchange: int) -> CardFold:
    if exchange not in view.asked:
        return view
    return replace(view, asked={key: one for key, one in view.asked.items() if key != exchange})


def read_card(
    card: dict[str, Json], frame: FrameReceived, source_url: str, warning: str = ""
) -> CardView:
    """Everything a reader wants of `card`; what is missing is empty, and among the findings.

    `warning` names what is not JSON and was read as text.
    """
    return CardView(
        seq=frame.seq,
        url=text_at(card, "url") or next((one.url for one in interfaces(card)), ""),
        source_url=source_url,
        name=text_at(card, "name") or "",
        version=text_at(card, "version") or "",
        description=text_at(card, "description") or "",
        protocol_version=text_at(card, "protocolVersion") or "",
        transports=tuple(dict.fromkeys((one.transport, one.url) for one in interfaces(card))),
        capabilities=tuple(
            (name, value)
            for name, value in object_at(card, "capabilities").items()
            if isinstance(value, bool)
        ),
        security=tuple(
            _scheme(name, scheme) for name, scheme in object_at(card, "securitySchemes").items()
        ),
        input_modes=_texts(card, "defaultInputModes"),
        output_modes=_texts(card, "defaultOutputModes"),
        skills=tuple(_skill(skill) for skill in list_at(card, "skills")),
        raw=frame.raw,
        card=card,
        findings=_check(card, source_url, warning),
    )


def push_remark(card: CardView) -> str | None:
    """What it means that the agent sends no push notifications; None where it does (CARDV-2)."""
    if dict(card.capabilities).get("pushNotifications"):
        return None
    return "no push: follow tasks by stream or poll (Rasa: push_notifications_enabled)"


def _skill(skill: Json) -> SkillRow:
    id_, tags = text_at(skill, "id") or "", _texts(skill, "tags")
    return SkillRow(
        id=id_,
        name=text_at(skill, "name") or "",
        description=text_at(skill, "description") or "",
        tags=tags,
        examples=_texts(skill, "examples"),
        is_repair=REPAIR_TAG in tags or id_.startswith(REPAIR_PREFIX),
    )


def _scheme(name: str, scheme: Json) -> str:
    """`name: type` and what distinguishes it, such as `bearer` or where a key goes."""
    fields = ("type", "scheme", "bearerFormat", "in", "name", "openIdConnectUrl")
    return f"{name}: {' '.join(text for one in fields if (text := text_at(scheme, one)))}"


def _texts(value: Json, name: str) -> tuple[str, ...]:
    return tuple(one for one in list_at(value, name) if isinstance(one, str))


def _check(card: dict[str, Json], source_url: str, warning: str) -> tuple[Finding, ...]:
    """What is wrong with the card itself, then with where it leads."""
    found = check_card(card) + check_placement(card, source_url)
    if warning:
        found = (Finding(Severity.ERROR, card_rules(card).card, "$", warning), *found)
    endpoint = choose_endpoint(card, source_url)
    if endpoint is not None:
        return found + endpoint.findings
    text = "no JSON-RPC interface with an http or https URL; nothing can be sent"
    return (*found, Finding(Severity.ERROR, card_rules(card).url, "$.url", text))


class ChangeKind(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class CardChange:
    """`path` is a JSON path; an element of a list with ids is named by its id."""

    kind: ChangeKind
    path: str
    before: Json
    after: Json


def card_changes(before: Json, after: Json, path: str = "$") -> tuple[CardChange, ...]:
    """Every difference, in the order of `after`, what is gone behind it.

    Where all elements of both lists have ids, as skills do, their order does not matter.
    """
    return tuple(_compare(before, after, path))


def _compare(before: Json, after: Json, path: str) -> Iterator[CardChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        names = {name: join(path, name) for name in (*after, *before)}
        yield from _compare_members(before, after, names)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _compare_lists(before, after, path)
    elif before != after or isinstance(before, bool) != isinstance(after, bool):
        yield CardChange(ChangeKind.CHANGED, path, before, after)


def _compare_members(
    before: Mapping[str, Json], after: Mapping[str, Json], paths: Mapping[str, str]
) -> Iterator[CardChange]:
    for name, value in after.items():
        if name in before:
            yield from _compare(before[name], value, paths[name])
        else:
            yield CardChange(ChangeKind.ADDED, paths[name], None, value)
    for name, value in before.items():
        if name not in after:
            yield CardChange(ChangeKind.REMOVED, paths[name], value, None)


def _compare_lists(before: list[Json], after: list[Json], path: str) -> Iterator[CardChange]:
    old, new = _by_id(before), _by_id(after)
    if old is None or new is None:
        old = {str(index): value for index, value in enumerate(before)}
        new = {str(index): value for index, value in enumerate(after)}
        paths = {name: f"{path}[{name}]" for name in (*new, *old)}
    else:
        paths = {name: f"{path}[{name!r}]" for name in (*new, *old)}
    yield from _compare_members(old, new, paths)


def _by_id(values: list[Json]) -> dict[str, Json] | None:
    """The elements by their ids; None where one has none or two share one."""
    named: dict[str, Json] = {}
    for value in values:
        id_ = value.get("id") if isinstance(value, dict) else None
        if not isinstance(id_, str) or id_ in named:
            return None
        named[id_] = value
    return named


def change_text(change: CardChange, show: Callable[[Json], str]) -> str:
    """`old → new`, or the one of them that there is; `show` makes a value fit to be read."""
    match change.kind:
        case ChangeKind.ADDED:
            return show(change.after)
        case ChangeKind.REMOVED:
            return show(change.before)
        case ChangeKind.CHANGED:
            return f"{show(change.before)} → {show(change.after)}"
