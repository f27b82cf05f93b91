"""The checker finds each kind of mistake and names its path."""

from typing import Any

import pytest

from inspector.wire.findings import Severity
from inspector.wire.schema import Definition, Enum, Keyed, Schema, Tagged, join

DEFINITIONS: dict[str, Definition] = {
    "Box": {
        "name": "string",
        "size?": "integer",
        "is_open?": "boolean",
        "things?": "Thing[]",
        "labels?": "{string}",
        "extra?": "object",
        "whatever?": "any",
        "colour?": "Colour",
        "key?": "Key",
    },
    "Thing": Tagged("kind", {"ball": "Ball"}),
    "Ball": {"kind": "'ball'"},
    "Colour": Enum(frozenset({"red", "blue"})),
    "Shelf": {"boxes": "Box[]", "top": "'oak'"},
    "Key": Keyed({"long": "LongKey", "short": "ShortKey"}),
    "LongKey": {"long": "string"},
    "ShortKey": {"short": "string"},
}
SCHEMA = Schema("Test", DEFINITIONS, {"Box": "1", "Ball": "1.2"})


@pytest.mark.parametrize(
    "value",
    [
        {"name": "a"},
        {"name": "a", "size": 1, "is_open": True, "whatever": 1, "unknown": [None]},
        {"name": "a", "things": [{"kind": "ball"}], "labels": {"x y": "z"}, "extra": {}},
        {"name": "a", "whatever": None, "colour": "red", "key": {"short": "s"}},
    ],
)
def test_right_values_have_no_findings(value: Any) -> None:
    assert [one for one in SCHEMA.check(value, "Box") if one.severity is Severity.ERROR] == []


MISTAKES: list[tuple[Any, str, str]] = [
    ({}, "$", "`name` is missing: string"),
    ([], "$", "expected object, found array"),
    ({"name": None}, "$.name", "expected string, found null"),
    ({"name": 1}, "$.name", "expected string, found number"),
    ({"name": "a", "size": True}, "$.size", "expected integer, found boolean"),
    ({"name": "a", "size": "1"}, "$.size", "expected integer, found '1'"),
    ({"name": "a", "is_open": 0}, "$.is_open", "expected boolean, found number"),
    ({"name": "a", "extra": []}, "$.extra", "expected object, found array"),
    ({"name": "a", "things": {}}, "$.things", "expected array, found object"),
    ({"name": "a", "things": [1]}, "$.things[0]", "expected object, found number"),
    ({"name": "a", "things": [{}]}, "$.things[0]", "`kind` is missing: 'ball'"),
    (
        {"name": "a", "things": [{"kind": "cat"}]},
        "$.things[0].kind",
        "expected 'ball', found 'cat'",
    ),
    ({"name": "a", "labels": []}, "$.labels", "expected object, found array"),
    ({"name": "a", "labels": {"x y": 1}}, "$.labels['x y']", "expected string, found number"),
    ({"name": "a", "colour": "pink"}, "$.colour", "expected blue | red, found 'pink'"),
    ({"name": "a", "key": {}}, "$.key", "`long` or `short` is missing: any of them"),
]


@pytest.mark.parametrize(("value", "path", "message"), MISTAKES)
@pytest.mark.req("WIRE-0", "CARDV-1")
def test_each_mistake_is_found_at_its_path(value: Any, path: str, message: str) -> None:
    [finding] = SCHEMA.check(value, "Box")
    assert (finding.path, finding.message) == (path, message)
    assert finding.severity is Severity.ERROR


def test_null_for_an_optional_field_is_a_warning() -> None:
    [finding] = SCHEMA.check({"name": "a", "size": None}, "Box")
    assert finding.severity is Severity.WARNING


def test_a_type_without_a_section_has_that_of_the_type_around_it() -> None:
    [finding] = SCHEMA.check({"name": "a", "things": [1]}, "Box")
    assert finding.section == "Test §1"


def test_a_key_that_is_no_name_is_quoted() -> None:
    assert join("$", "a") == "$.a"
    assert join("$", "a b") == "$['a b']"


def test_a_literal_is_that_text_and_a_wrong_one_is_named() -> None:
    [finding] = SCHEMA.check({"boxes": [{"name": "a", "key": 5}], "top": "oak"}, "Shelf")
    assert (finding.path, finding.section) == ("$.boxes[0].key", "Test §1")
    [finding] = SCHEMA.check({"boxes": [], "top": {}}, "Shelf")
    assert finding.message == "expected 'oak', found object"
