"""The saved sessions: filtered, reopened, named, exported, compared, deleted."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from inspector.core.saved.recording import SessionHeader, read_session
from inspector.core.saved.session_store import (
    delete_session,
    name_session,
    session_paths,
    summarize,
)
from inspector.errors import UsageError
from inspector.folders import typed_path
from inspector.tui.ask_line import AskLine
from inspector.tui.drawing import styles
from inspector.tui.drawing.block_list import Block, BlockList, Line
from inspector.tui.drawing.safe_text import safe_line
from inspector.tui.drawing.styles import state_name, state_sign, state_style
from inspector.tui.key_line import QUIT, KeyLine
from inspector.tui.messages import app_of
from inspector.views.outcomes import Outcome, TurnPair, compare_sessions, turns_of
from inspector.views.session_exports import SUFFIXES, export

KEYS = "Esc back  {quit} quit  Enter open  / filter  n name  e export  Space mark  c diff  D delete"
EMPTY = "No saved sessions yet: every conversation is saved automatically."
PAIR = 2
MOST_STATES = 6


class Asking(Enum):
    """What the line below the list is for."""

    FILTER = auto()
    NAME = auto()
    EXPORT = auto()


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
        words_of_row = " ".join(
            (
                *(self.header.id, self.name, self.title, self.header.target, self.when),
                *(state_name(turn.state) for turn in self.turns if turn.state),
            )
        ).casefold()
        return all(word in words_of_row for word in words.casefold().split())

    @property
    def when(self) -> str:
        return self.header.started.astimezone().strftime("%Y-%m-%d %H:%M")


def read_row(path: Path) -> SessionRow:
    """Read what the row of a session shows.

    Raises:
        UsageError: the file cannot be read, or is not a session.
    """
    summary = summarize(path)
    return SessionRow(path, summary.header, summary.name, turns_of(summary.entries))


class SessionsScreen(Screen[Path | None]):
    """Dismisses with the session to reopen. `current` is the one that is open now."""

    CSS_PATH = "list_screens.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        Binding("S,f9", "dismiss(None)", "Back", show=False),
        Binding("enter", "reopen", "Reopen", show=False),
        Binding("slash", "ask('FILTER')", "Filter", show=False),
        Binding("n", "ask('NAME')", "Name", show=False),
        Binding("e", "ask('EXPORT')", "Export", show=False),
        Binding("space", "mark", "Mark", show=False),
        Binding("c", "compare", "Compare the marked two", show=False),
        Binding("D,delete", "delete", "Delete", show=False),
        QUIT,
    ]

    def __init__(self, folder: Path, current: Path | None = None) -> None:
        super().__init__()
        self._folder = folder
        self._current = current
        self._rows: list[SessionRow] = []
        self._marked: list[Path] = []
        self._to_delete: Path | None = None
        self._asking = Asking.FILTER
        self._filter = ""

    def compose(self) -> ComposeResult:
        yield BlockList(wraps=False, follows=False, id="sessions", empty=EMPTY)
        yield AskLine(id="session-line")
        yield Static("", id="session-note", markup=False)
        yield KeyLine(KEYS)

    def on_mount(self) -> None:
        self.query_one(BlockList).focus()
        self.run_worker(self._load(), group="sessions", exclusive=True)

    async def _load(self) -> None:
        """Read the sessions one after the other, so that the newest are seen at once."""
        unreadable = 0
        self._rows = []
        for path in session_paths(self._folder):
            try:
                self._rows.append(await asyncio.to_thread(read_row, path))
            except UsageError:
                unreadable += 1
            self._fill()
        self._fill()
        if unreadable:
            self._show_note(
                f"{unreadable} files cannot be read; a2a-inspect sessions list shows why"
            )

    # What the keys do

    def action_back(self) -> None:
        """Cancel the deletion, else drop the filter, else leave the screen."""
        if self._to_delete is not None:
            self._show_note("")
        elif self._filter:
            self._filter = ""
            self._fill()
        else:
            self.dismiss(None)

    def action_reopen(self) -> None:
        row = self._row()
        if row is not None:
            self.dismiss(None if row.path == self._current else row.path)

    def action_ask(self, what: str) -> None:
        """Open the line, with what it holds to begin with."""
        row, line = self._row(), self.query_one(AskLine)
        self._asking = Asking[what]
        if self._asking is Asking.FILTER:
            line.ask("/", self._filter, "words that the session has")
        elif row is not None and self._asking is Asking.NAME:
            line.ask("name", row.name, "empty for none")
        elif row is not None:
            line.ask("export to", f"{row.header.id}.md", "a file")
            self._show_note("the suffix chooses the format: .md .har .jsonl .sh (curl) .py (httpx)")

    def action_mark(self) -> None:
        """Mark the session for comparing; the third mark takes the place of the first."""
        row = self._row()
        if row is None:
            return
        if row.path in self._marked:
            self._marked.remove(row.path)
        else:
            self._marked = [*self._marked, row.path][-PAIR:]
        self._show_note("")
        self._fill()

    def action_compare(self) -> None:
        row = self._row()
        chosen = set(self._marked)
        if row is not None and len(chosen) < PAIR:
            chosen.add(row.path)
        if len(chosen) != PAIR:
            self._show_note("mark two sessions with Space, or mark one and move to another")
            return
        # names sort as the sessions began
        pair = sorted(chosen)
        try:
            blocks = compared_blocks(pair[0], pair[1])
        except UsageError as error:
            self._show_note(str(error))
            return
        app_of(self).push_screen(ComparedScreen(blocks))

    def action_delete(self) -> None:
        """Delete at the second press on the same session."""
        row = self._row()
        if row is None:
            return
        if self._to_delete != row.path:
            self._show_note(f"D again deletes {row.header.id} for good, Esc keeps it", row.path)
            return
        try:
            delete_session(row.path)
        except UsageError as error:
            self._show_note(str(error))
            return
        self._rows.remove(row)
        self._marked = [path for path in self._marked if path != row.path]
        self._show_note(f"deleted {row.header.id}")
        self._fill()

    # The line

    @on(AskLine.Typed)
    def take_typed(self, event: AskLine.Typed) -> None:
        if self._asking is Asking.FILTER:
            self._filter = event.text
            self._fill()

    @on(AskLine.Dropped)
    def leave_line(self) -> None:
        self._show_note("")

    @on(AskLine.Taken)
    def take_line(self, event: AskLine.Taken) -> None:
        row = self._row()
        self.query_one(AskLine).close()
        self._show_note("")
        try:
            if row is not None and self._asking is Asking.NAME:
                name_session(row.path, event.text)
                self._rows[self._rows.index(row)] = read_row(row.path)
            elif row is not None and self._asking is Asking.EXPORT:
                self._show_note(f"written: {write_export(row.path, typed_path(event.text))}")
        except UsageError as error:
            self._show_note(str(error))
        self._fill()

    # Showing

    def _row(self) -> SessionRow | None:
        block = self.query_one(BlockList).current
        name = "" if block is None else block.name
        return next((row for row in self._rows if str(row.path) == name), None)

    def _show_note(self, text: str, to_delete: Path | None = None) -> None:
        """Say something below the list; `to_delete` is deleted if D follows."""
        self._to_delete = to_delete
        self.query_one("#session-note", Static).update(text)

    def _fill(self) -> None:
        listing, row = self.query_one(BlockList), self._row()
        shown = [one for one in self._rows if one.matches(self._filter)]
        listing.show(
            [
                row_block(
                    one,
                    is_marked=one.path in self._marked,
                    is_open=one.path == self._current,
                )
                for one in shown
            ]
        )
        if shown:
            places = [one.path for one in shown]
            listing.cursor = places.index(row.path) if row and row.path in places else 0
        named = f" · {self._filter}" if self._filter else ""
        listing.border_title = f"Sessions {len(shown)} of {len(self._rows)}{named}"


def write_export(session: Path, file: Path) -> Path:
    """Write the session to `file` in the format that its suffix names.

    Raises:
        UsageError: no such format, or the system refuses.
    """
    form = SUFFIXES.get(file.suffix)
    if form is None:
        raise UsageError(f"{file.name}: unknown format", f"one of {', '.join(SUFFIXES)}")
    content = export(read_session(session), form, version("a2a-inspect"))
    try:
        file.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
    return file.absolute()


class ComparedScreen(Screen[None]):
    CSS_PATH = "list_screens.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,c", "dismiss", "Back", show=False),
        QUIT,
    ]

    def __init__(self, blocks: Sequence[Block]) -> None:
        super().__init__()
        self._blocks = blocks

    def compose(self) -> ComposeResult:
        yield BlockList(wraps=True, follows=False, id="compared")
        yield KeyLine("Esc back  {quit} quit   ↑ ↓ turn by turn")

    def on_mount(self) -> None:
        listing = self.query_one(BlockList)
        listing.border_title = "Compared: ids and times are masked"
        listing.open_at_start(self._blocks)


def row_block(row: SessionRow, *, is_marked: bool, is_open: bool) -> Block:
    """One line: when, what, with whom; at its end how the last turns ended."""
    count = f"{len(row.turns)} turn" + (" " if len(row.turns) == 1 else "s")
    tail = Content.assemble(*_states(row), (f"  {count.rjust(9)}", styles.DIM))
    text = Content.assemble(
        ("x " if is_marked else "  ", styles.WARN),
        (f"{row.when}  ", styles.DIM),
        (safe_line(row.title), "bold" if row.name else ""),
        ("  this one" if is_open else "", styles.ACCENT),
        (f"  {safe_line(row.header.target)}", styles.DIM),
    )
    return Block(None, (Line(text, tail=tail),), str(row.path))


def _states(row: SessionRow) -> list[tuple[str, str]]:
    return [
        (state_sign(turn.state), state_style(turn.state))
        if turn.state
        else (styles.NONE, styles.DIM)
        for turn in row.turns[-MOST_STATES:]
    ]


def compared_blocks(old: Path, new: Path) -> list[Block]:
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
        (f"   {others} of {len(pairs)} turns differ", styles.WARN if others else styles.GOOD),
    )
    return [Block(None, (Line(heading), Line(Content(""))))] + [_pair_block(pair) for pair in pairs]


def _pair_block(pair: TurnPair) -> Block:
    turn = pair.new or pair.old
    assert turn is not None
    is_same = not pair.changes
    sign, style = ("=", styles.DIM) if is_same else ("~", styles.WARN)
    lines = [
        Line(
            Content.assemble((f"{sign} ", style), (safe_line(turn.title), "bold")),
            tail=Content.styled(state_name(turn.state), state_style(turn.state))
            if turn.state
            else None,
        )
    ]
    for change in pair.changes:
        lines.append(Line(Content.styled(change.what, styles.DIM), 2))
        lines.append(Line(Content.styled(f"- {safe_line(change.old)}", styles.BAD), 4))
        lines.append(Line(Content.styled(f"+ {safe_line(change.new)}", styles.GOOD), 4))
    return Block(None, (*lines, Line(Content(""))))
