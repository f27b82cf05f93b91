"""What strangers send is drawn as text and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.tui.data_panel import file_title
from inspector.tui.drawing.json_lines import DEEPEST, MOST_BYTES, WIDEST, body_lines, tree
from inspector.tui.drawing.safe_text import MOST_CHARACTERS, duration, safe, safe_line, size
from inspector.tui.drawing.styles import STATE_SIGNS, state_name, state_sign
from inspector.tui.drawing.themes import to_ascii
from inspector.wire.dialect import File
from inspector.wire.json_values import Json


@pytest.mark.req("TUI-5")
@given(st.text(st.characters()))
def test_safe_text_can_be_written_to_any_terminal(text: str) -> None:
    drawn = safe(text)
    assert all(letter == "\n" or letter.isprintable() or ord(letter) > 0x9F for letter in drawn)
    drawn.encode()


@pytest.mark.req("TUI-5")
@pytest.mark.parametrize(
    ("hostile", "drawn"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]52;c;cHduZWQ=\x1b\\copied", "copied"),
        ("a\tb", "a    b"),
        ("[bold]markup[/bold]", "[bold]markup[/bold]"),
        ("\udc80", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_safe_text_of(hostile: str, drawn: str) -> None:
    assert safe(hostile) == drawn


def test_endless_text_is_cut_and_says_so() -> None:
    assert safe("x" * (MOST_CHARACTERS + 5)).endswith("… 5 characters more")
    assert "\n" not in safe_line("a\nb")


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0 ms"), (12.4, "12 ms"), (1240, "1.24 s"), (61_000, "1 m 01 s")],
)
def test_duration(ms: float, text: str) -> None:
    assert duration(ms) == text


@pytest.mark.parametrize(
    ("size_bytes", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2_000_000, "2.0 MB")]
)
def test_size(size_bytes: int, text: str) -> None:
    assert size(size_bytes) == text


@pytest.mark.req("DATA-2")
def test_file_without_name_and_type_has_words_for_them() -> None:
    assert file_title(File(None, None, uri="https://x/a")).plain.endswith("unnamed  type unknown")
    assert file_title(File("c", None)).plain.endswith("c  type unknown")


@pytest.mark.parametrize("state", ["input-required", "input_required", "TASK_STATE_INPUT_REQUIRED"])
def test_state_is_one_in_every_spelling(state: str) -> None:
    assert state_name(state) == "input-required"
    assert state_sign(state) == "◐"
    assert to_ascii(state_sign(state)) == ">"


def test_unknown_state_keeps_its_name() -> None:
    assert state_name("on-fire") == "on-fire"
    assert state_sign("on-fire") == "?"


def test_signs_of_states_differ_within_a_set() -> None:
    signs = list(STATE_SIGNS.values())
    for drawn in (signs, [to_ascii(sign) for sign in signs]):
        assert len(set(drawn)) == len(drawn)


def lines_of(value: Json, toggled: frozenset[str] = frozenset()) -> list[str]:
    found = tree("root", value, path="root", toggled=toggled)
    return ["  " * line.depth + line.text.plain for line in found]


@pytest.mark.req("DATA-1")
def test_tree_opens_every_branch_but_the_toggled() -> None:
    value: Json = {"a": {"b": [1, None]}, "c": "text"}
    assert lines_of(value) == [
        "▾ root {2}",
        "  ▾ a {1}",
        "    ▾ b [2]",
        "        0  1",
        "        1  null",
        '    c  "text"',
    ]
    assert lines_of(value, frozenset({"root/a"})) == ["▾ root {2}", "  ▸ a {1}", '    c  "text"']


@pytest.mark.req("CONN-5")
def test_deep_and_wide_trees_are_told_not_drawn() -> None:
    deep: Json = "end"
    for _ in range(DEEPEST * 2):
        deep = [deep]
    assert len(lines_of(deep)) == DEEPEST + 1
    wide: Json = list(range(WIDEST + 7))
    assert lines_of(wide)[-1].strip() == "… 7 more"


@pytest.mark.req("WIRE-1")
@pytest.mark.parametrize(
    ("raw", "is_pretty", "lines"),
    [
        (b'{"a":1}', True, ["{", '  "a": 1', "}"]),
        (b'{"a":1}', False, ['{"a":1}']),
        (b'event: x\ndata: {"a":1}\n\n', True, ["event: x", "data: {", '  "a": 1', "}"]),
        (b'data: {"a":1}\n', False, ['data: {"a":1}', ""]),
        (b"\xff{", True, ["\\xff{"]),
        (b": ping\n\n", True, [": ping"]),
    ],
)
def test_body_lines(raw: bytes, is_pretty: bool, lines: list[str]) -> None:
    assert [line.plain for line in body_lines(raw, is_pretty=is_pretty)] == lines


def test_huge_body_is_shown_by_its_beginning() -> None:
    shown = [line.plain for line in body_lines(b"x" * (MOST_BYTES + 1500), is_pretty=True)]
    assert shown[-1] == "… 1.5 kB more"
