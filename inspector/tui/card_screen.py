"""The agent's card as a screen, fetched again by a key or every few seconds."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

from inspector.core.saved.cards import SeenCard, load_card, save_card
from inspector.core.session import Session
from inspector.folders import cards_folder
from inspector.tui.ask_line import AskLine
from inspector.tui.drawing import styles
from inspector.tui.drawing.block_list import Block, BlockList, Line
from inspector.tui.drawing.json_lines import Fold, body_lines, folded, style_json
from inspector.tui.drawing.safe_text import safe, safe_line, wall_clock
from inspector.tui.key_line import QUIT, KeyLine
from inspector.tui.log_view import LogView
from inspector.tui.messages import app_of
from inspector.views.card import (
    CardChange,
    CardView,
    ChangeKind,
    SkillRow,
    card_changes,
    change_text,
    push_remark,
)
from inspector.views.data import SlotChange
from inspector.wire.findings import Severity
from inspector.wire.json_values import Json
from inspector.wire.signatures import Signature, Verdict

INTERVAL_SECONDS = 5.0
KEYS = "Esc back  {quit} quit  r fetch  a every 5 s  p raw  / search  y copy  Enter writes “…”"
EXAMPLE = "example "
FOLD = "fold "
MOST_CHANGES = 40
MOST_FINDINGS = 100
_LABEL_WIDTH = 14
_VALUE_WIDTH = 60
_SIGNS = {
    Severity.ERROR: ("✗ ", styles.BAD),
    Severity.WARNING: ("▲ ", styles.WARN),
    Severity.HINT: ("· ", styles.ACCENT),
}
_CHANGES = {
    ChangeKind.ADDED: (SlotChange.ADDED, styles.GOOD),
    ChangeKind.CHANGED: (SlotChange.CHANGED, styles.WARN),
    ChangeKind.REMOVED: (SlotChange.CLEARED, styles.BAD),
}
_VERDICTS = {
    Verdict.VERIFIED: ("✓ ", styles.GOOD),
    Verdict.INVALID: ("✗ ", styles.BAD),
    Verdict.UNVERIFIED: ("? ", styles.WARN),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """`changes` against the card that was seen at `since`, in words."""

    changes: tuple[CardChange, ...] = ()
    since: str = ""


class CardScreen(Screen["str | None"]):
    """Dismisses with an example to write, or None. `fetch` asks for the card again.

    `last` gives the card seen before this session; `started` is the log's zero.
    """

    CSS_PATH = "list_screens.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,c,f3", "dismiss(None)", "Back", show=False),
        Binding("r,f,f5", "fetch", "Fetch again", show=False),
        Binding("a", "watch", "Fetch every few seconds, or no longer", show=False),
        Binding("p", "raw", "Raw or rendered", show=False),
        Binding("slash", "search", "Search", show=False),
        Binding("n", "next(1)", "Next place found", show=False),
        Binding("N", "next(-1)", "Place found before", show=False),
        Binding("y", "copy", "Copy the card", show=False),
        Binding("enter,space", "take", "Write the example, or open skills", show=False),
        QUIT,
    ]

    def __init__(
        self,
        view: LogView,
        *,
        fetch: Callable[[], None] = lambda: None,
        last: Callable[[], SeenCard | None] = lambda: None,
        started: datetime,
    ) -> None:
        super().__init__()
        self._view = view
        self._fetch = fetch
        self._last = last
        self._started = started
        self._is_raw = False
        self._is_watching = False
        self._timer: Timer | None = None
        self._lines: list[Block] = []
        self._opened: set[str] = set()
        self._compared: tuple[CardView | None, Difference] = None, Difference()
        self._found: list[int] = []
        self._needle = ""

    def compose(self) -> ComposeResult:
        yield BlockList(wraps=True, follows=False, id="card", empty="No card yet: r fetches it.")
        yield AskLine(id="search")
        yield Static("", id="note", markup=False)
        yield KeyLine(KEYS)

    def on_mount(self) -> None:
        self.query_one(BlockList).border_title = "Card"
        self._timer = self.set_interval(INTERVAL_SECONDS, self._fetch, pause=True)
        self._draw(from_start=True)

    def show_view(self, view: LogView) -> None:
        """Draw what came, where the reader is; before the screen stands, keep it for then."""
        is_new = view.card is not self._view.card
        self._view = view
        if not self.is_mounted:
            return
        if is_new:
            self._draw(from_start=False)
        self._show_note()

    @property
    def _card(self) -> CardView | None:
        return self._view.card

    def _draw(self, *, from_start: bool) -> None:
        card = self._card
        if card is None:
            return
        if self._compared[0] is not card:
            self._compared = card, self._difference(card)
        difference = self._compared[1]
        self._lines = (
            raw_lines(card)
            if self._is_raw
            else card_lines(card, difference, opened=self._opened, needle=self._needle)
        )
        self._mark(from_start=from_start)
        self._show_note()

    def _difference(self, card: CardView) -> Difference:
        """Against the last other card of this session, else against the one kept before it."""
        if card.before is not None:
            since = wall_clock(self._started, card.before.until_ms)
            return Difference(card_changes(card.before.card, card.card), since)
        last = self._last()
        if last is None:
            return Difference()
        since = f"{last.seen_at.astimezone():%Y-%m-%d %H:%M}"
        return Difference(card_changes(last.card, card.card), since)

    def _mark(self, *, from_start: bool = False) -> None:
        shown, self._found = marked(self._lines, self._needle)
        pane = self.query_one(BlockList)
        if from_start:
            pane.open_at_start(shown)
        else:
            pane.show(shown)

    def _show_note(self) -> None:
        """Say below what is watched, found, or wrong with the last attempt."""
        parts: list[tuple[str, str]] = []
        if self._is_watching:
            parts.append((f"fetched every {INTERVAL_SECONDS:g} s   ", styles.ACCENT))
        if needle := self._needle:
            place = self._place_found()
            style = styles.PLAIN if self._found else styles.WARN
            parts.append(
                (f"{place} of {len(self._found)} lines with “{safe_line(needle)}”   ", style)
            )
        trouble = self._view.card_trouble
        if trouble is not None and trouble.problem is not None:
            parts.append((safe_line(trouble.problem.what), styles.BAD))
        note = self.query_one("#note", Static)
        note.update(Content.assemble(*parts))
        note.set_class(bool(parts), "-shown")

    def _place_found(self) -> int:
        cursor = self.query_one(BlockList).cursor
        return sum(1 for index in self._found if index <= cursor)

    def action_fetch(self) -> None:
        self._fetch()

    def action_watch(self) -> None:
        self._is_watching = not self._is_watching
        if self._timer is not None and self._is_watching:
            self._fetch()
            self._timer.resume()
        elif self._timer is not None:
            self._timer.pause()
        self._show_note()

    def action_raw(self) -> None:
        self._is_raw = not self._is_raw
        self._draw(from_start=True)

    def action_search(self) -> None:
        self.query_one(AskLine).ask("/", self._needle, "search")

    def action_next(self, by: int) -> None:
        """Go to the next line found, around the end."""
        if not self._found:
            return
        pane = self.query_one(BlockList)
        after = [index for index in self._found if (index - pane.cursor) * by > 0]
        around = self._found[0 if by > 0 else -1]
        pane.go((after[0] if by > 0 else after[-1]) if after else around)
        self._show_note()

    def action_copy(self) -> None:
        if self._card is not None:
            app_of(self).copy_to_clipboard(self._card.raw.decode(errors="replace"))

    def action_take(self) -> None:
        block = self.query_one(BlockList).current
        if block is not None and block.name.startswith(EXAMPLE):
            self.dismiss(block.name.removeprefix(EXAMPLE))
        elif block is not None and block.name.startswith(FOLD):
            self._opened ^= {block.name.removeprefix(FOLD)}
            self._draw(from_start=False)

    @on(AskLine.Typed)
    def take_needle(self, event: AskLine.Typed) -> None:
        self._seek(event.text)

    @on(AskLine.Dropped)
    def drop_needle(self) -> None:
        self._seek("")

    @on(AskLine.Taken)
    def keep_needle(self) -> None:
        self.query_one(AskLine).close()

    def _seek(self, needle: str) -> None:
        """Mark the lines that have `needle`, and go to the next of them."""
        self._needle = needle
        self._draw(from_start=False)
        pane = self.query_one(BlockList)
        if self._found and pane.cursor not in self._found:
            pane.go(next((index for index in self._found if index > pane.cursor), self._found[0]))
        self._show_note()


def card_lines(
    card: CardView, difference: Difference, *, opened: Set[str] = frozenset(), needle: str = ""
) -> list[Block]:
    """A block a line; one that is an example has its text as name, behind `EXAMPLE`.

    Of many skills there are ranges, named behind `FOLD`: those of `opened` show what is in them,
    the others how many of them have `needle`.
    """
    marks = _skill_marks(difference.changes)
    skills = [skill for skill in card.skills if not skill.is_repair]
    repairs = [skill for skill in card.skills if skill.is_repair]
    lines = [*_identity(card), *_difference(difference), *_findings(card)]
    blocks = [Block(None, (line,)) for line in [*lines, _title(f"Skills ({len(skills)})")]]
    blocks += _skills("skills", skills, marks, opened, needle)
    if repairs:
        blocks.append(Block(None, (_title(f"Conversation repair ({len(repairs)})"),)))
        blocks += _skills("repair skills", repairs, marks, opened, needle)
    return blocks


def _skills(
    name: str,
    skills: Sequence[SkillRow],
    marks: Mapping[str, ChangeKind],
    opened: Set[str],
    needle: str,
) -> Iterator[Block]:
    for one in folded(len(skills), name, opened):
        if not isinstance(one, Fold):
            yield from _skill(skills[one], marks)
            continue
        text = one.text(name)
        if needle and not one.is_open:
            found = sum(_has(skill, needle.lower()) for skill in skills[one.first : one.end])
            text += Content(f"  {found:,} with “{safe_line(needle)}”" if found else "")
        yield Block(None, (Line(text, 2 * one.depth),), FOLD + one.name)


def _has(skill: SkillRow, needle: str) -> bool:
    said = (skill.name, skill.id, skill.description, *skill.tags, *skill.examples)
    return needle in "\n".join(said).lower()


def raw_lines(card: CardView) -> list[Block]:
    return [
        Block(None, (Line(style_json(text.plain)),))
        for text in body_lines(card.raw, is_pretty=True)
    ]


def marked(blocks: Sequence[Block], needle: str) -> tuple[list[Block], list[int]]:
    """Return `blocks` with every place of `needle` marked, and which blocks have one."""
    if not needle:
        return list(blocks), []
    spot = re.compile(re.escape(needle), re.IGNORECASE)
    shown = [_marked(block, spot) for block in blocks]
    return shown, [index for index, block in enumerate(shown) if block is not blocks[index]]


def _marked(block: Block, spot: re.Pattern[str]) -> Block:
    (line,) = block.lines
    if not spot.search(line.text.plain):
        return block
    text = line.text.highlight_regex(spot, style="reverse")
    return Block(block.place, (replace(line, text=text),), block.name)


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
            style = styles.PLAIN if name else styles.DIM
            yield Line(_labelled(name) + Content.styled(safe_line(value), style), hang=_LABEL_WIDTH)
    yield from map(_signature, card.signatures)
    yield Line(Content(""))


def _labelled(name: str) -> Content:
    return Content.styled(name.ljust(_LABEL_WIDTH), styles.DIM)


def _signature(signature: Signature) -> Line:
    name = " ".join(text for text in (signature.algorithm, signature.key_id) if text)
    sign, style = _VERDICTS[signature.verdict]
    verdict = Content.styled(f"{sign}{signature.verdict.value}", style)
    why = f"  {safe_line(name)}" + (f": {safe_line(signature.why)}" if signature.why else "")
    return Line(
        _labelled("signature") + verdict + Content.styled(why, styles.DIM), hang=_LABEL_WIDTH
    )


def _difference(difference: Difference) -> Iterator[Line]:
    if not difference.changes:
        return
    count = len(difference.changes)
    yield _title(f"Changed since {difference.since} ({count})")
    for change in difference.changes[:MOST_CHANGES]:
        kind, style = _CHANGES[change.kind]
        yield Line(
            Content.assemble(
                (f"{styles.CHANGE_SIGNS[kind]} ", style),
                safe_line(change.path),
                (f"  {change_text(change, _short)}", styles.DIM),
            ),
            2,
        )
    if count > MOST_CHANGES:
        yield Line(Content.styled(f"… {count - MOST_CHANGES} more", styles.DIM), 2)
    yield Line(Content(""))


def _short(value: Json) -> str:
    text = safe_line(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _VALUE_WIDTH else f"{text[: _VALUE_WIDTH - 1]}…"


def _findings(card: CardView) -> Iterator[Line]:
    for finding in card.findings[:MOST_FINDINGS]:
        sign, style = _SIGNS[finding.severity]
        text = Content.assemble(
            (sign, style), safe_line(finding.message), (f"  {safe_line(finding.path)}", styles.DIM)
        )
        yield Line(text, tail=Content.styled(finding.section, styles.DIM))
    if len(card.findings) > MOST_FINDINGS:
        more = f"… {len(card.findings) - MOST_FINDINGS:,} more findings"
        yield Line(Content.styled(more, styles.DIM))
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


def _skill(skill: SkillRow, marks: Mapping[str, ChangeKind]) -> Iterator[Block]:
    mark = marks.get(repr(skill.id))
    sign, style = ("  ", styles.PLAIN)
    if mark is not None:
        kind, style = _CHANGES[mark]
        sign = f"{styles.CHANGE_SIGNS[kind]} "
    heading = Content.assemble(
        (sign, style),
        (safe_line(skill.name), styles.ACCENT),
        ("  " + safe_line(skill.id), styles.DIM),
    )
    tags = Content.styled(" ".join(safe_line(tag) for tag in skill.tags), styles.DIM)
    yield Block(None, (Line(heading, 0, tags),))
    if skill.description:
        yield Block(None, (Line(Content(safe_line(skill.description)), 4),))
    for example in skill.examples:
        line = Line(Content.styled(f"“{safe_line(example)}”", styles.DIM), 4)
        yield Block(None, (line,), EXAMPLE + example)


class CardMemory:
    """`last` is the card seen before this session; `report` gets the reason where one is not saved.

    Cards from before a session was reopened are ignored.
    """

    def __init__(self, session: Session, is_saved: bool, report: Callable[[str], None]) -> None:
        self.last: SeenCard | None = None
        self._target = session.target
        self._is_saved = is_saved
        self._report = report
        self._kept: dict[str, Json] | None = None
        # what was seen before, this session or another has kept
        self._seen_seq = len(session.log.entries)

    def take(self, view: LogView) -> None:
        card = view.card
        if card is None or card.seq <= self._seen_seq:
            return
        self._seen_seq = card.seq
        if card.card == self._kept:
            return
        if self._kept is None:
            self.last = load_card(cards_folder(), self._target)
        self._kept = card.card
        if self._is_saved:
            problem = save_card(cards_folder(), self._target, card.card, datetime.now(UTC))
            if problem:
                self._report(problem)
