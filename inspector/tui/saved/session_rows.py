"""A saved session as a row of a list, and two of them turn by turn."""

from dataclasses import dataclass
from pathlib import Path

from textual.content import Content

from inspector.core.saved.recording import SessionHeader, read_session
from inspector.core.saved.session_store import skim
from inspector.tui.drawing import ink
from inspector.tui.drawing.block import Block, Line
from inspector.tui.drawing.safe_text import safe_line
from inspector.tui.drawing.symbols import Symbols, state_ink, state_name, state_sign
from inspector.views.outcomes import ComparedTurns, Outcome, compare_sessions, turns_of

MOST_STATES = 6


@dataclass(frozen=True, slots=True)
class SessionRow:
    path: Path
    header: SessionHeader
    name: str
    turns: tuple[Outcome, ...]

    @property
    def title(self) -> str:
        """The name, else what was said first."""
        return self.name or (self.turns[0].title if self.turns else "nothing said")

    def matches(self, words: str) -> bool:
        """Say whether each of `words` stands somewhere in the row."""
        told = " ".join(
            (
                *(self.header.id, self.name, self.title, self.header.target, self.when),
                *(state_name(turn.state) for turn in self.turns if turn.state),
            )
        ).casefold()
        return all(word in told for word in words.casefold().split())

    @property
    def when(self) -> str:
        return self.header.started.astimezone().strftime("%Y-%m-%d %H:%M")


def read_row(path: Path) -> SessionRow:
    """Read what the row of a session shows.

    Raises:
        UsageError: the file cannot be read, or is no session.
    """
    skimmed = skim(path)
    return SessionRow(path, skimmed.header, skimmed.name, turns_of(skimmed.entries))


def row_block(row: SessionRow, symbols: Symbols, *, is_marked: bool, is_open: bool) -> Block:
    """One line: when, what, with whom; at its end how the last turns ended."""
    count = f"{len(row.turns)} turn" + (" " if len(row.turns) == 1 else "s")
    tail = Content.assemble(*_states(row, symbols), (f"  {count.rjust(9)}", ink.DIM))
    text = Content.assemble(
        ("x " if is_marked else "  ", ink.WARN),
        (f"{row.when}  ", ink.DIM),
        (safe_line(row.title), "bold" if row.name else ""),
        ("  this one" if is_open else "", ink.ACCENT),
        (f"  {safe_line(row.header.target)}", ink.DIM),
    )
    return Block(None, (Line(text, tail=tail),), str(row.path))


def _states(row: SessionRow, symbols: Symbols) -> list[tuple[str, str]]:
    return [
        (state_sign(symbols, turn.state), state_ink(turn.state))
        if turn.state
        else (symbols.none, ink.DIM)
        for turn in row.turns[-MOST_STATES:]
    ]


def compared_blocks(old: Path, new: Path, symbols: Symbols) -> list[Block]:
    """The turns of two sessions, old beside new.

    Raises:
        UsageError: one of them cannot be read.
    """
    before, after = read_session(old), read_session(new)
    pairs = compare_sessions(turns_of(before.whole), turns_of(after.whole))
    others = sum(bool(pair.changes) for pair in pairs)
    names = [one.name or one.header.id for one in (before, after)]
    heading = Content.assemble(
        (f"{safe_line(names[0])} → {safe_line(names[1])}", "bold"),
        (f"   {others} of {len(pairs)} turns differ", ink.WARN if others else ink.GOOD),
    )
    return [Block(None, (Line(heading), Line(Content(""))))] + [
        _pair_block(pair, symbols) for pair in pairs
    ]


def _pair_block(pair: ComparedTurns, symbols: Symbols) -> Block:
    turn = pair.new or pair.old
    assert turn is not None
    is_same = not pair.changes
    sign, style = ("=", ink.DIM) if is_same else ("~", ink.WARN)
    lines = [
        Line(
            Content.assemble((f"{sign} ", style), (safe_line(turn.title), "bold")),
            tail=Content.styled(state_name(turn.state), state_ink(turn.state))
            if turn.state
            else None,
        )
    ]
    for change in pair.changes:
        lines.append(Line(Content.styled(change.what, ink.DIM), 2))
        lines.append(Line(Content.styled(f"- {safe_line(change.old)}", ink.BAD), 4))
        lines.append(Line(Content.styled(f"+ {safe_line(change.new)}", ink.GOOD), 4))
    return Block(None, (*lines, Line(Content(""))))
