"""A fault as one line to read, edit and arm: `delay seconds=2 count=1`."""

import json
import shlex
from collections.abc import Iterable, Mapping

from inspector.core.commands import Json
from inspector.errors import UsageError
from inspector.wire.mock_admin import FaultKind, Parameter
from inspector.wire.tree import parse_json

# Beside the effect's own parameters; `match.` stands before a criterion's name.
_FAULT_FIELDS = ("count", "probability")
_MATCH = "match."

# What is tried first where the mock has no default.
_SUGGESTED: Mapping[str, Json] = {
    "status": 503,
    "seconds": 2,
    "state": "failed",
    "merge": {"capabilities": {"streaming": False}},
}
_OF_TYPE: Mapping[str, Json] = {"integer": 1, "number": 1, "boolean": True, "object": {}}


def suggest(kind: FaultKind, count: int | None = 1) -> dict[str, Json]:
    """The fault of `kind` as the admin API takes it, for the next `count` requests or all."""
    effect: dict[str, Json] = {"kind": kind.name}
    for parameter in kind.parameters:
        if parameter.is_required:
            effect[parameter.name] = _suggested(parameter)
    fault: dict[str, Json] = {"effect": effect}
    if count is not None:
        fault["count"] = count
    return fault


def spell(fault: Mapping[str, Json], kind: FaultKind) -> str:
    """`fault` as a line, the parameters with their defaults in it."""
    effect = fault.get("effect")
    given = effect if isinstance(effect, dict) else {}
    words = [kind.name]
    for parameter in kind.parameters:
        value = given.get(parameter.name, parameter.default)
        words += [_word(parameter.name, value)] if value is not None else []
    words += [_word(name, fault[name]) for name in _FAULT_FIELDS if name in fault]
    return " ".join(words)


def parse(text: str, kinds: Iterable[FaultKind]) -> dict[str, Json]:
    """The fault that a line describes; what its values must be, the mock itself knows.

    Raises:
        UsageError: there is no such kind or parameter.
    """
    try:
        name, *words = shlex.split(text) or [""]
    except ValueError as error:
        raise UsageError(f"{text!r}: {error}; write KIND NAME=VALUE …") from None
    known = {kind.name: kind for kind in kinds}
    if name not in known:
        raise UsageError(f"the mock has no fault {name!r}")
    parameters = [parameter.name for parameter in known[name].parameters]
    fault: dict[str, Json] = {}
    effect: dict[str, Json] = {"kind": name}
    match: dict[str, Json] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"{word!r} is no NAME=VALUE")
        if key.startswith(_MATCH):
            match[key.removeprefix(_MATCH)] = value
        elif key in _FAULT_FIELDS:
            fault[key] = _value(value)
        elif key in parameters:
            effect[key] = _value(value)
        else:
            names = ", ".join((*parameters, *_FAULT_FIELDS, "match.method"))
            raise UsageError(f"{name} has no {key!r}; there are {names}")
    fault["effect"] = effect
    if match:
        fault["match"] = match
    return fault


def _suggested(parameter: Parameter) -> Json:
    if parameter.name in _SUGGESTED:
        value = _SUGGESTED[parameter.name]
        if not parameter.choices or value in parameter.choices:
            return value
    if parameter.choices:
        return parameter.choices[0]
    return _OF_TYPE.get(parameter.type, parameter.name)


def _word(name: str, value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shlex.quote(f"{name}={text}")


def _value(text: str) -> Json:
    parsed = parse_json(text.encode())
    return text if parsed.problem else parsed.value
