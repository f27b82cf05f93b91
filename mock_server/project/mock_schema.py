"""The JSON Schema of `mock.yml` and the tables of its reference page, both from the models."""

import json
import re
from enum import Enum

from pydantic import JsonValue
from pydantic.fields import FieldInfo

from mock_server.project import mock_file
from mock_server.project.mock_file import MockYml
from mock_server.project.validation import FileEntry

TITLE = "mock.yml of a2a-mock"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
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
    entry: type[FileEntry] = getattr(mock_file, model)
    fields = entry.model_fields.items()
    rows = (_row(name, field) for name, field in fields if name not in LATER_KEYS)
    return "".join(("| Key | Value | Default |\n| --- | --- | --- |\n", *rows))


def _row(name: str, field: FieldInfo) -> str:
    default = "required" if field.is_required() else _spelled(field.get_default())
    return f"| `{name}` | {field.description or ''} | {default} |\n"


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
            return f"`{json.dumps(default)}`"
