"""Commands as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.commands import (
    CancelFlow,
    CannotHandle,
    Clarify,
    Command,
    CommandSyntaxError,
    Noop,
    ReportError,
    Restart,
    RestartAgent,
    SessionEnd,
    SessionStart,
    SetSlot,
    SkipQuestion,
    StartFlow,
    fill_command,
    is_set_slots,
    parse_command,
    parse_set_slots,
    read_slash,
    value_of,
)
from mock_server.dialogue.model import END, Flow, Slot, SlotType


@pytest.mark.parametrize(
    ("source", "command"),
    [
        ("StartFlow(pay)", StartFlow("pay")),
        (" CancelFlow( ) ", CancelFlow()),
        ("SetSlot(amount, 50)", SetSlot("amount", "50")),
        ("SetSlot(note, a, b)", SetSlot("note", "a, b")),
        ("SetSlot(note, null)", SetSlot("note", None)),
        ('SetSlot(note, "null")', SetSlot("note", "null")),
        ("Clarify(a, b)", Clarify(("a", "b"))),
        ("Clarify()", Clarify(())),
        ("Skip()", SkipQuestion()),
        ("CannotHandle()", CannotHandle()),
        ("CannotHandle(cannot_handle_chitchat)", CannotHandle("cannot_handle_chitchat")),
        ("Error(some_type)", ReportError("some_type")),
        ("Noop()", Noop()),
        ("RestartAgent(cars)", RestartAgent("cars")),
        ("start flow pay", StartFlow("pay")),
        ("set slot note a (b), c", SetSlot("note", "a (b), c")),
        ("Cancel flow", CancelFlow()),
        ("disambiguate flows a b", Clarify(("a", "b"))),
        ("restart agent cars", RestartAgent("cars")),
    ],
)
def test_command_is_read(source: str, command: Command):
    assert parse_command(source) == command


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("StartFlow", "with parentheses"),
        ("start flow", "with parentheses"),
        ("Start(pay)", "one of StartFlow"),
        ("StartFlow()", "StartFlow(flow)"),
        ("StartFlow(a, b)", "StartFlow(flow)"),
        ("SetSlot(amount)", "SetSlot(slot, value)"),
        ("CancelFlow(x)", "CancelFlow()"),
        ("Clarify(a,)", "Clarify(flow, …)"),
    ],
)
def test_wrong_command_says_what_was_expected(source: str, expected: str):
    with pytest.raises(CommandSyntaxError) as caught:
        parse_command(source)
    assert expected in caught.value.expected


def test_set_slots_reads_pairs():
    assert parse_set_slots("SetSlots(a=1, b = x y ,c=null)") == (
        SetSlot("a", "1", is_direct=True),
        SetSlot("b", "x y", is_direct=True),
        SetSlot("c", None, is_direct=True),
    )


def test_set_slots_reads_json():
    assert parse_set_slots('SetSlots{"a": 1, "b": null}') == (
        SetSlot("a", 1, is_direct=True),
        SetSlot("b", None, is_direct=True),
    )


@pytest.mark.parametrize(
    "source",
    [
        "SetSlots(a)",
        "SetSlots()",
        "SetSlots(a=1",
        "SetSlots{1}",
        "SetSlots{nonsense",
        "SetSlots(a=(1))",
        f"SetSlots({', '.join(f's{n}=1' for n in range(11))})",
        pytest.param('SetSlots{"a":' + "[" * 100_000, id="deep"),
    ],
)
def test_wrong_set_slots_is_refused(source: str):
    with pytest.raises(CommandSyntaxError):
        parse_set_slots(source)


@pytest.mark.parametrize(
    ("source", "expected"),
    [("SetSlots(a=1)", True), ("SetSlots {}", True), ("SetSlot(a, 1)", False), ("x", False)],
)
def test_set_slots_is_recognized(source: str, expected: bool):
    assert is_set_slots(source) is expected


def test_holes_are_filled_into_the_command():
    groups = {"amount": "50", "name": "Joe, (senior)"}
    assert fill_command("SetSlot(amount, {amount} €)", groups) == SetSlot("amount", "50 €")
    assert fill_command("SetSlot(who, {name})", groups) == SetSlot("who", "Joe, (senior)")
    assert fill_command("StartFlow({name})", groups) == StartFlow("Joe, (senior)")
    assert fill_command("CancelFlow()", groups) == CancelFlow()


@pytest.mark.parametrize("value", ["a,b", "a , b", "1,000.5"])
def test_value_keeps_its_commas_as_they_are(value: str):
    assert parse_command(f"SetSlot(s, {value})") == SetSlot("s", value)


def test_hole_without_a_value_leaves_the_command_out():
    assert fill_command("SetSlot(who, {name})", {"name": ""}) is None
    assert fill_command("SetSlot(who, {name})", {}) is None


@given(st.text())
def test_text_that_calls_nothing_is_refused(text: str):
    with pytest.raises(CommandSyntaxError) as caught:
        parse_command(f"no{text}")
    assert caught.value.source == f"no{text}"


@given(st.text(alphabet=st.characters(exclude_characters="(),\"'"), min_size=1))
def test_value_survives_set_slot(text: str):
    command = parse_command(f"SetSlot(s, {text})") if text.strip() else SetSlot("s", "")
    assert command == SetSlot("s", value_of(text))


def test_spoken_commands_have_holes_as_well():
    assert fill_command("set slot amount {sum}", {"sum": "5"}) == SetSlot("amount", "5")
    assert fill_command("start flow {which}", {"which": "pay"}) == StartFlow("pay")
    assert fill_command("set slot amount {sum}", {"sum": ""}) is None


PAY = Flow("pay", "pay", "", {}, END, nlu_triggers=("send_money",))
ASSISTANT = Assistant(flows={"pay": PAY}, slots={"amount": Slot("amount", SlotType.FLOAT)})
INVALID = CannotHandle("cannot_handle_invalid_intent")


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("hello", ()),
        ("/SetSlots(amount=5)", (SetSlot("amount", "5", is_direct=True),)),
        ("/StartFlow(pay)", (StartFlow("pay"),)),
        (
            "/StartFlow(pay); /SetSlots(amount=5);",
            (StartFlow("pay"), SetSlot("amount", "5", is_direct=True)),
        ),
        ("/StartFlow(pay)\n/SetSlot(amount, 5)", (StartFlow("pay"), SetSlot("amount", "5"))),
        ('/SetSlots{"a": "x; y"}', (SetSlot("a", "x; y", is_direct=True),)),
        ("/StartFlow(pay) ;  \n /StartFlow(pay)", (StartFlow("pay"), StartFlow("pay"))),
        ("/send_money", (StartFlow("pay", is_trigger=True),)),
        ("/CancelFlow", (CancelFlow(),)),
        ("/cancelflow", (INVALID,)),
        (
            '/send_money{"amount": 5, "other": 1}',
            (StartFlow("pay", is_trigger=True), SetSlot("amount", 5, is_direct=True)),
        ),
        ("/send_money{nonsense}", (StartFlow("pay", is_trigger=True),)),
        ("/session_start", (SessionStart(),)),
        ("/session_end", (SessionEnd(),)),
        ("/restart", (Restart(),)),
        ("/unknown", (INVALID,)),
        ("/Unknown(x)", (INVALID,)),
        ("/SetSlots(amount)", (INVALID,)),
        ("/", (INVALID,)),
        ("//", (INVALID,)),
    ],
)
def test_slash_message_is_commands(text: str, commands: tuple[Command, ...]):
    assert read_slash(text, ASSISTANT)[0] == commands


def test_entities_that_are_no_object_fill_nothing():
    assert read_slash('/send_money{"a"}', ASSISTANT)[0] == (StartFlow("pay", is_trigger=True),)


def test_trigger_of_a_later_flow_is_found():
    other = Flow("other", "other", "", {}, END)
    assistant = Assistant(flows={"other": other, "pay": PAY})
    assert read_slash("/send_money", assistant)[0] == (StartFlow("pay", is_trigger=True),)
