"""A card as lines to draw: who it is, what changed, what is odd, what it can."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from textual.content import Content

from inspector.core.commands import Json
from inspector.tui.drawing import ink
from inspector.tui.drawing.block import Block, Line
from inspector.tui.drawing.json_ink import ink_json
from inspector.tui.drawing.payload import body_lines
from inspector.tui.drawing.safe_text import safe, safe_line
from inspector.tui.drawing.symbols import Symbols
from inspector.views.card import CardChange, CardView, ChangeKind, SkillRow, push_remark, told
from inspector.views.data import SlotChange
from inspector.wire.findings import Severity
from inspector.wire.signatures import Signature, Verdict

EXAMPLE = "example "
MOST_CHANGES = 40
_LABEL_WIDTH = 14
_VALUE_WIDTH = 60
_SIGNS = {
    Severity.ERROR: ("✗ ", ink.BAD),
    Severity.WARNING: ("▲ ", ink.WARN),
    Severity.HINT: ("· ", ink.ACCENT),
}
_CHANGES = {
    ChangeKind.ADDED: (SlotChange.ADDED, ink.GOOD),
    ChangeKind.CHANGED: (SlotChange.CHANGED, ink.WARN),
    ChangeKind.REMOVED: (SlotChange.CLEARED, ink.BAD),
}
_VERDICTS = {
    Verdict.VERIFIED: ("✓ ", ink.GOOD),
    Verdict.INVALID: ("✗ ", ink.BAD),
    Verdict.UNVERIFIED: ("? ", ink.WARN),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """`changes` against the card that was seen at `since`, in words."""

    changes: tuple[CardChange, ...] = ()
    since: str = ""


def card_lines(card: CardView, difference: Difference, symbols: Symbols) -> list[Block]:
    """A block a line; one that is an example has its text as name, behind `EXAMPLE`."""
    marks = _skill_marks(difference.changes)
    skills = [skill for skill in card.skills if not skill.is_repair]
    repairs = [skill for skill in card.skills if skill.is_repair]
    lines = [*_identity(card), *_difference(difference, symbols), *_findings(card)]
    blocks = [Block(None, (line,)) for line in [*lines, _title(f"Skills ({len(skills)})")]]
    blocks += [block for skill in skills for block in _skill(skill, marks, symbols)]
    if repairs:
        blocks.append(Block(None, (_title(f"Conversation repair ({len(repairs)})"),)))
        blocks += [block for skill in repairs for block in _skill(skill, marks, symbols)]
    return blocks


def raw_lines(card: CardView) -> list[Block]:
    return [
        Block(None, (Line(ink_json(text.plain)),)) for text in body_lines(card.raw, is_pretty=True)
    ]


def marked(blocks: Sequence[Block], needle: str) -> tuple[list[Block], list[int]]:
    """Return `blocks` with every place of `needle` marked, and which blocks have one."""
    if not needle:
        return list(blocks), []
    shown = [_marked(block, needle.lower()) for block in blocks]
    return shown, [index for index, block in enumerate(shown) if block is not blocks[index]]


def _marked(block: Block, needle: str) -> Block:
    (line,) = block.lines
    text = line.text
    for start in _spots(text.plain.lower(), needle):
        text = text.stylize("reverse", start, start + len(needle))
    if text is line.text:
        return block
    return Block(block.place, (replace(line, text=text),), block.name)


def _spots(text: str, needle: str) -> Iterator[int]:
    start = text.find(needle)
    while start >= 0:
        yield start
        start = text.find(needle, start + len(needle))


def _identity(card: CardView) -> Iterator[Line]:
    capabilities = ", ".join(f"{name} {'yes' if on else 'no'}" for name, on in card.capabilities)
    transports = ", ".join(f"{name} {url}" for name, url in card.transports)
    rows = [
        ("version", card.version),
        ("protocol", f"A2A {card.protocol_version}"),
        ("url", card.url),
        ("fetched from", card.source_url),
        ("transports", transports),
        ("capabilities", capabilities),
        ("", push_remark(card) or ""),
        ("security", ", ".join(card.security) or "none"),
        ("takes", ", ".join(card.input_modes)),
        ("gives", ", ".join(card.output_modes)),
    ]
    yield Line(Content.styled(safe_line(card.name), "bold"))
    yield from (Line(Content(text)) for text in safe(card.description).split("\n") if text)
    yield Line(Content(""))
    for name, value in rows:
        if value:
            style = ink.PLAIN if name else ink.DIM
            yield Line(_labelled(name) + Content.styled(safe_line(value), style), hang=_LABEL_WIDTH)
    yield from map(_signature, card.signatures)
    yield Line(Content(""))


def _labelled(name: str) -> Content:
    return Content.styled(name.ljust(_LABEL_WIDTH), ink.DIM)


def _signature(signature: Signature) -> Line:
    name = " ".join(text for text in (signature.algorithm, signature.key_id) if text)
    sign, style = _VERDICTS[signature.verdict]
    verdict = Content.styled(f"{sign}{signature.verdict.value}", style)
    why = f"  {safe_line(name)}" + (f": {safe_line(signature.why)}" if signature.why else "")
    return Line(_labelled("signature") + verdict + Content.styled(why, ink.DIM), hang=_LABEL_WIDTH)


def _difference(difference: Difference, symbols: Symbols) -> Iterator[Line]:
    if not difference.changes:
        return
    count = len(difference.changes)
    yield _title(f"Changed since {difference.since} ({count})")
    for change in difference.changes[:MOST_CHANGES]:
        kind, style = _CHANGES[change.kind]
        yield Line(
            Content.assemble(
                (f"{symbols.changes[kind]} ", style),
                safe_line(change.path),
                (f"  {told(change, _short)}", ink.DIM),
            ),
            2,
        )
    if count > MOST_CHANGES:
        yield Line(Content.styled(f"… {count - MOST_CHANGES} more", ink.DIM), 2)
    yield Line(Content(""))


def _short(value: Json) -> str:
    text = safe_line(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _VALUE_WIDTH else f"{text[: _VALUE_WIDTH - 1]}…"


def _findings(card: CardView) -> Iterator[Line]:
    for finding in card.findings:
        sign, style = _SIGNS[finding.severity]
        text = Content.assemble(
            (sign, style), safe_line(finding.message), (f"  {safe_line(finding.path)}", ink.DIM)
        )
        yield Line(text, tail=Content.styled(finding.section, ink.DIM))
    if card.findings:
        yield Line(Content(""))


def _title(text: str) -> Line:
    return Line(Content.styled(text, "bold"))


def _skill_marks(changes: Iterable[CardChange]) -> Mapping[str, ChangeKind]:
    """By skill, how it changed: one that changed inside is CHANGED."""
    marks: dict[str, ChangeKind] = {}
    for change in changes:
        head, _, rest = change.path.partition("$.skills[")
        if head or not rest:
            continue
        name, _, inside = rest.partition("]")
        marks.setdefault(name, ChangeKind.CHANGED if inside else change.kind)
    return marks


def _skill(skill: SkillRow, marks: Mapping[str, ChangeKind], symbols: Symbols) -> Iterator[Block]:
    mark = marks.get(repr(skill.id))
    sign, style = ("  ", ink.PLAIN)
    if mark is not None:
        kind, style = _CHANGES[mark]
        sign = f"{symbols.changes[kind]} "
    heading = Content.assemble(
        (sign, style), (safe_line(skill.name), ink.ACCENT), ("  " + safe_line(skill.id), ink.DIM)
    )
    tags = Content.styled(" ".join(safe_line(tag) for tag in skill.tags), ink.DIM)
    yield Block(None, (Line(heading, 0, tags),))
    if skill.description:
        yield Block(None, (Line(Content(safe_line(skill.description)), 4),))
    for example in skill.examples:
        line = Line(Content.styled(f"“{safe_line(example)}”", ink.DIM), 4)
        yield Block(None, (line,), EXAMPLE + example)
