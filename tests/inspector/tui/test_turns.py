"""How the next turn is put together, foretold and written as a command line."""

import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.commands import Also, FollowMode, SlotShape, Turn
from inspector.core.entries import Purpose
from inspector.core.requests import read_part
from inspector.headless.options import SendOptions, read_options
from inspector.headless.send import read_turn
from inspector.tui.composing.drawer import preview
from inspector.tui.composing.options import TurnOptions, options_line
from inspector.tui.composing.pairs_table import BadValue, ValueKind, parse_value
from inspector.tui.copying import send_command, task_command
from inspector.tui.keys import KEYS, bindings, shown
from inspector.views.persistent import Index
from inspector.views.waiting import NewestTask, Waiting
from inspector.wire.dialect import File, Part
from inspector.wire.json_values import Json


@pytest.mark.req("COMP-1a")
@pytest.mark.parametrize(
    ("typed", "kind", "value"),
    [
        ("50", ValueKind.AUTO, 50),
        ("true", ValueKind.AUTO, True),
        ("null", ValueKind.AUTO, None),
        ("Joe", ValueKind.AUTO, "Joe"),
        ('"50"', ValueKind.AUTO, "50"),
        ('{"a": 1}', ValueKind.AUTO, {"a": 1}),
        ("50", ValueKind.TEXT, "50"),
        ("anything", ValueKind.NULL, None),
        ("5e1", ValueKind.NUMBER, 50.0),
        ("[1]", ValueKind.JSON, [1]),
    ],
)
def test_value_is_guessed_and_settable(typed: str, kind: ValueKind, value: Json) -> None:
    assert parse_value(typed, kind) == value


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("Joe", ValueKind.NUMBER),
        ("true", ValueKind.NUMBER),
        ("1", ValueKind.BOOLEAN),
        ("x", "json"),
    ],
)
def test_value_of_another_type_is_refused(typed: str, kind: str) -> None:
    with pytest.raises(BadValue):
        parse_value(typed, ValueKind(kind))


def lines_of(turn: Turn) -> dict[str, str]:
    """Return the preview of `turn` by label; lines without one are joined to the one before."""
    lines: dict[str, str] = {}
    for line in preview(turn).plain.splitlines():
        label = line[:18].strip() or list(lines)[-1]
        lines[label] = f"{lines[label]} | {line[18:]}" if label in lines else line[18:]
    return lines


@pytest.mark.req("COMP-1", "SLOT-1")
@pytest.mark.parametrize(
    ("shapes", "text", "told"),
    [
        ((SlotShape.METADATA,), "hi", "a by message.metadata"),
        (
            (SlotShape.METADATA, SlotShape.DATA),
            "",
            "a by a DataPart, over the same in message.metadata",
        ),
        (
            (SlotShape.REQUEST,),
            'SLOTS: {"a": 2}',
            "a by params.metadata, over 2 in a SLOTS: line",
        ),
        (
            (SlotShape.LINE,),
            'x\n```json\n{"b": 3}\n```',
            "a 1 by a SLOTS: line | b 3 by a fenced block",
        ),
    ],
)
def test_winner_follows_the_precedence(shapes: tuple[SlotShape, ...], text: str, told: str) -> None:
    lines = lines_of(Turn(text, slots={"a": 1}, slot_shapes=shapes))
    assert lines["wins"] == told


@pytest.mark.req("COMP-1", "SLOT-4")
def test_preview_tells_what_text_is_left() -> None:
    assert lines_of(Turn('send\nSLOTS: {"a": 1}'))["agent reads"] == "send"
    slots_alone = Turn("", slots={"a": 1}, slot_shapes=(SlotShape.LINE,))
    assert lines_of(slots_alone)["agent reads"] == "no text: slots alone"


@pytest.mark.req("COMP-1a")
def test_preview_shows_each_place_as_it_goes_out() -> None:
    turn = Turn(
        "hi",
        slots={"amount": 50},
        slot_shapes=(SlotShape.REQUEST, SlotShape.METADATA),
        metadata={"user": "u-1"},
        headers=(("X-A", "${B}"),),
        history_length=2,
    )
    assert lines_of(turn) == {
        "parts": '[{"kind": "text", "text": "hi"}]',
        "message.metadata": '{"user": "u-1", "slots": {"amount": 50}}',
        "params.metadata": '{"slots": {"amount": 50}}',
        "configuration": '{"historyLength": 2, "blocking": true}',
        "header": "X-A: ${B}",
        "wins": "amount by message.metadata, over the same in params.metadata",
        "agent reads": "hi",
    }


def test_preview_of_a_file_tells_its_size() -> None:
    part = Part(file=File("a", None, "QUFB" * 1000))
    assert "… 3.0 kB" in lines_of(Turn("", parts=(part,)))["parts"]


@pytest.mark.req("COMP-2")
def test_options_apply_to_one_turn_only() -> None:
    options = TurnOptions(context_id="c-1", message_id="m-1").toggled_context()
    turn = options.turn("hi", {})
    assert (turn.context_id, turn.message_id) == (None, "m-1")
    after = options.after_sending().turn("hi", {})
    assert (after.context_id, after.message_id) == ("c-1", None)


@pytest.mark.req("COMP-3")
def test_follow_modes_come_round() -> None:
    options = TurnOptions()
    seen = {(options := options.next_follow()).follow for _ in FollowMode}
    assert seen == set(FollowMode)
    assert options == TurnOptions()


@given(st.lists(st.sampled_from(SlotShape)))
def test_one_shape_is_always_chosen(toggles: list[SlotShape]) -> None:
    options = TurnOptions()
    for shape in toggles:
        options = options.toggled_shape(shape)
    assert options.shapes


def test_options_line_says_everything() -> None:
    options = TurnOptions(context_id="abcdef12", message_id="123456789")
    turn = options.turn("hi", {"a": 1, "b": 2})
    assert options_line(options, turn).plain == (
        "slots 2 → metadata  ·  keep ctx abcdef  ·  stream  ·  same id 123456"
    )


def options_in(*, is_rasa: bool) -> TurnOptions:
    """Return the options in a context whose task `5968d6…` waits."""
    newest: Index[str, NewestTask] = Index()
    newest = newest.set("c", NewestTask("5968d6aa", "input-required"))
    return TurnOptions().in_context("c", Waiting(newest, is_rasa))


@pytest.mark.req("HERO-6")
@pytest.mark.parametrize(
    ("is_rasa", "first", "other"),
    [(False, "continue 5968d6", "new task"), (True, "new task", "continue 5968d6")],
)
def test_composer_says_whether_a_turn_continues(is_rasa: bool, first: str, other: str) -> None:
    options = options_in(is_rasa=is_rasa)
    task_ids = {"continue 5968d6": "5968d6aa", "new task": None}
    for words in (first, other):
        turn = options.turn("hi", {})
        assert f"keep ctx c  ·  {words}  ·  stream" in options_line(options, turn).plain
        assert turn.task_id == task_ids[words]
        options = options.continuing(not options.is_continuing)
    # the choice is for one turn
    assert options.after_sending() == options_in(is_rasa=is_rasa).in_context("c", options.waiting)


@pytest.mark.req("HERO-6")
def test_only_the_context_of_the_task_continues_it() -> None:
    options = options_in(is_rasa=False)
    assert options.toggled_context().turn("hi", {}).task_id is None
    assert options.with_context("another").turn("hi", {}).task_id is None
    assert replace(options, task_id="t-9").turn("hi", {}).task_id == "t-9"
    elsewhere = options.in_context("another", options.waiting).with_context("c")
    assert elsewhere.turn("hi", {}).task_id == "5968d6aa"


@pytest.mark.req("HERO-6")
def test_command_line_keeps_a_new_task_new() -> None:
    turn = Turn("hi", context_id="c")
    assert "--new-task" in send_command("http://x", turn)
    assert "--new-task" not in send_command("http://x", turn, is_rasa=True)
    assert "--new-task" not in send_command("http://x", Turn("hi"))
    assert "--new-task" not in send_command("http://x", Turn("hi", context_id="c", task_id="t"))


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.text(min_size=1))
def test_send_command_survives_the_shell(text: str, context_id: str) -> None:
    turn = Turn(text, slots={"a b": text}, context_id=context_id, follow=FollowMode.STREAM)
    words = shlex.split(send_command("http://x", turn))
    if text.startswith("-"):
        assert words[:3] == ["printf", "%s", text]
        words = words[4:]
    assert words[:3] == ["a2a-inspect", "send", "http://x"]
    assert words[3] == ("-" if text.startswith("-") else text)
    assert words[words.index("--context") + 1] == context_id
    assert words[-1] == "--stream"


PART = read_part("""{"kind": "data", "data": {"a": "it's"}}""")


@pytest.mark.parametrize(
    "turn",
    [
        Turn("hi", {"a": "50", "b": 50}, (SlotShape.LINE, SlotShape.DATA), context_id="c"),
        Turn("", metadata={"user": {"id": 1}}, parts=(PART,), task_id="t", message_id="m"),
        Turn("x", history_length=0, accepted_output_modes=("a/b",), follow=FollowMode.STREAM),
        Turn("x", follow=FollowMode.NO_BLOCKING, also=frozenset({Also.POLL, Also.PUSH})),
    ],
)
@pytest.mark.req("COMP-2")
def test_command_line_says_the_whole_turn(turn: Turn) -> None:
    _, options = read_options(shlex.split(send_command("http://x", turn))[1:])
    assert isinstance(options, SendOptions)
    assert read_turn(options.target, options.message, options.follow) == turn


def test_command_line_of_a_raw_body_keeps_its_bytes() -> None:
    assert send_command("http://x", Turn("", raw=b"{\"it's")) == (
        """printf %s '{"it'"'"'s' | a2a-inspect send http://x --raw -"""
    )
    assert "base64 -d | a2a-inspect send" in send_command("http://x", Turn("", raw=b"\xff"))


def test_large_file_is_named() -> None:
    part = Part(file=File("a.png", None, "A" * 10_000))
    words = shlex.split(send_command("http://x", Turn("", parts=(part,))))
    assert words[words.index("--part") + 1] == "a.png"


def test_what_was_asked_about_a_task_has_a_command_line() -> None:
    line = task_command("http://x", Purpose.CANCEL, "t-1", "c-1")
    assert line == "a2a-inspect tasks cancel http://x t-1 --context c-1"
    assert task_command("http://x", Purpose.SEND, "t-1", None) is None


@pytest.mark.req("TUI-1")
def test_keys_are_bound_once_and_leave_multiplexers_theirs() -> None:
    keys = [key for binding in bindings() for key in binding.key.split(",")]
    assert len(set(keys)) == len(keys)
    assert not {"ctrl+a", "ctrl+b"} & set(keys)
    assert all(key.help for key in KEYS)
    assert shown("ctrl+s") == "^S"
