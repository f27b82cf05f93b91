"""Our definitions are those of the protocol's own JSON Schema."""

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.wire.schema import Enum
from inspector.wire.v0_3 import RESULT_TYPES
from inspector.wire.v0_3_types import SCHEMA

DEFINITIONS, SECTIONS = SCHEMA.definitions, SCHEMA.sections

# Unions and enums that the schema writes where they are used, and we by a name.
NAMED = {
    ("FilePart", "file"): "File",
    ("Message", "role"): "Role",
    ("APIKeySecurityScheme", "in"): "ApiKeyLocation",
    ("JSONRPCError", "data"): "any",
}


def spell(definition: dict[str, Any]) -> str:
    if "$ref" in definition:
        return definition["$ref"].rpartition("/")[2]
    if "const" in definition:
        return repr(definition["const"])
    if definition["type"] == "array":
        return f"{spell(definition['items'])}[]"
    values = definition.get("additionalProperties")
    if definition["type"] == "object" and values:
        return f"{{{spell(values)}}}"
    return definition["type"]


@pytest.fixture(scope="module")
def official(shared: Path) -> dict[str, Any]:
    text = (shared / "wire/schemas/a2a-v0.3.0.json").read_text()
    return json.loads(text)["definitions"]


@pytest.mark.parametrize(
    "name", [name for name, one in DEFINITIONS.items() if isinstance(one, dict)]
)
def test_fields_are_those_of_the_protocol(name: str, official: dict[str, Any]) -> None:
    required = official[name].get("required", [])
    expected = {
        field if field in required else f"{field}?": NAMED.get((name, field)) or spell(type_)
        for field, type_ in official[name]["properties"].items()
    }
    assert DEFINITIONS[name] == expected


def test_enums_are_those_of_the_protocol(official: dict[str, Any]) -> None:
    assert DEFINITIONS["TaskState"] == Enum(frozenset(official["TaskState"]["enum"]))
    role = official["Message"]["properties"]["role"]
    assert DEFINITIONS["Role"] == Enum(frozenset(role["enum"]))
    place = official["APIKeySecurityScheme"]["properties"]["in"]
    assert DEFINITIONS["ApiKeyLocation"] == Enum(frozenset(place["enum"]))


def test_every_name_is_defined() -> None:
    assert set(SECTIONS) <= set(DEFINITIONS)
    assert set(RESULT_TYPES.values()) <= set(DEFINITIONS)
