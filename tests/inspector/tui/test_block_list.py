"""The list of blocks: what it lays out, where it stays, what it marks."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from itertools import accumulate
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.content import Content

from inspector.tui.conversation_panel import ConversationPanel
from inspector.tui.drawing.block_list import (
    Block,
    BlockList,
    Heights,
    ItemBlocks,
    Line,
    lay_out,
)
from inspector.tui.drawing.themes import DARK
from inspector.tui.log_view import LogView
from inspector.tui.messages import Place
from inspector.views.chat import Chat, ChatMessage
from inspector.views.log_views import Views
from inspector.views.persistent import Series

Until: TypeAlias = Callable[..., Awaitable[None]]


def block(number: int, text: str = "") -> Block:
    return Block(Place(1, number), (Line(Content(text or f"line {number}")),))


class ListApp(App[None]):
    def compose(self) -> ComposeResult:
        yield BlockList(wraps=True, id="list")


@given(
    st.text(st.characters(blacklist_categories=["Cc", "Cs"])),
    st.integers(10, 60),
    st.integers(0, 9),
)
def test_no_line_is_wider_than_the_list(text: str, width: int, hang: int) -> None:
    for wraps in (True, False):
        for tail in (None, Content("tail")):
            line = Line(Content(text), 2, tail, hang)
            assert all(drawn.cell_length <= width for drawn in lay_out(line, width, wraps))


@pytest.mark.req("TUI-5")
@pytest.mark.parametrize("wraps", [True, False])
def test_a_terminal_obeys_nothing_of_what_is_drawn(wraps: bool) -> None:
    line = Line(Content.styled("a\x1b[2J\x9b5n\u202eb\ud800", "bold"))
    (drawn,) = lay_out(line, 40, wraps)
    assert drawn.plain.rstrip() == "a�[2J�5n�b�"
    assert drawn.spans


def test_long_line_goes_on_below_what_follows_its_label() -> None:
    line = Line(Content("likely: the server crashed"), 2, hang=8)
    drawn = [text.plain.rstrip() for text in lay_out(line, 21, True)]
    assert drawn == ["  likely: the server", "          crashed"]


@given(st.text(st.sampled_from("ab -\t\n\u3000\u00a0字"), max_size=30), st.integers(10, 60))
def test_a_line_is_laid_out_as_wrapping_would(text: str, width: int) -> None:
    content = Content(text)
    wrapped = [line.plain for line in content.wrap(width)]
    assert [line.plain for line in lay_out(Line(content), width, True)] == wrapped


@given(st.lists(st.integers(1, 30), unique=True).map(sorted), st.integers(0, 31))
def test_nearest_is_the_last_block_not_after_the_place(numbers: list[int], seq: int) -> None:
    items = ItemBlocks[Block](lambda one: one, lambda one: one.place)
    items.take([block(number) for number in numbers])
    before = [number for number in numbers if number <= seq]
    expected = (len(before) - 1 if before else 0) if numbers else None
    assert items.index_of(Place(1, seq)) == expected
    assert items.index_of(Place(2, seq)) is None


@given(st.lists(st.integers()), st.lists(st.integers()))
def test_blocks_of_what_stayed_are_not_drawn_again(first: list[int], more: list[int]) -> None:
    items = ItemBlocks[object](lambda _: block(1), lambda _: None)
    values = [object() for _ in first]
    items.take(values)
    before = [items[index] for index in range(len(items))]
    items.take([*values, *more])
    assert all(items[index] is one for index, one in enumerate(before))
    assert len(items) == len(values) + len(more)


@pytest.mark.anyio
@pytest.mark.req("TIME-2")
async def test_list_follows_only_while_the_cursor_is_at_its_end() -> None:
    async with ListApp().run_test(size=(40, 10)) as pilot:
        blocks_list = pilot.app.query_one(BlockList)
        blocks = [block(number) for number in range(50)]
        blocks_list.show(blocks)
        await pilot.pause()
        assert blocks_list.scroll_offset.y == 40
        blocks_list.focus()
        await pilot.press("home")
        blocks_list.show([*blocks, block(50), block(51)])
        await pilot.pause()
        assert blocks_list.scroll_offset.y == 0
        assert "2 new" in str(blocks_list.border_subtitle)
        await pilot.press("end")
        assert blocks_list.is_at_end
        assert not blocks_list.border_subtitle


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9) | st.none()), max_size=40),
    st.integers(1, 5),
)
def test_heights_add_up_whatever_is_measured(
    steps: list[tuple[int, int | None]], guess: int
) -> None:
    heights, model = Heights(guess), list[int | None]()
    for place, lines in steps:
        if place >= len(model) or lines is None:
            heights.resize(place)
            model = [*model[:place], *[None] * (place - len(model))]
        else:
            heights.set(place, lines)
            model[place] = lines
    taken = [guess if lines is None else lines for lines in model]
    assert [heights[index] for index in range(len(heights))] == model
    assert [heights.top(index) for index in range(len(model) + 1)] == [0, *accumulate(taken)]
    owners = [index for index, lines in enumerate(taken) for _ in range(lines)]
    assert [heights.at(line) for line in range(len(owners))] == owners
    assert not model or heights.at(len(owners)) == len(model) - 1


def in_sight(blocks_list: BlockList) -> list[str]:
    """Return what is drawn, line by line, without what marks the cursor."""
    strips = [blocks_list.render_line(y) for y in range(blocks_list.size.height)]
    return ["".join(segment.text for segment in strip)[1:].strip() for strip in strips]


@pytest.mark.anyio
@pytest.mark.req("TIME-2")
async def test_nothing_jumps_when_blocks_are_higher_than_they_were_taken_for(until: Until) -> None:
    async with ListApp().run_test(size=(40, 10)) as pilot:
        blocks_list = pilot.app.query_one(BlockList)
        heights = [1 + number * 7 % 12 for number in range(1000)]
        lines = [
            [f"{number}.{line}" for line in range(height)] for number, height in enumerate(heights)
        ]
        blocks_list.show([block(number, "\n".join(one)) for number, one in enumerate(lines)])
        await pilot.pause()
        drawn = [line for one in lines for line in one]
        first = len(drawn) - 10
        for _ in range(40):
            assert in_sight(blocks_list) == drawn[first : first + 10]
            blocks_list.scroll_relative(y=-3, animate=False, immediate=True)
            first -= 3
        blocks_list.focus()
        await pilot.press("home")
        assert in_sight(blocks_list) == drawn[:10]
        blocks_list.mark(Place(1, 500))
        assert "500.0" in in_sight(blocks_list)
        at = drawn.index(in_sight(blocks_list)[0])
        await pilot.resize_terminal(40, 20)
        await until(pilot, lambda: blocks_list.size.height == 20)
        assert in_sight(blocks_list) == drawn[at : at + 20]


@pytest.mark.anyio
async def test_click_brings_the_cursor_to_a_block() -> None:
    async with ListApp().run_test(size=(40, 10)) as pilot:
        blocks_list = pilot.app.query_one(BlockList)
        blocks_list.show([block(1, "one\ntwo"), block(2), block(3)])
        await pilot.pause()
        await pilot.click(BlockList, offset=(3, 2))
        assert blocks_list.cursor == 1


@pytest.mark.anyio
@pytest.mark.req("TIME-2")
async def test_a_hundred_thousand_blocks_scroll() -> None:
    """Only the lines in sight are drawn, so the end comes as fast as the beginning."""
    async with ListApp().run_test(size=(40, 10)) as pilot:
        blocks_list = pilot.app.query_one(BlockList)
        items = ItemBlocks[int](block, lambda number: Place(1, number))
        blocks_list.source = items
        blocks_list.relay()
        blocks_list.refill(lambda: items.take(Series(range(100_000))))
        blocks_list.focus()
        await pilot.press("home", "end", "pageup", "pageup")
        drawn = "".join(segment.text for segment in blocks_list.render_line(0))
        assert drawn.strip("▌ ") == "line 99981"


@pytest.mark.anyio
@pytest.mark.req("TIME-2")
async def test_of_a_long_conversation_a_few_pages_are_drawn() -> None:
    """Every message is reached: by moving on, by its place, and by the keys for both ends."""
    chat = Series(
        ChatMessage(number, 0, number, "you", f"message {number}") for number in range(1, 5001)
    )

    class ChatApp(App[None]):
        def on_mount(self) -> None:
            self.register_theme(DARK)
            self.theme = DARK.name

        def compose(self) -> ComposeResult:
            yield ConversationPanel(datetime(2026, 11, 21))

    def view_of(chat: Series[ChatMessage]) -> LogView:
        return LogView().with_views(Views(chat=Chat(said=chat)))

    def text() -> str:
        assert conversation.current is not None
        return conversation.current.plain

    async with ChatApp().run_test(size=(60, 20)) as pilot:
        conversation = pilot.app.query_one(ConversationPanel)
        conversation.show_view(view_of(chat))
        conversation.focus()
        await pilot.pause()
        assert "message 5000" in text()
        assert len(conversation.source) == 5000
        assert conversation.virtual_size.height < 5 * len(chat)
        conversation.mark(Place(2000, 2000))
        assert "message 2000" in text()
        await pilot.press("home")
        assert "message 1" in text()
        for _ in range(800):
            conversation.action_move(1)
        assert "message 801" in text()
        for _ in range(700):
            conversation.action_move(-1)
        assert "message 101" in text()
        await pilot.press("end")
        assert "message 5000" in text()
        newest = ChatMessage(5001, 0, 5001, "you", "the newest")
        conversation.show_view(view_of(chat.append(newest)))
        assert "the newest" in text()
