"""What the app remembers of how it looked, and how it draws where letters are few."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from inspector.tui.config import LOOK_FILE, Look, read_look, write_look
from inspector.tui.drawing.themes import is_ascii_terminal, to_ascii
from inspector.tui.layout import LEAST, MOST, Layout, parse_layout
from inspector.wire.json_values import Json

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.req("TUI-1")
def test_what_was_remembered_is_read_back_by_its_user_alone(tmp_path: Path) -> None:
    look = Look("clear", Layout().resized("data", 2).without("timeline").resized("wire", -1))
    assert not write_look(tmp_path / "state", look)
    assert read_look(tmp_path / "state") == look
    assert stat.S_IMODE((tmp_path / "state" / LOOK_FILE).stat().st_mode) == 0o600


def test_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    assert write_look(tmp_path / "state", Look()).startswith("the layout is not remembered")


@pytest.mark.parametrize("written", ["", "[]", "{", '{"theme": 3, "layout": {"widths": 1}}'])
def test_file_that_makes_no_sense_is_none(tmp_path: Path, written: str) -> None:
    (tmp_path / LOOK_FILE).write_text(written)
    assert read_look(tmp_path) == Look()


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "widths": st.dictionaries(st.sampled_from(["data", "timeline"]), json_values)
            | json_values,
            "hidden": st.lists(st.sampled_from(["data", "timeline", "conversation"]) | json_values),
            "wire": json_values,
        },
    )
)
def test_layout_is_usable_whatever_was_written(written: dict[str, Json]) -> None:
    layout = parse_layout(written)
    assert layout.shown
    assert all(LEAST <= share <= MOST for share in (*layout.widths.values(), layout.wire))


def test_last_column_cannot_be_hidden() -> None:
    layout = Layout().without("data").without("timeline").without("conversation")
    assert layout.shown == ("conversation",)
    assert layout.with_shown("data").shown == ("conversation", "data")


@pytest.mark.req("TUI-1")
@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20))
def test_ascii_is_drawn_as_wide_as_what_it_stands_for(text: str) -> None:
    drawn = to_ascii(text)
    assert drawn.isascii()
    assert cell_len(drawn) == cell_len(text) or not text.isprintable()


@pytest.mark.parametrize(
    ("environment", "is_ascii"),
    [
        ({}, False),
        ({"LANG": "de_DE.UTF-8"}, False),
        ({"LANG": "C"}, True),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"}, True),
        ({"LANG": "C.utf8", "TERM": "linux"}, True),
    ],
)
def test_terminal_that_knows_no_other_letters(environment: dict[str, str], is_ascii: bool) -> None:
    assert is_ascii_terminal(environment) is is_ascii
