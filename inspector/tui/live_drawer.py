"""Live replay: each turn of the conversation as it was beside what it is after the last save."""

import asyncio
from collections.abc import Sequence
from difflib import ndiff
from uuid import uuid4

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from inspector.core.live_replay import LiveReplay, changes
from inspector.core.mock_client import MockClient
from inspector.core.session import Session
from inspector.settings import Connection
from inspector.tui.drawing import styles
from inspector.tui.drawing.block_list import Block, BlockList, Line
from inspector.tui.drawing.safe_text import safe, safe_line
from inspector.tui.drawing.styles import state_text
from inspector.tui.log_view import LogView
from inspector.views.data import SlotChange
from inspector.views.live import LiveView, ReplayedTurn, compare_last
from inspector.views.outcomes import Change
from inspector.wire.mock_admin import ProjectProblem, Reload

WAITING = (
    "Each save runs this conversation again, in a context of its own, and shows what changed. "
    "Say something first; then save a flow, while a2a-mock serves it with --watch."
)
MOST_PROBLEMS = 3
_NUMBER_WIDTH = 4
_LABEL_WIDTH = 14
# Longer than this, old and new stand below each other.
_SHORT = 24
_BORDER = 2


class LiveDrawer(BlockList):
    """Open while the class -open is set."""

    DEFAULT_CSS = """
    LiveDrawer {
        display: none;
        height: auto;
        min-height: 5;
        max-height: 50%;
        border: round $border;
        border-title-color: $dim;
        border-subtitle-color: $dim;
        &.-open { display: block; }
        &:focus { border: round $primary; border-title-color: $primary; }
    }
    """

    def __init__(self) -> None:
        super().__init__(wraps=True, follows=False, id="live")
        self._live = LiveView()
        self._is_to_first = False
        self._shown: tuple[ReplayedTurn, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def on_mount(self) -> None:
        self._title()

    def show_view(self, view: LogView) -> None:
        """Draw the last run; while closed, only keep it."""
        is_new = view.live is not self._live
        self._live = view.live
        if is_new and self.is_open:
            self._fill()

    def open(self) -> None:
        self.add_class("-open")
        self._fill()

    def close(self) -> None:
        self.remove_class("-open")

    def action_base(self) -> None:
        """Compare with the conversation, or with the run before."""
        self._is_to_first = not self._is_to_first
        self._fill()

    def _fill(self) -> None:
        turns = compare_last(self._live, to_first=self._is_to_first)
        if turns != self._shown:
            self._shown = turns
            self.show([turn_block(turn, n) for n, turn in enumerate(turns, 1)])
        if not turns:
            self.show([Block(None, (Line(Content.styled(WAITING, styles.DIM)),))])
        self._title()
        self._fit()

    def on_resize(self) -> None:
        super().on_resize()
        self._fit()

    def _fit(self) -> None:
        """Be as high as the lines are at this width: a list that scrolls has no height itself."""
        self.styles.height = self.virtual_size.height + _BORDER

    def _title(self) -> None:
        base = "the conversation" if self._is_to_first else "the run before"
        self.border_title = f"Live  {summary(self._shown, self._live)}"
        self.border_subtitle = f"against {base}: B   L ends"


def summary(turns: Sequence[ReplayedTurn], live: LiveView) -> str:
    """Return how far the last run is and what it showed."""
    if not turns:
        return "waiting for a save"
    over = [turn.new for turn in turns if turn.new is not None and turn.new.is_over]
    if len(over) < len(turns):
        return f"run {live.count}: turn {len(over) + 1} of {len(turns)} …"
    changed = sum(bool(turn.changes) for turn in turns)
    what = f"{changed} of {len(turns)} turns changed" if changed else "nothing changed"
    return f"run {live.count}: {what}"


def turn_block(turn: ReplayedTurn, number: int) -> Block:
    """Return one turn: its words and state, and below them what changed."""
    new = turn.new
    is_changed = bool(turn.changes)
    sign, style = (
        (styles.CHANGE_SIGNS[SlotChange.CHANGED], styles.WARN) if is_changed else (" ", styles.DIM)
    )
    first = Content.assemble(
        (f"{sign} ", f"{style} bold"),
        (f"{number} ".rjust(_NUMBER_WIDTH - 1), styles.DIM),
        (safe_line(turn.old.title) or "slots alone", "bold" if is_changed else styles.PLAIN),
    )
    if new is None or not new.is_over:
        return Block(None, (Line(first, tail=Content.styled("…", styles.DIM)),))
    tail = Content.styled("same", styles.DIM)
    if is_changed and new.state is not None:
        tail = state_text(new.state)
    lines = [Line(first, tail=tail)]
    for change in turn.changes:
        lines += _change_lines(change)
    return Block(None, tuple(lines))


def _change_lines(change: Change) -> list[Line]:
    """Return `old → new` on a line, or old above new where they are long."""
    label = (safe_line(change.what).ljust(_LABEL_WIDTH), styles.DIM)
    old, new = safe(change.old), safe(change.new)
    if max(len(old), len(new)) <= _SHORT and "\n" not in old + new:
        line = Content.assemble(label, (old, styles.BAD), (" → ", styles.DIM), (new, styles.GOOD))
        return [Line(line, _NUMBER_WIDTH + 2)]
    signs = {"-": (styles.CHANGE_SIGNS[SlotChange.CLEARED], styles.BAD)}
    signs["+"] = (styles.CHANGE_SIGNS[SlotChange.ADDED], styles.GOOD)
    rows = [row for row in ndiff(old.split("\n"), new.split("\n")) if row[0] in signs and row[2:]]
    lines: list[Line] = []
    for row in rows:
        sign, style = signs[row[0]]
        head = (" " * _LABEL_WIDTH, "") if lines else label
        lines.append(Line(Content.assemble(head, (f"{sign} {row[2:]}", style)), _NUMBER_WIDTH + 2))
    return lines


class SaveProblems(Widget):
    """Below the header, only while the last save does not load: where and why, line by line."""

    DEFAULT_CSS = """
    SaveProblems {
        display: none;
        height: auto;
        max-height: 6;
        padding: 0 1;
        background: $error 12%;
        &.-shown { display: block; }
    }
    """

    reload: reactive[Reload | None] = reactive(None, layout=True)

    def show_view(self, view: LogView) -> None:
        self.reload = view.mock.reload

    def watch_reload(self) -> None:
        self.set_class(bool(self.reload and self.reload.problems), "-shown")

    def render(self) -> Content:
        problems = self.reload.problems if self.reload is not None else ()
        lines = [_problem_line(problem) for problem in problems[:MOST_PROBLEMS]]
        more = len(problems) - MOST_PROBLEMS
        note = f"{more} more; " if more > 0 else ""
        lines.append(Content.styled(f"  {note}the last good version stays active", styles.DIM))
        return Content("\n").join(lines)


def _problem_line(problem: ProjectProblem) -> Content:
    where = safe_line(problem.file) + (f":{problem.line}" if problem.line else "")
    fix = f"; {safe_line(problem.fix)}" if problem.fix else ""
    return Content.assemble(
        ("✗ ", styles.BAD),
        (where, f"{styles.BAD} bold"),
        f"  {safe_line(problem.text)}",
        (fix, styles.DIM),
    )


class MockWatcher:
    """`client` asks a connected mock; `live` replays the conversation until it is cancelled."""

    def __init__(self, session: Session, connection: Connection) -> None:
        self.client = MockClient(session, token=connection.admin_token, on_reload=self._take_reload)
        self._replay = LiveReplay(session, new_id=lambda: str(uuid4()))
        self._watched = connection.watched
        self._is_live = False

    async def live(self) -> None:
        """Replay at each reload that the mock reports, or without a mock at each save."""
        self._is_live = True
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._replay.run())
                group.create_task(self._watch())
        finally:
            self._is_live = False

    async def tidy(self) -> None:
        """Cancel what the last replay left waiting."""
        await self._replay.tidy()

    async def _watch(self) -> None:
        if self._watched is None:
            return
        async for _ in changes(self._watched):
            # a mock says so itself once it serves what was saved
            if not self.client.is_connected:
                self._replay.trigger()

    def _take_reload(self) -> None:
        if self._is_live:
            self._replay.trigger()
