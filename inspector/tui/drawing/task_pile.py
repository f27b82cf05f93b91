"""The timeline's lines: a heading for each task and its updates below, drawn when in sight.

What is kept of a task is how many updates it has and which of them take more than one line, so
that a hundred thousand updates are scrolled as easily as ten.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from textual.content import Content

from inspector.tui.drawing.block import Block, lay_out
from inspector.tui.drawing.pile import Kept
from inspector.tui.messages import Place
from inspector.views.persistent import Series
from inspector.views.timeline import TaskRow, Update

# How far back an update of the same exchange is looked for.
FARTHEST = 200


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
