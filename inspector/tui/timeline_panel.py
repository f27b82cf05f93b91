"""Each turn's task: its states in order, when and by which way they came, and what was odd."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from inspector.tui.drawing import styles
from inspector.tui.drawing.block_list import Block, BlockList, Kept, Line, lay_out
from inspector.tui.drawing.safe_text import duration, fault_words, safe_line
from inspector.tui.drawing.styles import UNICODE, state_ink, state_name, state_sign
from inspector.tui.messages import Place
from inspector.views.mock import FaultMark
from inspector.views.persistent import Series
from inspector.views.timeline import TaskRow, Update
from inspector.wire.findings import Finding, Severity

SHORT_ID = 6
_TIME_WIDTH = 7
_STATE_WIDTH = 16
# How far back an update of the same exchange is looked for.
FARTHEST = 200


class TimelinePanel(BlockList):
    """Tasks with their updates; Space closes and opens a task."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "fold", "Open or close the task", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(wraps=False, id="timeline", empty="No task yet.")
        self.border_title = "2 Timeline"
        self.symbols = UNICODE
        self._folded: set[int] = set()
        self._marks: Mapping[int, tuple[FaultMark, ...]] = {}
        self._tasks = TaskPile(
            heading=self._heading_block,
            row=self._row,
            more=lambda task: len(self._marks.get(task.exchange, ())),
            is_closed=lambda task: task.exchange in self._folded,
        )
        self.pile = self._tasks

    def show_timeline(self, tasks: Series[TaskRow]) -> None:
        self.refill(lambda: self._tasks.take(tasks))

    def know_marks(self, marks: Mapping[int, tuple[FaultMark, ...]]) -> None:
        """Take which faults of a mock were armed for, or hit, which turns."""
        before, self._marks = self._marks, marks
        if marks is not before:
            for exchange in [key for key, mark in marks.items() if before.get(key) != mark]:
                self.refill(lambda exchange=exchange: self._tasks.touch(exchange))

    def redraw_all(self) -> None:
        self.refill(self._tasks.clear)

    def action_fold(self) -> None:
        if not len(self.pile):
            return
        heading = self._tasks.heading_of(self.cursor)
        place = self.pile[heading].place
        if place is not None:
            self._folded ^= {place.exchange}
            self.refill(lambda: self._tasks.touch(place.exchange))
            self.cursor = heading

    def _heading_block(self, task: TaskRow) -> Block:
        lines = self._heading(task, task.exchange in self._folded)
        return Block(Place(task.exchange, 0), lines, f"task {task.exchange}")

    def _heading(self, task: TaskRow, is_closed: bool) -> tuple[Line, ...]:
        fold = self.symbols.closed if is_closed else self.symbols.opened
        name = safe_line(task.task_id or "")[:SHORT_ID] or "·" * SHORT_ID
        text = Content.assemble(
            (f"{fold} ", styles.DIM), (f"{name}  ", styles.ACCENT), (safe_line(task.title), "bold")
        )
        elapsed = "…" if task.elapsed_ms is None else duration(task.elapsed_ms)
        tail = [(elapsed, styles.DIM)]
        if task.state is not None:
            tail.append((f" {state_sign(self.symbols, task.state)}", state_ink(task.state)))
        marks = self._marks.get(task.exchange, ())
        return (Line(text, tail=Content.assemble(*tail)), *map(self._mark, marks))

    def _mark(self, mark: FaultMark) -> Line:
        told = "hit" if mark.has_hit else "armed"
        text = f"{self.symbols.warning} fault {told}: {fault_words(mark.fault)}"
        return Line(Content.styled(text, styles.WARN), 2)

    def _row(self, task: TaskRow, update: Update) -> Block:
        when = duration(update.at_ms - task.started_ms).rjust(_TIME_WIDTH)
        final = f" {self.symbols.final}" if update.is_final else ""
        first = Content.assemble(
            (f"{when}  ", styles.DIM), self._event(update), (final, "bold"), *_words(update)
        )
        lines = [Line(first, 1, Content.styled(_lane(update), styles.DIM))]
        lines += [self._finding(finding) for finding in update.findings]
        return Block(Place(update.exchange, update.seq), tuple(lines))

    def _event(self, update: Update) -> Content:
        """Return the state, or what came in its stead: a chunk of an artifact, an error."""
        if update.kind == "artifact-update":
            return Content.assemble((f"{self.symbols.artifact} ", styles.ACCENT), _said(update))
        if update.state is None:
            style = styles.BAD if update.kind == "error" else styles.PLAIN
            sign = self.symbols.states["failed"] if update.kind == "error" else "·"
            return Content.assemble((f"{sign} {update.kind}", style), ("  ", ""), _said(update))
        sign, name = state_sign(self.symbols, update.state), state_name(update.state)
        return Content.styled(f"{sign} {name}", state_ink(update.state))

    def _finding(self, finding: Finding) -> Line:
        style = styles.BAD if finding.severity is Severity.ERROR else styles.WARN
        text = f"{self.symbols.warning} {safe_line(finding.message)}"
        return Line(
            Content.styled(text, style if finding.severity is not Severity.HINT else styles.DIM),
            _TIME_WIDTH + 3,
            Content.styled(finding.section, styles.DIM),
        )


def _said(update: Update) -> str:
    return safe_line(update.text)


def _words(update: Update) -> list[tuple[str, str]]:
    """Return what was said along with a state, for where there is room."""
    return [(f"  {_said(update)}", styles.DIM)] if update.state is not None and update.text else []


def _lane(update: Update) -> str:
    times = f"\N{MULTIPLICATION SIGN}{update.attempts} " if update.attempts > 1 else ""
    return times + update.channel.value


@dataclass(slots=True)
class Tall:
    """Updates of more than a line: their `places` among a task's, `sums` of the lines above one."""

    places: list[int] = field(default_factory=list[int])
    sums: list[int] = field(default_factory=list[int])

    def add(self, place: int, more: int) -> None:
        if more:
            self.places.append(place)
            self.sums.append(more + (self.sums[-1] if self.sums else 0))

    def before(self, place: int) -> int:
        """Return the lines that the updates before `place` take more."""
        count = bisect_left(self.places, place)
        return self.sums[count - 1] if count else 0

    def at(self, line: int) -> int:
        """Return the update that the `line` below the heading belongs to."""
        count = bisect_right(range(len(self.places)), line, key=self._first_line)
        if not count:
            return line
        place, more = self.places[count - 1], self.sums[count - 1]
        return max(place, line - more)

    def _first_line(self, index: int) -> int:
        return self.places[index] + (self.sums[index - 1] if index else 0)


@dataclass(slots=True)
class Shape:
    """How a task is laid out: the lines of its heading, and its updates unless it is closed."""

    row: TaskRow
    heading: int
    is_closed: bool
    tall: Tall

    @property
    def blocks(self) -> int:
        return 1 if self.is_closed else 1 + len(self.row.updates)

    @property
    def lines(self) -> int:
        if self.is_closed:
            return self.heading
        more = self.tall.sums[-1] if self.tall.sums else 0
        return self.heading + len(self.row.updates) + more


class TaskPile:
    """Tasks one below the other; `heading` and `row` draw, `more` says how many lines are marks."""

    def __init__(
        self,
        *,
        heading: Callable[[TaskRow], Block],
        row: Callable[[TaskRow, Update], Block],
        more: Callable[[TaskRow], int],
        is_closed: Callable[[TaskRow], bool],
    ) -> None:
        self._draw_heading = heading
        self._draw_row = row
        self._more = more
        self._is_closed = is_closed
        self._width = 8
        self._rows: Series[TaskRow] = Series()
        self._shapes: list[Shape] = []
        self._starts: list[int] = [0]
        self._tops: list[int] = [0]
        # the row that an exchange told of, and where the row of an exchange stands
        self._row_of: dict[int, int] = {}
        self._places: dict[int, int] = {}
        self._headings: Kept[TaskRow] = Kept()
        self._updates: Kept[Update] = Kept()

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, index: int) -> Block:
        index = index + len(self) if index < 0 else index
        if not 0 <= index < len(self):
            raise IndexError(index)
        place, offset = self._find(index)
        row = self._shapes[place].row
        if offset == 0:
            return self._headings.block((row.exchange, 0), row, self._draw_heading)
        update = row.updates[offset - 1]
        return self._updates.block(
            (row.exchange, offset), update, lambda one: self._draw_row(row, one)
        )

    def take(self, rows: Series[TaskRow]) -> bool:
        """Hold `rows`, and say whether they are others; costs what has changed."""
        changed = [*rows.changes(self._rows)]
        is_other = bool(changed) or len(rows) != len(self._rows)
        self._rows = rows
        del self._shapes[len(rows) :]
        first = len(self._shapes)
        for place in changed:
            known = self._shapes[place] if place < len(self._shapes) else None
            shape = self._shape(place, rows[place], known)
            if known is None:
                self._shapes.append(shape)
                continue
            self._shapes[place] = shape
            if (known.blocks, known.lines) != (shape.blocks, shape.lines):
                first = min(first, place)
        self._stack(first)
        return is_other

    def clear(self) -> bool:
        """Lay everything out and draw it anew; that is always other."""
        rows, self._rows, self._shapes = self._rows, Series[TaskRow](), []
        self._headings.clear()
        self._updates.clear()
        self.take(rows)
        return True

    def lay_out(self, width: int) -> None:
        self._width = width

    def top(self, index: int) -> int:
        if index >= len(self):
            return self._tops[-1]
        place, offset = self._find(index)
        if offset == 0:
            return self._tops[place]
        shape = self._shapes[place]
        return self._tops[place] + shape.heading + offset - 1 + shape.tall.before(offset - 1)

    def at(self, line: int) -> int:
        place = min(bisect_right(self._tops, line), len(self._shapes)) - 1
        below = line - self._tops[place] - self._shapes[place].heading
        if below < 0:
            return self._starts[place]
        return min(self._starts[place] + 1 + self._shapes[place].tall.at(below), len(self) - 1)

    def index_of(self, place: Place) -> int | None:
        """Return the update, else the one before it in its exchange, else the task's heading."""
        row = self._row_of.get(place.exchange, place.exchange)
        found = self._places.get(row)
        if found is None or found >= len(self._shapes):
            return None
        shape = self._shapes[found]
        if shape.row.exchange != row:
            return None
        start, updates = self._starts[found], shape.row.updates
        if shape.is_closed:
            return start
        after = bisect_right(updates, place.seq, key=lambda update: update.seq)
        for index in range(after - 1, max(-1, after - 1 - FARTHEST), -1):
            if updates[index].exchange == place.exchange:
                return start + 1 + index
        return start

    def lines(self, index: int) -> Sequence[Content]:
        return [lay_out(line, self._width, wraps=False)[0] for line in self[index].lines]

    def touch(self, exchange: int) -> bool:
        """Lay out and draw the task that an exchange began anew; say whether it is here."""
        place = self._places.get(exchange)
        if place is None or place >= len(self._shapes):
            return False
        shape = self._shapes[place]
        shape.heading, shape.is_closed = 1 + self._more(shape.row), self._is_closed(shape.row)
        self._headings.clear()
        self._stack(place)
        return True

    def heading_of(self, index: int) -> int:
        """Return the heading of the task that a block belongs to."""
        return self._starts[self._find(index)[0]]

    def _find(self, index: int) -> tuple[int, int]:
        place = bisect_right(self._starts, index) - 1
        return place, index - self._starts[place]

    def _shape(self, place: int, row: TaskRow, known: Shape | None) -> Shape:
        """Return how `row` is laid out; of one that is known only what came since is looked at."""
        self._places[row.exchange] = place
        tall, first = Tall(), 0
        if known is not None and _goes_on(known.row, row):
            tall, first = known.tall, len(known.row.updates)
        for index in range(first, len(row.updates)):
            update = row.updates[index]
            tall.add(index, len(update.findings))
            self._row_of[update.exchange] = row.exchange
        return Shape(row, 1 + self._more(row), self._is_closed(row), tall)

    def _stack(self, first: int) -> None:
        """Place the tasks from the one at `first` on."""
        del self._starts[first + 1 :]
        del self._tops[first + 1 :]
        for shape in self._shapes[first:]:
            self._starts.append(self._starts[-1] + shape.blocks)
            self._tops.append(self._tops[-1] + shape.lines)


def _goes_on(before: TaskRow, row: TaskRow) -> bool:
    """Say whether `row` is `before` with more updates, the others as tall as they were."""
    if before.exchange != row.exchange or len(row.updates) < len(before.updates):
        return False
    for index in row.updates.changes(before.updates):
        if index >= len(before.updates):
            return True
        if len(row.updates[index].findings) != len(before.updates[index].findings):
            return False
    return True
