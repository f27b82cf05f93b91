"""Values as a slot's type admits them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.model import Json, Slot, SlotType, coerce, coerce_bounded, coerce_said
from mock_server.errors import InvalidSlotValue

COLOUR = Slot("colour", SlotType.CATEGORICAL, values=("Red", "Dark Blue", "7", "2.0", "1.5"))
AGE = Slot("age", SlotType.FLOAT, min_value=0, max_value=120)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@pytest.mark.req("SLOT-3")
@pytest.mark.parametrize(
    ("type", "value", "coerced"),
    [
        (SlotType.BOOL, True, True),
        (SlotType.BOOL, " Yes ", True),
        (SlotType.BOOL, "off", False),
        (SlotType.BOOL, 0, False),
        (SlotType.BOOL, "1", True),
        (SlotType.BOOL, 1.0, True),
        (SlotType.BOOL, 0.0, False),
        (SlotType.FLOAT, 5, 5.0),
        (SlotType.FLOAT, " -1.5e2 ", -150.0),
        (SlotType.FLOAT, ".5", 0.5),
        (SlotType.TEXT, "x", "x"),
        (SlotType.TEXT, 1234567.0, "1234567"),
        (SlotType.TEXT, 1.0, "1"),
        (SlotType.TEXT, "1.0", "1.0"),
        (SlotType.TEXT, 0.5, "0.5"),
        (SlotType.TEXT, 12, "12"),
        (SlotType.ANY, {"a": [1]}, {"a": [1]}),
        (SlotType.LIST, [1], [1]),
    ],
)
def test_value_is_coerced(type: SlotType, value: Json, coerced: Json):
    assert coerce(Slot("s", type), value) == coerced


@pytest.mark.parametrize(
    ("type", "value"),
    [
        (SlotType.BOOL, "maybe"),
        (SlotType.BOOL, 2),
        (SlotType.BOOL, 1.5),
        (SlotType.BOOL, []),
        (SlotType.FLOAT, "five"),
        (SlotType.FLOAT, "1_000"),
        (SlotType.FLOAT, "nan"),
        (SlotType.FLOAT, "1e999"),
        (SlotType.FLOAT, 10**400),
        (SlotType.FLOAT, True),
        (SlotType.TEXT, True),
        (SlotType.TEXT, {"a": 1}),
        (SlotType.LIST, "x"),
    ],
)
def test_value_that_does_not_fit_is_refused(type: SlotType, value: Json):
    with pytest.raises(InvalidSlotValue) as caught:
        coerce(Slot("s", type), value)
    assert (caught.value.name, caught.value.value) == ("s", value)


@pytest.mark.parametrize(
    ("value", "declared"),
    [("red", "Red"), (" DARK BLUE", "Dark Blue"), (7, "7"), (7.0, "7"), (2.0, "2.0"), (1.5, "1.5")],
)
def test_category_takes_its_declared_spelling(value: Json, declared: str):
    assert coerce(COLOUR, value) == declared


@pytest.mark.parametrize("value", ["green", "re", ["red"], ""])
def test_other_category_is_refused(value: Json):
    with pytest.raises(InvalidSlotValue, match=r"one of Red, Dark Blue, 7, 2\.0, 1\.5"):
        coerce(COLOUR, value)


@pytest.mark.req("SLOT-3")
@pytest.mark.parametrize("value", [-1, "121", 120.5])
def test_declared_bounds_refuse_values(value: Json):
    with pytest.raises(InvalidSlotValue):
        coerce_bounded(AGE, value)


@pytest.mark.req("SLOT-3")
def test_bounds_count_for_the_orchestrator_only():
    assert coerce(AGE, 500) == 500.0
    assert coerce_bounded(AGE, "120") == 120.0
    assert coerce_bounded(Slot("s", SlotType.FLOAT), 10**9) == 1e9
    assert coerce_bounded(Slot("s", SlotType.TEXT), "x") == "x"


@given(st.sampled_from(SlotType), JSON)
def test_coercion_is_idempotent(type: SlotType, value: Json):
    slot = Slot("s", type, values=("a", "B"))
    try:
        once = coerce(slot, value)
    except InvalidSlotValue:
        return
    assert coerce(slot, once) == once


@given(st.sampled_from(SlotType))
def test_none_clears_any_slot(type: SlotType):
    assert coerce_bounded(Slot("s", type), None) is None


def test_truth_value_of_a_command_stays_one_in_a_text_slot():
    text = Slot("s", SlotType.TEXT)
    assert coerce_said(text, True) is True
    assert coerce_said(text, "true") == "true"
    with pytest.raises(InvalidSlotValue):
        coerce(text, True)
