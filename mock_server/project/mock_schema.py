"""The JSON Schema of `mock.yml`, and the tables of keys in the reference, from the models."""

import json
import re
from collections.abc import Mapping
from enum import Enum

from pydantic import JsonValue
from pydantic.fields import FieldInfo

from mock_server.project.endpoints import A2AServerEntry, AuthEntry, JwtEntry
from mock_server.project.mock_file import (
    ActionServerEntry,
    AgentTurnEntry,
    LanguageModelEntry,
    MockYml,
    RuleEntry,
    StubEntry,
    ToolEntry,
)
from mock_server.project.validation import FileEntry

TITLE = "mock.yml of a2a-mock"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
ENTRIES: Mapping[str, type[FileEntry]] = {
    entry.__name__: entry
    for entry in (
        A2AServerEntry, ActionServerEntry, AgentTurnEntry, AuthEntry, JwtEntry, LanguageModelEntry,
        MockYml, RuleEntry, StubEntry, ToolEntry,
    )
}  # fmt: skip
KINDS = {"array": "list", "boolean": "boolean", "null": "", "object": "mapping", "string": "text"}
REQUIRED = "required: "
LATER_KEYS = frozenset({"agents"})
TABLE = re.compile(r"(<!-- keys of (\w+) -->\n).*?(<!-- end of keys -->\n)", re.DOTALL)


def schema() -> dict[str, JsonValue]:
    """The JSON Schema; an effect of a fault may be written as its kind alone."""
    made: dict[str, JsonValue] = MockYml.model_json_schema()
    definitions = made["$defs"]
    assert isinstance(definitions, dict)
    fault = definitions["Fault"]
    assert isinstance(fault, dict)
    properties = fault["properties"]
    assert isinstance(properties, dict)
    properties["effect"] = {"anyOf": [properties["effect"], {"type": "string"}]}
    return {"$schema": DIALECT, **made, "title": TITLE}


def text() -> str:
    """`docs/reference/mock.schema.json`, which `scripts/reference` writes."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def with_tables(page: str) -> str:
    """The reference `page` with a table of the keys between the marks of each model."""
    return TABLE.sub(lambda mark: mark[1] + _table(mark[2]) + mark[3], page)


def _table(model: str) -> str:
    entry = ENTRIES[model]
    properties = entry.model_json_schema()["properties"]
    rows = (
        _row(name, _kind(properties[name]), field)
        for name, field in entry.model_fields.items()
        if name not in LATER_KEYS
    )
    return "".join(("| Key | Type | Default | Meaning |\n| --- | --- | --- | --- |\n", *rows))


def _row(name: str, kind: str, field: FieldInfo) -> str:
    meaning = field.description or ""
    is_required = field.is_required() or meaning.startswith(REQUIRED)
    default = "required" if is_required else _spelled(field.get_default())
    return f"| `{name}` | {kind} | {default} | {meaning.removeprefix(REQUIRED)} |\n"


def _kind(property: Mapping[str, JsonValue]) -> str:
    """The types that a property of a JSON Schema may have, null aside."""
    match property:
        case {"anyOf": [*alternatives]}:
            kinds = (_kind(of) for of in alternatives if isinstance(of, dict))
            return " or ".join(dict.fromkeys(kind for kind in kinds if kind))
        case {"type": "integer"}:
            return "integer ≥ 0"
        case {"type": str(name)}:
            return KINDS.get(name, name)
        case {"$ref": str(name)} if name.endswith("Entry"):
            return "mapping"
        case {"$ref": str(name)} if not name.endswith("JsonValue"):
            return "text"
        case _:
            return "any value"


def _spelled(default: object) -> str:
    match default:
        case None:
            return "none"
        case Enum():
            return f"`{default.value}`"
        case bool():
            return f"`{str(default).lower()}`"
        case float() | int():
            return f"`{default:g}`"
        case _:
            return f"`{default}`"
