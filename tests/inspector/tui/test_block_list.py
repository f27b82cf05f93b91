"""The list of blocks: what it lays out, where it stays, what it marks."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.content import Content

from inspector.tui.conversation_panel import ConversationPanel
from inspector.tui.drawing.block_list import (
    Block,
    BlockList,
    Drawn,
    Line,
    ListPile,
    lay_out,
    nearest,
    redraw,
)
from inspector.tui.drawing.styles import DARK
from inspector.tui.messages import Place
from inspector.views.chat import Said
from inspector.views.persistent import Series


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
    blocks = [block(number) for number in numbers]
    index = nearest(blocks, Place(1, seq))
    before = [number for number in numbers if number <= seq]
    expected = (len(before) - 1 if before else 0) if numbers else None
    assert index == expected
    assert nearest(blocks, Place(2, seq)) is None


@given(st.lists(st.integers()), st.lists(st.integers()))
def test_redraw_keeps_the_blocks_of_what_stayed(first: list[int], more: list[int]) -> None:
    items = [object() for _ in first]
    before: Drawn[object] = redraw(Drawn(), items, lambda _: block(1))
    after = redraw(before, [*items, *more], lambda _: block(2))
    assert after.blocks[: len(items)] == before.blocks
    assert len(after.blocks) == len(items) + len(more)


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
        pile = ListPile[int](block, lambda number: number)
        blocks_list.pile = pile
        blocks_list.relay()
        blocks_list.refill(lambda: pile.take(Series(range(100_000))))
        blocks_list.focus()
        await pilot.press("home", "end", "pageup", "pageup")
        drawn = "".join(segment.text for segment in blocks_list.render_line(0))
        assert drawn.strip("▌ ") == "line 99981"


@pytest.mark.anyio
@pytest.mark.req("TIME-2")
async def test_a_long_conversation_is_shown_a_few_pages_at_a_time() -> None:
    """Every message is reached: by moving on, by its place, and by the keys for both ends."""
    chat = Series(Said(number, 0, number, "you", f"message {number}") for number in range(1, 5001))

    class ChatApp(App[None]):
        def on_mount(self) -> None:
            self.register_theme(DARK)
            self.theme = DARK.name

        def compose(self) -> ComposeResult:
            yield ConversationPanel(datetime(2026, 11, 21))

    def text() -> str:
        assert conversation.current is not None
        return conversation.current.plain

    async with ChatApp().run_test(size=(60, 20)) as pilot:
        conversation = pilot.app.query_one(ConversationPanel)
        conversation.show_chat(chat, None)
        conversation.focus()
        await pilot.pause()
        assert "message 5000" in text()
        assert len(conversation.pile) < 1000
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
        conversation.show_chat(chat.append(Said(5001, 0, 5001, "you", "the newest")), None)
        assert "the newest" in text()
