"""A card's changes and signatures as text and as JSON."""

import json
from collections.abc import Iterable, Iterator

from inspector.headless.output import BOLD, DIM, GREEN, RED, YELLOW, Ink
from inspector.views.card import CardChange, ChangeKind, told
from inspector.views.text import plain_line
from inspector.wire.signatures import Signature, Verdict
from inspector.wire.tree import Json

VALUE_WIDTH = 48
MOST_CHANGES = 40
_CHANGES = {
    ChangeKind.ADDED: ("+", GREEN),
    ChangeKind.CHANGED: ("~", YELLOW),
    ChangeKind.REMOVED: ("\N{MINUS SIGN}", RED),
}
_VERDICTS = {Verdict.VERIFIED: GREEN, Verdict.INVALID: RED, Verdict.UNVERIFIED: YELLOW}


def tell_changes(ink: Ink, changes: tuple[CardChange, ...], since: str) -> Iterator[str]:
    """What differs from the card seen at `since`; nothing where nothing does."""
    if not changes:
        return
    yield from ("", f"{ink('changed', BOLD)} {ink(f'since {since}', DIM)}")
    for change in changes[:MOST_CHANGES]:
        sign, style = _CHANGES[change.kind]
        yield f"  {ink(sign, style)} {plain_line(change.path)}  {plain_line(change_text(change))}"
    if len(changes) > MOST_CHANGES:
        yield ink(f"  … {len(changes) - MOST_CHANGES} more", DIM)


def change_text(change: CardChange) -> str:
    return told(change, _short)


def tell_signatures(ink: Ink, signatures: Iterable[Signature]) -> Iterator[str]:
    for one in signatures:
        verdict = ink(one.verdict.value, _VERDICTS[one.verdict])
        name = " ".join(plain_line(text) for text in (one.algorithm, one.key_id) if text)
        why = f": {plain_line(one.why)}" if one.why else ""
        label = ink("signature  ", DIM)
        yield f"  {label} {name} {verdict}{why}"


def describe_change(change: CardChange) -> dict[str, Json]:
    return {
        "kind": change.kind.value,
        "path": change.path,
        "before": change.before,
        "after": change.after,
    }


def describe_signature(signature: Signature) -> dict[str, Json]:
    return {
        "algorithm": signature.algorithm,
        "key_id": signature.key_id,
        "keys_url": signature.keys_url,
        "verdict": signature.verdict.value,
        "why": signature.why,
    }


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_WIDTH else f"{text[: VALUE_WIDTH - 1]}…"
