"""Each turn's task: its states in order, when and by which way they came, and what was odd."""

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from inspector.tui.drawing import ink
from inspector.tui.drawing.block import Block, Line
from inspector.tui.drawing.block_list import BlockList
from inspector.tui.drawing.quantities import duration
from inspector.tui.drawing.safe_text import safe_line
from inspector.tui.drawing.symbols import UNICODE, state_ink, state_name, state_sign
from inspector.tui.drawing.task_pile import TaskPile
from inspector.tui.messages import Place
from inspector.tui.mocks.fault_words import fault_words
from inspector.views.mock import FaultMark
from inspector.views.persistent import Series
from inspector.views.timeline import TaskRow, Update
from inspector.wire.findings import Finding, Severity

SHORT_ID = 6
_TIME_WIDTH = 7
_STATE_WIDTH = 16


class Timeline(BlockList):
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
            (f"{fold} ", ink.DIM), (f"{name}  ", ink.ACCENT), (safe_line(task.title), "bold")
        )
        elapsed = "…" if task.elapsed_ms is None else duration(task.elapsed_ms)
        tail = [(elapsed, ink.DIM)]
        if task.state is not None:
            tail.append((f" {state_sign(self.symbols, task.state)}", state_ink(task.state)))
        marks = self._marks.get(task.exchange, ())
        return (Line(text, tail=Content.assemble(*tail)), *map(self._mark, marks))

    def _mark(self, mark: FaultMark) -> Line:
        told = "hit" if mark.has_hit else "armed"
        text = f"{self.symbols.warning} fault {told}: {fault_words(mark.fault)}"
        return Line(Content.styled(text, ink.WARN), 2)

    def _row(self, task: TaskRow, update: Update) -> Block:
        when = duration(update.at_ms - task.started_ms).rjust(_TIME_WIDTH)
        final = f" {self.symbols.final}" if update.is_final else ""
        first = Content.assemble(
            (f"{when}  ", ink.DIM), self._event(update), (final, "bold"), *_words(update)
        )
        lines = [Line(first, 1, Content.styled(_lane(update), ink.DIM))]
        lines += [self._finding(finding) for finding in update.findings]
        return Block(Place(update.exchange, update.seq), tuple(lines))

    def _event(self, update: Update) -> Content:
        """Return the state, or what came in its stead: a chunk of an artifact, an error."""
        if update.kind == "artifact-update":
            return Content.assemble((f"{self.symbols.artifact} ", ink.ACCENT), _said(update))
        if update.state is None:
            style = ink.BAD if update.kind == "error" else ink.PLAIN
            sign = self.symbols.states["failed"] if update.kind == "error" else "·"
            return Content.assemble((f"{sign} {update.kind}", style), ("  ", ""), _said(update))
        sign, name = state_sign(self.symbols, update.state), state_name(update.state)
        return Content.styled(f"{sign} {name}", state_ink(update.state))

    def _finding(self, finding: Finding) -> Line:
        style = ink.BAD if finding.severity is Severity.ERROR else ink.WARN
        text = f"{self.symbols.warning} {safe_line(finding.message)}"
        return Line(
            Content.styled(text, style if finding.severity is not Severity.HINT else ink.DIM),
            _TIME_WIDTH + 3,
            Content.styled(finding.section, ink.DIM),
        )


def _said(update: Update) -> str:
    return safe_line(update.text)


def _words(update: Update) -> list[tuple[str, str]]:
    """Return what was said along with a state, for where there is room."""
    return [(f"  {_said(update)}", ink.DIM)] if update.state is not None and update.text else []


def _lane(update: Update) -> str:
    times = f"\N{MULTIPLICATION SIGN}{update.attempts} " if update.attempts > 1 else ""
    return times + update.channel.value
