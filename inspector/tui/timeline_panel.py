"""Each turn's task: its states in order, when and by which channel they came, and findings."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from inspector.tui.drawing import styles
from inspector.tui.drawing.block_list import (
    MOST_KEPT,
    Block,
    BlockCache,
    BlockList,
    Heights,
    Line,
    lay_out,
)
from inspector.tui.drawing.safe_text import duration, fault_words, safe_line
from inspector.tui.drawing.styles import state_sign, state_style, state_text
from inspector.tui.layout import PANEL_BY_ID
from inspector.tui.log_view import LogView
from inspector.tui.messages import Place
from inspector.tui.panel import Payload, entry_payload, received_payload
from inspector.views.exchanges import Exchange
from inspector.views.mock import FaultMark
from inspector.views.persistent import Series
from inspector.views.timeline import TaskRow, Update
from inspector.wire.findings import Finding

SHORT_ID = 6
_TIME_WIDTH = 7
_STATE_WIDTH = 16
MOST_FINDINGS = 100
# How far back an update of the same exchange is looked for.
FARTHEST = 200


class TimelinePanel(BlockList):
    """Tasks with their updates; Space closes and opens a task."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "fold", "Open or close the task", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(wraps=False, id="timeline", empty="No task yet.")
        self.title = PANEL_BY_ID["timeline"].heading
        self.count: tuple[int, int] | None = None
        self._view = LogView()
        self._folded: set[int] = set()
        self._marks: Mapping[int, tuple[FaultMark, ...]] = {}
        self._tasks = TaskBlocks(
            heading=self._heading_block,
            row=self._row,
            marks=lambda task: len(self._marks.get(task.exchange, ())),
            is_closed=lambda task: task.exchange in self._folded,
        )
        self.source = self._tasks

    def show_view(self, view: LogView) -> None:
        tasks = view.passing.tasks
        self._view = view
        self.count = (len(tasks), len(view.tasks)) if view.is_filtered else None
        self._take_marks(view.mock.marks)
        self.refill(lambda: self._tasks.take(tasks))
        self.mark(view.place)

    def shows_trouble_at(self, place: Place) -> bool:
        return self.source.index_of(place) is not None

    def pointed_exchange(self) -> Exchange | None:
        return self._view.turn_exchange

    def payload(self) -> Payload | None:
        return entry_payload(self._view)

    def saved(self) -> Payload | None:
        return received_payload(self._view.exchange)

    def _take_marks(self, marks: Mapping[int, tuple[FaultMark, ...]]) -> None:
        """Draw which faults of a mock were armed for, or hit, which turns."""
        before, self._marks = self._marks, marks
        if marks is not before:
            for exchange in [key for key, mark in marks.items() if before.get(key) != mark]:
                self.refill(lambda exchange=exchange: self._tasks.touch(exchange))

    def action_fold(self) -> None:
        if not len(self.source):
            return
        heading = self._tasks.heading_of(self.cursor)
        place = self.source[heading].place
        if place is not None:
            self._folded ^= {place.exchange}
            self.refill(lambda: self._tasks.touch(place.exchange))
            self.cursor = heading

    def _heading_block(self, task: TaskRow) -> Block:
        lines = self._heading(task, task.exchange in self._folded)
        return Block(Place(task.exchange, 0), lines, f"task {task.exchange}")

    def _heading(self, task: TaskRow, is_closed: bool) -> tuple[Line, ...]:
        fold = styles.CLOSED if is_closed else styles.OPENED
        name = safe_line(task.task_id or "")[:SHORT_ID] or "·" * SHORT_ID
        text = Content.assemble(
            (f"{fold} ", styles.DIM), (f"{name}  ", styles.ACCENT), (safe_line(task.title), "bold")
        )
        elapsed = "…" if task.elapsed_ms is None else duration(task.elapsed_ms)
        tail = [(elapsed, styles.DIM)]
        if task.state is not None:
            tail.append((f" {state_sign(task.state)}", state_style(task.state)))
        marks = self._marks.get(task.exchange, ())
        return (Line(text, tail=Content.assemble(*tail)), *map(self._mark, marks))

    def _mark(self, mark: FaultMark) -> Line:
        event = "hit" if mark.has_hit else "armed"
        text = f"{styles.WARNING} fault {event}: {fault_words(mark.fault)}"
        return Line(Content.styled(text, styles.WARN), 2)

    def _row(self, task: TaskRow, update: Update) -> Block:
        when = duration(update.at_ms - task.started_ms).rjust(_TIME_WIDTH)
        final = f" {styles.FINAL}" if update.is_final else ""
        first = Content.assemble(
            (f"{when}  ", styles.DIM), self._event(update), (final, "bold"), *_words(update)
        )
        lines = [Line(first, 1, Content.styled(_lane(update), styles.DIM))]
        lines += finding_lines(update.findings, _TIME_WIDTH + 3)
        return Block(Place(update.exchange, update.seq), tuple(lines))

    def _event(self, update: Update) -> Content:
        """Return the state, or what came in its stead: a chunk of an artifact, an error."""
        if update.kind == "artifact-update":
            return Content.assemble((f"{styles.ARTIFACT} ", styles.ACCENT), _said(update))
        if update.state is None:
            style = styles.BAD if update.kind == "error" else styles.PLAIN
            sign = styles.FAILED if update.kind == "error" else "·"
            what = f"{sign} {safe_line(update.kind)}"
            return Content.assemble((what, style), ("  ", ""), _said(update))
        return state_text(update.state)


def finding_lines(findings: Sequence[Finding], indent: int) -> list[Line]:
    """Return a line for each finding; of many, for the first of them and for how many follow."""
    lines = [finding_line(finding, indent) for finding in findings[:MOST_FINDINGS]]
    if (more := len(findings) - MOST_FINDINGS) > 0:
        lines.append(Line(Content.styled(f"… {more:,} more findings", styles.DIM), indent))
    return lines


def finding_line(finding: Finding, indent: int) -> Line:
    text = f"{styles.WARNING} {safe_line(finding.message)}"
    styled = Content.styled(text, styles.SEVERITIES[finding.severity])
    return Line(styled, indent, Content.styled(finding.section, styles.DIM))


def _said(update: Update) -> str:
    return safe_line(update.text)


def _words(update: Update) -> list[tuple[str, str]]:
    """Return what was said along with a state, for where there is room."""
    return [(f"  {_said(update)}", styles.DIM)] if update.state is not None and update.text else []


def _lane(update: Update) -> str:
    times = f"\N{MULTIPLICATION SIGN}{update.attempts} " if update.attempts > 1 else ""
    return times + update.channel.value


@dataclass(slots=True)
class TaskLayout:
    """How a task is laid out: the lines of its heading, and of its updates unless it is closed."""

    row: TaskRow
    heading: int
    is_closed: bool
    updates: Heights

    @property
    def blocks(self) -> int:
        return 1 if self.is_closed else 1 + len(self.row.updates)

    @property
    def lines(self) -> int:
        return self.heading + (0 if self.is_closed else self.updates.top(len(self.updates)))


class TaskBlocks:
    """A heading for each task and its updates below; `marks` says how many lines come with it.

    An update takes a line, and one for each finding: nothing is drawn to know that.
    """

    def __init__(
        self,
        *,
        heading: Callable[[TaskRow], Block],
        row: Callable[[TaskRow, Update], Block],
        marks: Callable[[TaskRow], int],
        is_closed: Callable[[TaskRow], bool],
    ) -> None:
        self._draw_heading = heading
        self._draw_row = row
        self._marks = marks
        self._is_closed = is_closed
        self._width = 8
        self._rows: Series[TaskRow] = Series()
        self._tasks: list[TaskLayout] = []
        # for each task how many blocks it has, and how many lines
        self._blocks = Heights()
        self._lines = Heights()
        # by exchange, the row that it updated; by row, where it stands
        self._row_of: dict[int, int] = {}
        self._places: dict[int, int] = {}
        self._headings: BlockCache[TaskRow] = BlockCache()
        self._updates: BlockCache[Update] = BlockCache()
        self._drawn: dict[int, tuple[Block, Sequence[Content]]] = {}

    def __len__(self) -> int:
        return self._blocks.top(len(self._tasks))

    def __getitem__(self, index: int) -> Block:
        task, offset = self._find(index + len(self) if index < 0 else index)
        row = task.row
        if offset == 0:
            return self._headings.block((row.exchange, 0), row, self._draw_heading)
        return self._updates.block(
            (row.exchange, offset), row.updates[offset - 1], lambda one: self._draw_row(row, one)
        )

    def take(self, rows: Series[TaskRow]) -> bool:
        """Hold `rows`, and return whether that is a change; costs what has changed."""
        changed = [*rows.changes(self._rows)]
        is_other = bool(changed) or len(rows) != len(self._rows)
        self._rows = rows
        del self._tasks[len(rows) :]
        for place in changed:
            known = self._tasks[place] if place < len(self._tasks) else None
            self._tasks[place : place + 1] = [self._laid_out(place, rows[place], known)]
        for heights in (self._blocks, self._lines):
            heights.resize(len(rows))
        for place in changed:
            self._measure(place)
        return is_other

    def lay_out(self, width: int) -> None:
        self._width = width
        self._drawn.clear()

    def measure(self, index: int, above: int, below: int) -> None:
        """Every height is known."""

    def top(self, index: int) -> int:
        if index >= len(self):
            return self._lines.top(len(self._tasks))
        place = self._blocks.at(index)
        task, offset = self._tasks[place], index - self._blocks.top(place)
        return self._lines.top(place) + (offset and task.heading + task.updates.top(offset - 1))

    def at(self, line: int) -> int:
        place = self._lines.at(line)
        below = line - self._lines.top(place) - self._tasks[place].heading
        if below < 0:
            return self._blocks.top(place)
        return min(
            self._blocks.top(place) + 1 + self._tasks[place].updates.at(below), len(self) - 1
        )

    def index_of(self, place: Place) -> int | None:
        """Return the update, else the one before it in its exchange, else the task's heading."""
        row = self._row_of.get(place.exchange, place.exchange)
        found = self._places.get(row)
        if found is None or found >= len(self._tasks) or self._tasks[found].row.exchange != row:
            return None
        start, task = self._blocks.top(found), self._tasks[found]
        if task.is_closed:
            return start
        updates = task.row.updates
        after = bisect_right(updates, place.seq, key=lambda update: update.seq)
        for index in range(after - 1, max(-1, after - 1 - FARTHEST), -1):
            if updates[index].exchange == place.exchange:
                return start + 1 + index
        return start

    def lines(self, index: int) -> Sequence[Content]:
        block, known = self[index], self._drawn.get(index)
        if known is not None and known[0] is block:
            return known[1]
        if len(self._drawn) >= MOST_KEPT:
            self._drawn.clear()
        drawn = [lay_out(line, self._width, wraps=False)[0] for line in block.lines]
        self._drawn[index] = (block, drawn)
        return drawn

    def touch(self, exchange: int) -> bool:
        """Lay out and draw again the task that an exchange began; return whether it is here."""
        place = self._places.get(exchange)
        if place is None or place >= len(self._tasks):
            return False
        task = self._tasks[place]
        task.heading, task.is_closed = 1 + self._marks(task.row), self._is_closed(task.row)
        self._headings.clear()
        self._measure(place)
        return True

    def heading_of(self, index: int) -> int:
        """Return the heading of the task that a block belongs to."""
        return self._blocks.top(self._blocks.at(index))

    def _find(self, index: int) -> tuple[TaskLayout, int]:
        """Return the task of a block, and which block of the task it is; its heading is 0."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        place = self._blocks.at(index)
        return self._tasks[place], index - self._blocks.top(place)

    def _measure(self, place: int) -> None:
        self._blocks.set(place, self._tasks[place].blocks)
        self._lines.set(place, self._tasks[place].lines)

    def _laid_out(self, place: int, row: TaskRow, known: TaskLayout | None) -> TaskLayout:
        """Return how `row` is laid out; of one that is known only what changed is looked at."""
        is_known = known is not None and known.row.exchange == row.exchange
        heights, before = Heights(), Series[Update]()
        if known is not None and is_known:
            heights, before = known.updates, known.row.updates
        self._places[row.exchange] = place
        heights.resize(len(row.updates))
        for index in row.updates.changes(before):
            update = row.updates[index]
            heights.set(index, 1 + min(len(update.findings), MOST_FINDINGS + 1))
            self._row_of[update.exchange] = row.exchange
        return TaskLayout(row, 1 + self._marks(row), self._is_closed(row), heights)
