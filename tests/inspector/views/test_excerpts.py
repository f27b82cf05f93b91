"""Long texts: views keep their ends, and read the rest again."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.views.excerpts import MOST_CHARACTERS, MOST_SAID, Excerpt, start_of
from inspector.views.filtered import filter_timeline
from inspector.views.filters import Filter, parse_filter
from inspector.views.text import LONGEST_LINE, lines_of, plain

if TYPE_CHECKING:
    from tests.inspector.views.conftest import Script

LONG = MOST_SAID + 1000


@given(st.lists(st.text()), st.integers(1, 5))
def test_excerpt_is_of_the_text_however_it_is_cut(pieces: list[str], times: int) -> None:
    text = "".join(pieces) * times
    grown = Excerpt().extend(pieces * times)
    assert grown == Excerpt().extend([text])
    assert (grown.start, grown.end) == (text[:MOST_CHARACTERS], text[-MOST_CHARACTERS:])
    assert (grown.characters, bool(grown)) == (len(text), bool(text))
    assert grown.newest(3) == (text[-3:], len(text) <= 3)


def test_texts_that_differ_in_the_middle_are_two() -> None:
    long = "x" * 3 * MOST_CHARACTERS
    middle = len(long) // 2
    assert Excerpt().extend([long]) != Excerpt().extend([f"{long[:middle]}y{long[middle + 1 :]}"])


@pytest.mark.parametrize("size", [0, 1, MOST_CHARACTERS, MOST_CHARACTERS + 1, 5000])
def test_start_of_a_text_says_whether_it_is_all(size: int) -> None:
    text, is_whole = start_of(["a" * size, "b", "c"], "\n")
    whole = f"{'a' * size}\nb\nc"
    assert (text, is_whole) == (whole[:MOST_CHARACTERS], len(whole) <= MOST_CHARACTERS)


@given(st.text(alphabet="a \n\r\x1b\u2028é"), st.data())
def test_lines_are_those_of_the_whole_text(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    assert list(lines_of([text[:cut], text[cut:]])) == list(lines_of([text]))
    if "\x1b" not in text:
        assert list(lines_of([text])) == plain(text).splitlines()


def test_line_without_an_end_is_broken() -> None:
    lines = list(lines_of(["x" * 1000] * 200))
    assert "".join(lines) == "x" * 200_000
    assert max(map(len, lines)) <= LONGEST_LINE + 1000


@pytest.mark.req("TIME-1")
def test_views_hold_little_of_a_long_stream(script: "Script") -> None:
    script.send("x", stream=True).respond(media_type="text/event-stream")
    for number in range(20):
        script.event(script.chunk(f"{number:05}" * 1000, append=number > 0))
    script.event(script.update("completed", final=True)).end()
    whole = "".join(f"{number:05}" * 1000 for number in range(20))
    views = script.views
    updates = views.timeline.rows[0].updates
    assert max(len(one.text) for one in updates) == MOST_CHARACTERS
    assert [one.is_whole for one in updates] == [False] * 20 + [True]
    [artifact] = views.data.turns[0].artifacts.rows
    assert (artifact.pieces.characters, artifact.text) == (len(whole), whole)
    said = views.chat.said[-1]
    assert (said.text, said.more_characters) == (whole[:MOST_SAID], len(whole) - MOST_SAID)
    assert "".join(said.pieces()) == whole


def test_long_message_is_read_again_for_its_end(script: "Script") -> None:
    text = "word " * 10_000
    script.send("x").reply(script.task("completed", text))
    script.poll(script.task("completed", text))
    [said] = script.views.chat.said[1:]
    assert (len(said.text), said.more_characters) == (MOST_SAID, len(text) - MOST_SAID)
    assert "".join(said.pieces()) == text


def test_same_long_artifact_by_two_channels_is_one(script: "Script") -> None:
    script.send("x", stream=True).event(script.chunk("ab" * LONG, append=False))
    script.event(script.chunk("cd" * LONG)).end()
    text = "ab" * LONG + "cd" * LONG
    whole = {"artifactId": "a", "parts": [{"kind": "text", "text": text}]}
    script.poll(script.task("completed", artifacts=[whole]))
    [row] = script.views.data.turns[0].artifacts.rows
    assert (row.chunks, row.text) == (2, text)


def test_filter_finds_what_an_update_holds_in_its_bytes_only(script: "Script") -> None:
    script.send("x", stream=True).event(script.update("working", f"{'y' * 5000} needle"))
    script.event(script.update("completed", "short", final=True)).end()
    script.push(script.task("completed", f"{'y' * 5000} needle"))
    filter_ = parse_filter("needle")
    assert isinstance(filter_, Filter)
    views = script.views
    found = filter_timeline(None, filter_, views.timeline, views.exchanges)
    [row] = found.items
    assert [one.state for one in row.updates] == ["working", "completed"]
