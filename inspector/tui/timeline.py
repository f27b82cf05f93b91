"""Each turn's task: its states in order, when and by which way they came, and what was odd."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from inspector.core.entries import Channel
from inspector.tui import ink
from inspector.tui.block import Block, Line
from inspector.tui.block_list import BlockList
from inspector.tui.messages import Place
from inspector.tui.quantities import duration
from inspector.tui.redraw import Drawn, redraw
from inspector.tui.safe_text import safe_line
from inspector.tui.symbols import UNICODE, state_ink, state_name, state_sign
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
        self._tasks: Sequence[TaskRow] = ()
        self._drawn_tasks: dict[int, tuple[TaskRow, Drawn[Update], tuple[Block, ...]]] = {}
        self._folded: set[str] = set()

    def show_timeline(self, tasks: Sequence[TaskRow]) -> None:
        self._tasks = tasks
        self.show([block for task in tasks for block in self._blocks(task)])

    def redraw_all(self) -> None:
        self._drawn_tasks.clear()
        self.show_timeline(self._tasks)

    def action_fold(self) -> None:
        block = self.current
        if block is None:
            return
        name = block.name
        self._folded ^= {name}
        self._drawn_tasks.clear()
        self.show_timeline(self._tasks)
        heading = next(index for index, shown in enumerate(self.blocks) if shown.name == name)
        self.cursor = min(heading, len(self.blocks) - 1)

    def _blocks(self, task: TaskRow) -> tuple[Block, ...]:
        known = self._drawn_tasks.get(task.exchange)
        if known is not None and known[0] is task:
            return known[2]
        is_closed = _name(task) in self._folded
        drawn: Drawn[Update] = known[1] if known is not None else Drawn()
        drawn = Drawn() if is_closed else redraw(drawn, task.updates, lambda u: self._row(task, u))
        heading = Block(
            Place(task.exchange, 0), (self._heading(task, is_closed),), _name(task)
        )
        blocks = (heading, *drawn.blocks)
        self._drawn_tasks[task.exchange] = (task, drawn, blocks)
        return blocks

    def _heading(self, task: TaskRow, is_closed: bool) -> Line:
        fold = self.symbols.closed if is_closed else self.symbols.opened
        name = safe_line(task.task_id or "")[:SHORT_ID] or "·" * SHORT_ID
        text = Content.assemble(
            (f"{fold} ", ink.DIM), (f"{name}  ", ink.ACCENT), (safe_line(task.title), "bold")
        )
        elapsed = "…" if task.elapsed_ms is None else duration(task.elapsed_ms)
        tail = [(elapsed, ink.DIM)]
        if task.state is not None:
            tail.append((f" {state_sign(self.symbols, task.state)}", state_ink(task.state)))
        return Line(text, tail=Content.assemble(*tail))

    def _row(self, task: TaskRow, update: Update) -> Block:
        when = duration(update.at_ms - task.started_ms).rjust(_TIME_WIDTH)
        final = f" {self.symbols.final}" if update.is_final else ""
        first = Content.assemble((f"{when}  ", ink.DIM), self._event(update), (final, "bold"))
        lines = [Line(first, 1, Content.styled(_lane(update), ink.DIM))]
        lines += [self._finding(finding) for finding in update.findings]
        return Block(Place(update.exchange, update.seq), tuple(lines), _name(task))

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


def _name(task: TaskRow) -> str:
    return f"task {task.exchange}"


def _said(update: Update) -> str:
    return safe_line(update.text)


def _lane(update: Update) -> str:
    times = f"\N{MULTIPLICATION SIGN}{update.attempts} " if update.attempts > 1 else ""
    return times + update.channel.value.ljust(len(Channel.RESPONSE))
