"""What docs/reference shows of pydantic models: the catalogue of faults, and the keys of files."""

import re
from collections.abc import Iterator, Mapping
from enum import Enum

from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

from mock_server.faults.effects import CATALOGUE, Reach
from mock_server.faults.fault import Fault
from mock_server.faults.matching import PUSH_CRITERIA, Match
from mock_server.project import endpoints, mock_file
from mock_server.project.validation import FileEntry

KINDS = {"array": "list", "boolean": "boolean", "null": "", "object": "mapping", "string": "text"}
REQUIRED = "required: "
LATER_KEYS = frozenset({"agents"})
TABLE = re.compile(r"(<!-- keys of (\w+) -->\n).*?(<!-- end of keys -->\n)", re.DOTALL)
HEAD = """\
# Faults

Everything that the mock can be told to do wrong. Generated from `mock_server/faults` by
`scripts/reference`; do not edit.

A fault is an object, armed by `POST /__admin/faults` or listed in `mock.yml: faults:`. Of the
faults that match a request, each hits with its probability; all that hit take effect, in the order
in which they were armed. With `--seed` the same requests are hit in every run.

```yaml
faults:
  - match: {method: message/send, text: "(?i)balance"}
    effect: {kind: http_status, status: 503}
    count: 2
```
"""
MATCH_NOTE = f"""\
Faults of push notifications match {", ".join(f"`{name}`" for name in sorted(PUSH_CRITERIA))}
only, all others everything but `state`.
"""


def faults_page() -> str:
    """The page, in Markdown."""
    sections = [
        HEAD,
        f"## A fault\n\n{_table(Fault)}\n",
        f"## `match`\n\n{Match.__doc__}\n\n{_table(Match)}\n\n{MATCH_NOTE}",
        "## `effect`\n\nEach has a `kind` and parameters of its own. One without parameters may be "
        "written as its kind alone: `effect: connection_reset`.\n",
        *(f"## On {reach.value}\n\n{_effects_of(reach)}" for reach in Reach),
    ]
    return "\n".join(sections)


def _effects_of(reach: Reach) -> str:
    return "\n".join(_section(effect) for effect in CATALOGUE if effect.reach is reach)


def _section(effect: type[BaseModel]) -> str:
    heading = f"### `{effect.model_fields['kind'].default}`\n\n{effect.__doc__}\n"
    rows = _table(effect)
    return f"{heading}\n{rows}\n" if rows else heading


def _table(model: type[BaseModel]) -> str:
    """One row per field; empty without fields."""
    rows = [*_rows(model)]
    head = ["| name | default | meaning |", "| --- | --- | --- |"]
    return "\n".join([*head, *rows]) if rows else ""


def _rows(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if name != "kind":
            yield f"| `{name}` | {_default(field)} | {field.description} |"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or isinstance(value, dict | BaseModel):
        return ""
    return f"`{value.value if isinstance(value, Enum) else value}`"


def with_tables(page: str) -> str:
    """The reference `page` with a table of the keys between the marks of each model."""
    return TABLE.sub(lambda mark: mark[1] + _key_table(mark[2]) + mark[3], page)


def _key_table(model: str) -> str:
    entry: type[FileEntry] = {**vars(mock_file), **vars(endpoints)}[model]
    properties = entry.model_json_schema()["properties"]
    rows = (
        _key_row(name, _kind(properties[name]), field)
        for name, field in entry.model_fields.items()
        if name not in LATER_KEYS
    )
    return "".join(("| Key | Type | Default | Meaning |\n| --- | --- | --- | --- |\n", *rows))


def _key_row(name: str, kind: str, field: FieldInfo) -> str:
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
