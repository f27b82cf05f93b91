"""What a sentence says as the answer to a question."""

import pytest

from mock_server.dialogue.answers import answer, free_text, numbers_in, yes_or_no
from mock_server.dialogue.model import Json, Slot, SlotType

TIMING = Slot("timing", SlotType.CATEGORICAL, values=("now", "next_week", "in future"))
CONFIRM = Slot("confirm", SlotType.CATEGORICAL, values=("Yes", "No"))
TITLES = {"Immediately": "now"}


@pytest.mark.parametrize("text", ["yes", "Yup!", "sure, do it", "ok", "go ahead", "That's right"])
def test_yes(text: str):
    assert yes_or_no(text) is True


@pytest.mark.parametrize("text", ["no", "Nope", "no thanks", "don't", "I do not", "that's all"])
def test_no(text: str):
    assert yes_or_no(text) is False


@pytest.mark.parametrize("text", ["maybe", "", "yesterday", "nothing"])
def test_neither_yes_nor_no(text: str):
    assert yes_or_no(text) is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("55", (55.0,)),
        ("$40.67", (40.67,)),
        ("1,200.50 €", (1200.5,)),
        ("12,5", (12.5,)),
        ("-3", (-3.0,)),
        ("from 5 to 7.", (5.0, 7.0)),
        ("12/12/2025", ()),
        ("2025-01-31", ()),
        ("10:30", ()),
        ("route66", ()),
        ("none", ()),
    ],
)
def test_numbers(text: str, numbers: tuple[float, ...]):
    assert numbers_in(text) == numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Now", "now"),
        ("it's now", "now"),
        ("next week please", "next_week"),
        ("NEXT-WEEK", "next_week"),
        ("immediately, please", "now"),
        ("imediatly", "now"),
        ("nex", "next_week"),
        ("in futrue", "in future"),
        ("now or next week", None),
        ("n", None),
        ("tomorrow", None),
        ("yes", None),
    ],
)
def test_category(text: str, value: Json):
    assert answer(TIMING, text, TITLES) == value


@pytest.mark.parametrize(("text", "value"), [("yup", "Yes"), ("nah", "No"), ("NO", "No")])
def test_category_of_yes_and_no(text: str, value: str):
    assert answer(CONFIRM, text, {}) == value


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        (SlotType.BOOL, "yes", True),
        (SlotType.FLOAT, "about 5 or 6", 5.0),
        (SlotType.FLOAT, "many", None),
        (SlotType.TEXT, "anything", None),
        (SlotType.ANY, "anything", None),
        (SlotType.LIST, "anything", None),
    ],
)
def test_answer_by_type(type: SlotType, text: str, value: Json):
    assert answer(Slot("s", type), text, {}) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("It's Barbar", "Barbar"),
        ("just Bart.", "Bart"),
        ("my name is Joe Bloggs", "Joe Bloggs"),
        ("sorry, I meant Bob", "Bob"),
        ("change it to Bob", "Bob"),
        ("Wait, Bob", "Bob"),
        ("no idea", "no idea"),
        ("Wait, ", "Wait,"),
        ("Electric Company", "Electric Company"),
    ],
)
def test_lead_ins_are_left_out_of_free_text(text: str, value: str):
    assert free_text(text) == value
