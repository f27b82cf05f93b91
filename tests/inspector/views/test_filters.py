"""Filters as people type them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.views.filters import (
    BadFilter,
    FieldTerm,
    Filter,
    FilterField,
    JsonPath,
    PathTerm,
    TextTerm,
    parse_filter,
)


def terms(text: str) -> tuple[object, ...]:
    parsed = parse_filter(text)
    assert isinstance(parsed, Filter)
    assert parsed.text == text
    return parsed.terms


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("state:working", FieldTerm(FilterField.STATE, ("working",))),
        ("state:Working,FAILED", FieldTerm(FilterField.STATE, ("working", "failed"))),
        ("task:91c", FieldTerm(FilterField.TASK, ("91c",))),
        ("!lane:push", FieldTerm(FilterField.LANE, ("push",), is_negated=True)),
        ('finding:"two words"', FieldTerm(FilterField.FINDING, ("two words",))),
        ("Joe", TextTerm("joe")),
        ('"send 50"', TextTerm("send 50")),
        ("!Joe", TextTerm("joe", is_negated=True)),
        ("http://a/b", TextTerm("http://a/b")),
        ("10:02", TextTerm("10:02")),
        (".a", PathTerm(JsonPath(".a", ("a",)), "", "")),
        (".a=", PathTerm(JsonPath(".a", ("a",)), "=", "")),
        (".a=b=c", PathTerm(JsonPath(".a", ("a",)), "=", "b=c")),
        (".a!=b", PathTerm(JsonPath(".a", ("a",)), "=", "b", is_negated=True)),
        ("!.a!=b", PathTerm(JsonPath(".a", ("a",)), "=", "b")),
        (".a~b", PathTerm(JsonPath(".a", ("a",)), "~", "b")),
        ('.a="b c"', PathTerm(JsonPath(".a", ("a",)), "=", "b c")),
        (".a[0].b", PathTerm(JsonPath(".a[0].b", ("a", 0, "b")), "", "")),
        (".a[].b", PathTerm(JsonPath(".a[].b", ("a", None, "b")), "", "")),
        ('."x y".z', PathTerm(JsonPath('."x y".z', ("x y", "z")), "", "")),
        (".", PathTerm(JsonPath(".", ()), "", "")),
    ],
)
@pytest.mark.req("WIRE-2")
def test_each_kind_of_term(text: str, term: object) -> None:
    assert terms(text) == (term,)


def test_terms_stand_one_after_the_other() -> None:
    assert terms("  state:working   !Joe ") == (
        FieldTerm(FilterField.STATE, ("working",)),
        TextTerm("joe", is_negated=True),
    )
    assert terms("") == ()


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        (
            "x stat:working",
            2,
            "no field is called 'stat'; there are "
            "state, task, context, status, method, lane, finding",
        ),
        ("state:", 6, "state: needs a value"),
        ("state:,", 7, "state: needs a value"),
        ('a "b', 2, 'a " that nothing closes'),
        (".a[x]", 2, "expected .name or [0], found '[x]'"),
        (".a!b", 2, "expected =, != or ~ after the path"),
        ("a ! b", 2, "! needs a term right after it"),
    ],
)
@pytest.mark.req("WIRE-2")
def test_a_bad_filter_says_where(text: str, position: int, message: str) -> None:
    assert parse_filter(text) == BadFilter(position, message)


@given(st.text(st.sampled_from('ab .:!~=[]0"\n\tst,'), max_size=25))
def test_anything_is_a_filter_or_says_where_it_is_none(text: str) -> None:
    parsed = parse_filter(text)
    if isinstance(parsed, BadFilter):
        assert 0 <= parsed.position <= len(text)
        assert parsed.message
