"""Slots from an orchestrator: five places, one order, no trace left in the text."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json, Slot, SlotType
from mock_server.tasks.parts import read, seeds
from mock_server.tasks.task import DataPart, FilePart, Message, Part, Role, TextPart

ASSISTANT = Assistant(
    slots={
        slot.name: slot
        for slot in (
            Slot("recipient", SlotType.TEXT),
            Slot("amount", SlotType.FLOAT, min_value=1, max_value=100),
            Slot("account", SlotType.CATEGORICAL, values=("Checking", "Savings")),
            Slot("urgent", SlotType.BOOL),
            Slot("requested_slot", SlotType.TEXT, is_builtin=True),
        )
    }
)


def message(*parts: Part, slots: Json = None, **metadata: Json) -> Message:
    known = {} if slots is None else {"slots": slots}
    return Message("m1", Role.USER, parts, metadata={**metadata, **known} or None)


def text(words: str) -> Message:
    return message(TextPart(words))


@pytest.mark.req("SLOT-1", "SLOT-4")
@pytest.mark.parametrize(
    ("words", "rest"),
    [
        ('send money\nSLOTS: {"recipient": "Joe"}', "send money"),
        ('SLOTS: {"recipient": "Joe"}\nsend money', "send money"),
        ('send\n  SLOTS:{"recipient":"Joe"}  \nmoney', "send\nmoney"),
        ('send money\r\nSLOTS: {"recipient": "Joe"}\r\n', "send money"),
        ('send money\n```json\n{"recipient": "Joe"}\n```', "send money"),
        ('send money ```json {"recipient": "Joe"}```\n', "send money"),
        ('SLOTS: {"recipient": "Joe"}', ""),
    ],
)
def test_markers_give_slots_and_leave_the_text(words: str, rest: str) -> None:
    reading = read(text(words))
    assert reading.slots == {"recipient": "Joe"}
    assert reading.text == rest
    assert [part.text for part in reading.message.parts if isinstance(part, TextPart)] == (
        [rest] if rest else []
    )


@pytest.mark.req("SLOT-1")
@pytest.mark.parametrize(
    "words",
    [
        'my SLOTS: {"recipient": "Joe"}',
        "SLOTS: {recipient: Joe}",
        "SLOTS: [1]",
        '```json\n{"recipient": "Joe"}\n``` is what I mean',
        "```json\n[1]\n```",
        '```\n{"recipient": "Joe"}\n```',
        "SLOTS: " + '{"a":' * 500 + "1" + "}" * 500,
    ],
)
def test_what_is_no_marker_stays_text(words: str) -> None:
    reading = read(text(words))
    assert not reading.carries_slots
    assert reading.text == words


@pytest.mark.req("SLOT-1")
def test_later_shapes_win_in_the_total_order() -> None:
    sources: list[tuple[str, Json]] = [
        ("line", {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}),
        ("fence", {"b": 2, "c": 2, "d": 2, "e": 2}),
        ("request", {"c": 3, "d": 3, "e": 3}),
        ("message", {"d": 4, "e": 4}),
        ("data", {"e": 5}),
    ]
    shapes = dict(sources)
    words = f"x\nSLOTS: {json.dumps(shapes['line'])}\n```json\n{json.dumps(shapes['fence'])}\n```"
    reading = read(
        message(
            DataPart({"slots": {"e": 0}}),
            TextPart(words),
            DataPart({"slots": shapes["data"]}),
            slots=shapes["message"],
        ),
        {"slots": shapes["request"]},
    )
    assert reading.slots == {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    assert reading.text == "x"


@pytest.mark.req("SLOT-6")
@pytest.mark.parametrize(
    ("given_message", "carries"),
    [
        (message(DataPart({"slots": {"recipient": "Joe"}})), True),
        (message(slots={"nobody_knows": 1}), True),
        (message(TextPart("hi")), False),
        (message(DataPart({"slots": "no object"}), slots=[1]), False),
        (message(FilePart({"uri": "http://x/y"})), False),
    ],
)
def test_reading_says_whether_slots_came(given_message: Message, carries: bool) -> None:
    assert read(given_message).carries_slots is carries


@pytest.mark.req("TURN-12")
def test_metadata_beside_slots_goes_on() -> None:
    reading = read(message(TextPart("hi"), slots={"recipient": "Joe"}, user="u1"))
    assert reading.metadata == {"user": "u1"}
    assert read(text("hi")).metadata == {}


@pytest.mark.req("SLOT-4")
def test_other_parts_stay_in_the_message() -> None:
    data = DataPart({"slots": {"recipient": "Joe"}, "x": 1})
    empty = TextPart("")
    assert read(message(data, empty)).message.parts == (data, empty)


@pytest.mark.req("SLOT-2")
def test_only_the_domains_own_slots_are_written() -> None:
    given_slots: dict[str, Json] = {"recipient": "Joe", "requested_slot": "x", "unknown": 1}
    assert seeds(ASSISTANT, given_slots).slots == (("recipient", "Joe"),)
    assert seeds(ASSISTANT, given_slots).skipped == ()


@pytest.mark.req("SLOT-3")
@pytest.mark.parametrize(
    ("name", "value", "written"),
    [
        ("amount", "12.5", 12.5),
        ("account", "savings", "Savings"),
        ("urgent", "yes", True),
        ("recipient", "NONE", None),
        ("amount", " Null ", None),
        ("account", "undefined", None),
        ("recipient", None, None),
    ],
)
def test_values_are_coerced_to_the_slots_type(name: str, value: Json, written: Json) -> None:
    assert seeds(ASSISTANT, {name: value}).slots == ((name, written),)


@pytest.mark.req("SLOT-3")
@pytest.mark.parametrize(
    ("name", "value"),
    [("amount", "much"), ("amount", 101), ("amount", 0), ("account", "Gold"), ("recipient", [1])],
)
def test_inadmissible_value_is_skipped_alone(name: str, value: Json) -> None:
    found = seeds(ASSISTANT, {name: value, "urgent": True})
    assert found.slots == (("urgent", True),)
    assert [skipped.name for skipped in found.skipped] == [name]


@settings(max_examples=150)
@given(st.text(alphabet='aS{}":SLOTS \n`json\\\ud800', max_size=60))
def test_any_text_can_be_read(words: str) -> None:
    reading = read(text(words))
    assert reading.carries_slots or reading.text == words
