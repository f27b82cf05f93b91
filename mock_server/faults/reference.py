"""`docs/reference/faults.md`, written from the catalogue."""

from collections.abc import Iterator
from enum import Enum
from typing import get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mock_server.faults.effects import Effect, Reach
from mock_server.faults.fault import Fault
from mock_server.faults.matching import PUSH_CRITERIA, Match

CATALOGUE: tuple[type[Effect], ...] = get_args(Effect)
KINDS = tuple(str(effect.model_fields["kind"].default) for effect in CATALOGUE)

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


def page() -> str:
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
