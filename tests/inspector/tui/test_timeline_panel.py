"""Blocks of the timeline: every block has its lines, every line its block, whatever changes."""

from itertools import accumulate, count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from inspector.core.entries import Channel
from inspector.tui.drawing.block_list import Block, BlockSource, ItemBlocks, Line
from inspector.tui.messages import Place
from inspector.tui.timeline_panel import TaskBlocks
from inspector.views.persistent import Series
from inspector.views.timeline import TaskRow, Update
from inspector.wire.findings import Finding, Severity

FINDING = Finding(Severity.HINT, "", "$", "odd")


def update(exchange: int, seq: int, findings: int) -> Update:
    return Update(exchange, seq, 0, 0, Channel.SSE, "task", None, False, "", (FINDING,) * findings)


def row(exchange: int, findings: list[int]) -> TaskRow:
    """A task whose updates have so many findings each, numbered within its exchange."""
    updates = Series(update(exchange, seq, many) for seq, many in enumerate(findings, 1))
    return TaskRow(exchange, None, None, None, str(exchange), 0, updates, None, None)


class Drawing:
    """Draws as the timeline does, and counts what it drew."""

    def __init__(self) -> None:
        self.drawn = 0
        self.closed: set[int] = set()
        self.marked: set[int] = set()
        self.blocks = TaskBlocks(
            heading=self.heading,
            row=self.row,
            marks=lambda task: int(task.exchange in self.marked),
            is_closed=lambda task: task.exchange in self.closed,
        )

    def heading(self, task: TaskRow) -> Block:
        self.drawn += 1
        lines = (Line(Content(task.title)),) * (1 + (task.exchange in self.marked))
        return Block(Place(task.exchange, 0), lines)

    def row(self, task: TaskRow, one: Update) -> Block:
        self.drawn += 1
        lines = (Line(Content(one.text)),) * (1 + len(one.findings))
        return Block(Place(one.exchange, one.seq), lines)

    def expected(self, rows: list[TaskRow]) -> list[Block]:
        return [
            block
            for task in rows
            for block in (
                self.heading(task),
                *(
                    []
                    if task.exchange in self.closed
                    else [self.row(task, u) for u in task.updates]
                ),
            )
        ]


def check(blocks: BlockSource, expected: list[Block]) -> None:
    """`blocks` is what laying out `expected` one below the other gives."""
    heights = [len(block.lines) for block in expected]
    tops = [0, *accumulate(heights)]
    assert len(blocks) == len(expected)
    assert [blocks[index].place for index in range(len(blocks))] == [one.place for one in expected]
    assert [blocks.top(index) for index in range(len(blocks) + 1)] == tops
    assert [len(blocks.lines(index)) for index in range(len(blocks))] == heights
    lines = [index for index, height in enumerate(heights) for _ in range(height)]
    assert [blocks.at(line) for line in range(tops[-1])] == lines
    for index, block in enumerate(expected):
        assert block.place is None or blocks.index_of(block.place) == index


findings = st.lists(st.integers(0, 2), max_size=6)
edits = st.lists(
    st.tuples(st.sampled_from(["row", "more", "set", "drop", "close", "mark"]), st.integers(0, 9)),
    max_size=20,
)


@given(st.lists(findings, max_size=5), edits)
def test_tasks_lie_one_below_the_other_whatever_changes(
    tasks: list[list[int]], steps: list[tuple[str, int]]
) -> None:
    drawing, fresh = Drawing(), count(100)
    rows = Series(row(exchange, many) for exchange, many in enumerate(tasks, 1))
    drawing.blocks.take(rows)
    for step, number in steps:
        place = number % len(rows) if len(rows) else 0
        if step == "row" or not len(rows):
            rows = rows.append(row(next(fresh), [number % 3]))
        elif step == "more":
            task = rows[place]
            more = task.updates.append(update(task.exchange, 1 + len(task.updates), number % 3))
            rows = rows.set(place, with_updates(task, more))
        elif step == "set" and len(rows[place].updates):
            task = rows[place]
            other = task.updates.set(0, update(task.exchange, 1, number % 3))
            rows = rows.set(place, with_updates(task, other))
        elif step == "drop":
            rows = Series([*rows[:place], *rows[place + 1 :]])
        elif step in ("close", "mark"):
            exchange = rows[place].exchange
            (drawing.closed if step == "close" else drawing.marked).__ixor__({exchange})
            drawing.blocks.touch(exchange)
        drawing.blocks.take(rows)
        check(drawing.blocks, drawing.expected(list(rows)))


def with_updates(task: TaskRow, updates: Series[Update]) -> TaskRow:
    return TaskRow(task.exchange, None, None, None, task.title, 0, updates, None, None)


@pytest.mark.req("TIME-2")
def test_only_what_is_looked_at_is_drawn() -> None:
    drawing = Drawing()
    rows = Series([row(1, [0] * 100_000)])
    drawing.blocks.take(rows)
    assert drawing.drawn == 0
    middle = drawing.blocks.at(50_000)
    assert drawing.blocks[middle].place == Place(1, 50_000)
    task = rows[0]
    rows = rows.set(0, with_updates(task, task.updates.append(update(1, 100_001, 0))))
    drawing.blocks.take(rows)
    assert drawing.blocks[middle] is drawing.blocks[middle]
    assert drawing.drawn == 1


def test_a_place_of_no_task_is_nowhere() -> None:
    drawing = Drawing()
    drawing.blocks.take(Series([row(1, [0, 0])]))
    assert drawing.blocks.index_of(Place(2, 1)) is None
    assert drawing.blocks.index_of(Place(1, 99)) == 2
    drawing.blocks.take(Series([row(3, [0])]))
    assert drawing.blocks.index_of(Place(1, 1)) is None
    assert not drawing.blocks.touch(9)


@given(st.lists(st.integers(1, 9), unique=True), st.lists(st.integers(10, 20), unique=True))
def test_a_list_has_a_line_for_each_item(items: list[int], others: list[int]) -> None:
    blocks = ItemBlocks[int](
        lambda one: Block(Place(one, 0), (Line(Content(str(one))),)), lambda one: Place(one, 0)
    )
    assert blocks.take(Series(items)) is bool(items)
    assert blocks.take(Series(items + others)) is bool(others)
    check(blocks, [Block(Place(one, 0), (Line(Content("")),)) for one in items + others])
    blocks.take(Series(items))
    assert [blocks.index_of(Place(one, 0)) for one in others] == [None] * len(others)
