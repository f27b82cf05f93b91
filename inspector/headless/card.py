"""`a2a-inspect card`: who an agent is, what it can do, and what is wrong with its card."""

import asyncio
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from textwrap import wrap

from inspector.core.saved.cards import SeenCard, load_card, save_card
from inspector.errors import EXIT_OK, EXIT_UNEXPECTED, NotA2A
from inspector.folders import cards_folder
from inspector.headless.connection import connection_of
from inspector.headless.inspection import inspect
from inspector.headless.options import CardOptions
from inspector.headless.output import finding_json, finding_line
from inspector.headless.terminal import (
    BOLD,
    DIM,
    GREEN,
    RED,
    YELLOW,
    Ink,
    ink_for,
    print_aside,
    print_bytes,
    print_json,
    print_notice,
    print_text,
)
from inspector.views.card import (
    CardChange,
    CardView,
    ChangeKind,
    SkillRow,
    card_changes,
    change_text,
    push_remark,
)
from inspector.views.text import plain_line
from inspector.wire.findings import Severity
from inspector.wire.json_values import Json
from inspector.wire.signatures import Signature, Verdict

ID_WIDTH = 32
LINE_WIDTH = 90


def run(options: CardOptions) -> int:
    seen = asyncio.run(_fetch(options))
    card = seen.card
    if options.raw:
        print_bytes(card.raw.rstrip(b"\n") + b"\n")
    elif options.json:
        print_json(_seen_json(seen))
    else:
        ink = ink_for(sys.stdout)
        print_text(*card_lines(ink, card))
        if seen.last is not None:
            since = f"{seen.last.seen_at.astimezone():%Y-%m-%d %H:%M}"
            print_text(*_change_lines(ink, seen.changes, since))
    has_errors = any(finding.severity is Severity.ERROR for finding in card.findings)
    if options.validate and (options.raw or options.json):
        ink = ink_for(sys.stderr)
        print_aside(*(finding_line(ink, one) for one in card.findings))
    return EXIT_UNEXPECTED if options.validate and has_errors else EXIT_OK


@dataclass(frozen=True, slots=True)
class Seen:
    """The card as it is, and as it was when last seen from this target."""

    card: CardView
    last: SeenCard | None

    @property
    def changes(self) -> tuple[CardChange, ...]:
        return () if self.last is None else card_changes(self.last.card, self.card.card)


async def _fetch(options: CardOptions) -> Seen:
    connection = connection_of(options.connection)
    async with inspect(options.target, connection) as inspection:
        exchange = await inspection.fetch_card()
        card, target = inspection.views.card.card, inspection.session.target
    if card is None:
        raise NotA2A(f"no agent card at {plain_line(exchange.request.url)}")
    last = load_card(cards_folder(), target)
    if connection.is_saved and (
        problem := save_card(cards_folder(), target, card.card, datetime.now(UTC))
    ):
        print_notice(problem)
    return Seen(card, last)


def _seen_json(seen: Seen) -> dict[str, Json]:
    return {
        "source_url": seen.card.source_url,
        "url": seen.card.url,
        "card": seen.card.card,
        "findings": [finding_json(finding) for finding in seen.card.findings],
        "signatures": [asdict(one) for one in seen.card.signatures],
        "last_seen": seen.last.seen_at.isoformat() if seen.last else None,
        "changes": [asdict(change) for change in seen.changes],
    }


def card_lines(ink: Ink, card: CardView) -> Iterator[str]:
    yield f"{ink(plain_line(card.name) or 'no name', BOLD)}  {plain_line(card.version)}"
    if card.description:
        yield f"  {plain_line(card.description)}"
    yield ""
    yield from _rows(
        ink,
        ("card", card.source_url),
        ("url", card.url),
        ("protocol", card.protocol_version),
        *((f"  {transport}", url) for transport, url in card.transports),
        ("can", ", ".join(name for name, is_on in card.capabilities if is_on)),
        ("cannot", ", ".join(name for name, is_on in card.capabilities if not is_on)),
        ("", push_remark(card) or ""),
        *(("security", scheme) for scheme in card.security),
        ("takes", ", ".join(card.input_modes)),
        ("gives", ", ".join(card.output_modes)),
    )
    yield from _signature_lines(ink, card.signatures)
    yield from _skill_lines(ink, [one for one in card.skills if not one.is_repair])
    yield from _repair_lines(ink, [one.id for one in card.skills if one.is_repair])
    if card.findings:
        yield from ("", ink("findings", BOLD))
        yield from (f"  {finding_line(ink, finding)}" for finding in card.findings)


def _rows(ink: Ink, *rows: tuple[str, str]) -> Iterator[str]:
    for name, value in rows:
        if value:
            yield f"  {ink(f'{plain_line(name):<11}', DIM)} {plain_line(value)}"


def _skill_lines(ink: Ink, skills: list[SkillRow]) -> Iterator[str]:
    if not skills:
        return
    yield from ("", f"{ink('skills', BOLD)} {ink(str(len(skills)), DIM)}")
    width = min(max(len(skill.id) for skill in skills), ID_WIDTH)
    for skill in skills:
        tags = ink(f"  [{', '.join(plain_line(tag) for tag in skill.tags)}]", DIM)
        text = plain_line(skill.description or skill.name)
        yield f"  {plain_line(skill.id):<{width}}  {text}{tags if skill.tags else ''}"
        for example in skill.examples:
            yield ink(f"  {'':<{width}}  e.g. {plain_line(example)}", DIM)


def _repair_lines(ink: Ink, ids: list[str]) -> Iterator[str]:
    """Rasa's conversation-repair patterns, which users never name: their ids are enough."""
    if not ids:
        return
    yield from ("", f"{ink('conversation repair', BOLD)} {ink(str(len(ids)), DIM)}")
    names = ", ".join(plain_line(one).removeprefix("pattern_") for one in ids)
    yield from (ink(f"  {line}", DIM) for line in wrap(names, LINE_WIDTH))


VALUE_WIDTH = 48
MOST_CHANGES = 40
_CHANGES = {
    ChangeKind.ADDED: ("+", GREEN),
    ChangeKind.CHANGED: ("~", YELLOW),
    ChangeKind.REMOVED: ("\N{MINUS SIGN}", RED),
}
_VERDICTS = {Verdict.VERIFIED: GREEN, Verdict.INVALID: RED, Verdict.UNVERIFIED: YELLOW}


def _change_lines(ink: Ink, changes: tuple[CardChange, ...], since: str) -> Iterator[str]:
    """What differs from the card seen at `since`; nothing where nothing does."""
    if not changes:
        return
    yield from ("", f"{ink('changed', BOLD)} {ink(f'since {since}', DIM)}")
    for change in changes[:MOST_CHANGES]:
        sign, style = _CHANGES[change.kind]
        text = plain_line(change_text(change, _short))
        yield f"  {ink(sign, style)} {plain_line(change.path)}  {text}"
    if len(changes) > MOST_CHANGES:
        yield ink(f"  … {len(changes) - MOST_CHANGES} more", DIM)


def _signature_lines(ink: Ink, signatures: Iterable[Signature]) -> Iterator[str]:
    for one in signatures:
        verdict = ink(one.verdict.value, _VERDICTS[one.verdict])
        name = " ".join(plain_line(text) for text in (one.algorithm, one.key_id) if text)
        why = f": {plain_line(one.why)}" if one.why else ""
        label = ink("signature  ", DIM)
        yield f"  {label} {name} {verdict}{why}"


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_WIDTH else f"{text[: VALUE_WIDTH - 1]}…"
