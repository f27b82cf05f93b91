"""Texts with holes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.dialogue.model import Json
from mock_server.dialogue.templates import (
    Document,
    fill,
    render_expression,
    render_response,
)
from mock_server.errors import TemplateFailed

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
