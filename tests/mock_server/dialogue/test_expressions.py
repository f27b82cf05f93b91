"""Texts with holes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.expressions import (
    Document,
    compile_condition,
    evaluate,
    fill,
    render_expression,
    render_response,
)
from mock_server.dialogue.model import Json
from mock_server.errors import ConditionError, TemplateFailed

DOCUMENT: Document = {
    "slots": {"amount": 50.0, "name": None, "trick": "{{slots.amount}}"},
    "context": {"info": {"max": 5}, "collect": "amount", "reason": None},
}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("plain", "plain"),
        ("{amount} EUR", "50.0 EUR"),
        ("Dear {name}", "Dear None"),
        ("{given}", "7"),
        ("{unknown} {not a name} {}", "{unknown} {not a name} {}"),
        ('/inform{{"a": "b"}}', '/inform{"a": "b"}'),
        ("{{amount}}", "{amount}"),
        ("{{{amount}}}", "{50.0}"),
        ("{context.info.max} of {context.nothing.more}", "5 of None"),
        ("{trick}", "{{slots.amount}}"),
        ("lone } and {", "lone } and {"),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ('{{"a": {{"b": "{given}"}}}}', '{"a": {"b": "7"}}'),
    ],
)
def test_holes_are_filled(text: str, filled: str) -> None:
    assert fill(text, DOCUMENT, {"given": 7}) == filled


@given(st.text(alphabet="ab {}.\\\n"), st.dictionaries(st.sampled_from(["a", "b"]), st.text()))
def test_any_text_is_filled(text: str, arguments: dict[str, Json]) -> None:
    assert isinstance(fill(text, DOCUMENT, arguments), str)


@given(st.text(alphabet="ab .\n"))
def test_text_without_braces_stays(text: str) -> None:
    assert fill(text, DOCUMENT, {}) == text


@pytest.mark.parametrize(
    ("source", "rendered"),
    [
        ("utter_x", "utter_x"),
        ("{'a' 'b'} contains slots.name", "{'a' 'b'} contains slots.name"),
        ("slots.{{context.collect}} is not null", "slots.amount is not null"),
        ("{{ context.reason }}", ""),
        ("{{context.collect | upper}}", "AMOUNT"),
        ("{{context.reason if false else none}}", ""),
        ("{% if slots.name %}a{% else %}b{% endif %}", "b"),
        ("{{slots.trick}}", "{{slots.amount}}"),
    ],
)
def test_expressions_are_rendered(source: str, rendered: str) -> None:
    assert render_expression(source, DOCUMENT) == rendered


def test_responses_see_slots_by_name() -> None:
    source = "{{ amount }} {{ slots.amount }} {{ given }} {{ context.collect }}"
    assert render_response(source, DOCUMENT, {"given": 7}) == "50.0 50.0 7 amount"


@pytest.mark.parametrize(
    "source",
    [
        "{{ amount",
        "{{ amount / 0 }}",
        "{{ name + 1 }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    ],
)
def test_jinja_that_fails_is_told(source: str) -> None:
    with pytest.raises(TemplateFailed, match="template"):
        render_response(source, DOCUMENT, {})


def test_jinja_cannot_leave_its_sandbox() -> None:
    with pytest.raises(TemplateFailed):
        render_response("{{ ''.__class__.__mro__[1].__subclasses__() }}", DOCUMENT, {})


STATE: Document = {
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
    assert evaluate(condition, STATE) is holds


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
        evaluate(condition, STATE)
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
        read = compile_condition(condition).source
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
