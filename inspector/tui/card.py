"""The agent's card as a screen: who it is, what it can, what is odd, and the bytes as received."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from inspector.tui import ink
from inspector.tui.block import Block, Line
from inspector.tui.block_list import BlockList
from inspector.tui.payload import body_lines
from inspector.tui.safe_text import safe, safe_line
from inspector.views.card import CardView, SkillRow
from inspector.wire.findings import Severity

_LABEL_WIDTH = 14
_SIGNS = {
    Severity.ERROR: ("✗ ", ink.BAD),
    Severity.WARNING: ("▲ ", ink.WARN),
    Severity.HINT: ("· ", ink.ACCENT),
}


class CardScreen(Screen[bool]):
    """Answers True where the card shall be fetched again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,c,f3", "dismiss(False)", "Back", show=False),
        Binding("f", "dismiss(True)", "Fetch again", show=False),
        Binding("p", "raw", "Raw or rendered", show=False),
        Binding("q,ctrl+q", "app.quit", "Quit", show=False),
    ]

    def __init__(self, card: CardView | None) -> None:
        super().__init__()
        self._card = card
        self._is_raw = False

    def compose(self) -> ComposeResult:
        yield BlockList(
            wraps=True, follows=False, id="card", empty="No card has come yet: f fetches it."
        )
        yield Static("Esc back   p raw or rendered   f fetch again", id="keys", markup=False)

    def on_mount(self) -> None:
        pane = self.query_one(BlockList)
        pane.border_title = "Card"
        self._fill()

    def action_raw(self) -> None:
        self._is_raw = not self._is_raw
        self._fill()

    def _fill(self) -> None:
        if self._card is None:
            return
        blocks = _raw(self._card) if self._is_raw else card_blocks(self._card)
        # a card is read, not picked from: the cursor goes line by line
        lines = [Block(None, (line,)) for block in blocks for line in block.lines]
        self.query_one(BlockList).open_at_start(lines)


def card_blocks(card: CardView) -> list[Block]:
    blocks = [_identity(card)]
    if card.findings:
        blocks.append(_findings(card))
    skills = [skill for skill in card.skills if not skill.is_repair]
    repairs = [skill for skill in card.skills if skill.is_repair]
    blocks.append(_title(f"Skills ({len(skills)})"))
    blocks += [_skill(skill) for skill in skills]
    if repairs:
        blocks.append(_title(f"Conversation repair ({len(repairs)})"))
        blocks += [_skill(skill) for skill in repairs]
    return blocks


def _identity(card: CardView) -> Block:
    capabilities = ", ".join(f"{name} {'yes' if on else 'no'}" for name, on in card.capabilities)
    transports = ", ".join(f"{safe_line(name)} {safe_line(url)}" for name, url in card.transports)
    rows = [
        ("version", card.version),
        ("protocol", f"A2A {card.protocol_version}"),
        ("url", card.url),
        ("fetched from", card.source_url),
        ("transports", transports),
        ("capabilities", capabilities),
        ("security", ", ".join(card.security) or "none"),
        ("takes", ", ".join(card.input_modes)),
        ("gives", ", ".join(card.output_modes)),
    ]
    lines = [Line(Content.styled(safe_line(card.name), "bold"))]
    lines += [Line(Content(text)) for text in safe(card.description).split("\n") if text]
    lines.append(Line(Content("")))
    lines += [
        Line(Content.assemble((name.ljust(_LABEL_WIDTH), ink.DIM), safe_line(value)))
        for name, value in rows
        if value
    ]
    return Block(None, (*lines, Line(Content(""))))


def _findings(card: CardView) -> Block:
    lines: list[Line] = []
    for finding in card.findings:
        sign, style = _SIGNS[finding.severity]
        text = Content.assemble(
            (sign, style), safe_line(finding.message), (f"  {safe_line(finding.path)}", ink.DIM)
        )
        lines.append(Line(text, tail=Content.styled(finding.section, ink.DIM)))
    return Block(None, (*lines, Line(Content(""))))


def _title(text: str) -> Block:
    return Block(None, (Line(Content.styled(text, "bold")),))


def _skill(skill: SkillRow) -> Block:
    heading = Content.assemble(
        (safe_line(skill.name), ink.ACCENT), ("  " + safe_line(skill.id), ink.DIM)
    )
    tags = Content.styled(" ".join(safe_line(tag) for tag in skill.tags), ink.DIM)
    lines = [Line(heading, 2, tags)]
    lines += [Line(Content(safe_line(skill.description)), 4)] if skill.description else []
    lines += [
        Line(Content.styled(f"“{safe_line(example)}”", ink.DIM), 4) for example in skill.examples
    ]
    return Block(None, tuple(lines))


def _raw(card: CardView) -> list[Block]:
    return [Block(None, (Line(text),)) for text in body_lines(card.raw, is_pretty=True)]
