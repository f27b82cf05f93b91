"""pypred as flows use it; the table is the one of flows.md §3."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.conditions import compile_condition, evaluate
from mock_server.dialogue.model import Json
from mock_server.dialogue.templates import Document
from mock_server.errors import ConditionError

DOCUMENT: Document = {
    "slots": {
        "age": 20,
        "b": True,
        "f": False,
        "n": None,
        "t": "Rasa Pro",
        "e": "",
        "s5": "5",
        "l": ["x"],
    },
    "context": {"previous_flow_name": "transfer money", "names": []},
}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("slots.b", True),
        ("not slots.n", True),
        ("slots.n is null", True),
        ("slots.n = null", True),
        ("slots.n != null", False),
        ("slots.unknown is null", False),
        ("slots.n is empty", False),
        ("slots.n is undefined", False),
        ("slots.n is false", False),
        ("slots.e", False),
        ("slots.e is empty", True),
        ("slots.b = true", True),
        ("slots.b == True", True),
        ('slots.b = "true"', False),
        ("slots.s5 = 5", False),
        ("False", False),
        ("slots.f is null", False),
        ("slots.age = 20.0", True),
        ('slots.t contains "Rasa"', True),
        ('slots.t contains "rasa"', False),
        ('slots.l contains "x"', True),
        ("{'Rasa Pro' 'ERR'} contains slots.t", True),
        ('slots.t matches "Pro"', True),
        ('slots.t matches "Rasa$"', False),
        ('slots.n matches "x"', False),
        ("slots.age > 18 AND (slots.b or slots.f)", True),
        ("context.names is empty", True),
        ('"{{context.previous_flow_name}}" != "memo"', True),
    ],
)
def test_condition_holds_as_measured(condition: str, holds: bool) -> None:
    assert evaluate(condition, DOCUMENT) is holds


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("slots.n < 5", "slots.n has no value"),
        ("slots.s5 > 4", "it compares values of two kinds"),
        ("slots.n.deeper = 1", "slots.n has no value"),
    ],
)
def test_condition_that_compares_what_has_no_order_is_told(condition: str, reason: str) -> None:
    with pytest.raises(ConditionError) as told:
        evaluate(condition, DOCUMENT)
    assert str(told.value) == f"condition {condition!r}: {reason}"


@pytest.mark.parametrize(
    "condition", ["", "slots.a && slots.b", "slots.a in 3", "slots.a matches '('"]
)
def test_condition_that_cannot_be_read_is_told(condition: str) -> None:
    with pytest.raises(ConditionError):
        compile_condition(condition)


@given(st.text(alphabet="slot.ab 5<>=!()'\"{}#andornot\n", max_size=30))
def test_any_text_is_a_condition_or_told(condition: str) -> None:
    try:
        read = compile_condition(condition).predicate
    except ConditionError as error:
        read = error.source
    assert read == condition


@pytest.mark.parametrize("source", ["slots.a is null", "slots.a is not null", "context.a is null"])
@pytest.mark.parametrize("value", [None, False, 0, "", "null", []])
def test_short_cut_for_null_says_what_pypred_says(source: str, value: Json) -> None:
    document: Document = {"slots": {"a": value}, "context": {"a": value}}
    assert evaluate(source, document) == compile_condition(source).evaluate(document)


@pytest.mark.parametrize("source", ["not " * 2000 + "slots.a", " and ".join(["slots.a"] * 2000)])
def test_condition_nested_too_deeply_is_told(source: str) -> None:
    with pytest.raises(ConditionError, match="too deeply"):
        evaluate(source, {"slots": {"a": True}, "context": {}})
