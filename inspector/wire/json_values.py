"""JSON as it comes from strangers: reading that never raises, and lenient access to the tree."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

MAX_DEPTH = 200
SHOWN_DIGITS = 40


class Literal(str):
    """What stands in JSON without quotes and is read as text, such as the number 1e999."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """`value` is None where `problem` says why; `warning` names what was read as text."""

    value: Json
    problem: str = ""
    warning: str = ""


def parse_json(raw: bytes) -> Parsed:
    """Read `raw` as one JSON text.

    What no JSON could be written from again is read as a Literal, with a warning: NaN, infinities,
    and numbers beyond the range of a float.
    """
    warnings: list[str] = []

    def keep_name(name: str) -> str:
        warnings.append(f"{name} is not JSON")
        return Literal(name)

    def read_float(digits: str) -> float | str:
        value = float(digits)
        if isfinite(value):
            return value
        shown = digits if len(digits) <= SHOWN_DIGITS else f"{digits[:SHOWN_DIGITS]}…"
        warnings.append(f"{shown} is larger than any number that can be read")
        return Literal(digits)

    try:
        value: Json = json.loads(
            raw.decode("utf-8-sig"), parse_constant=keep_name, parse_float=read_float
        )
    except UnicodeDecodeError as error:
        return Parsed(None, f"not UTF-8: byte {raw[error.start]:#04x} at {error.start}")
    except RecursionError:
        return Parsed(None, f"nested deeper than {MAX_DEPTH} levels")
    except json.JSONDecodeError as error:
        return Parsed(None, f"not JSON: {error.msg} at line {error.lineno} column {error.colno}")
    except ValueError as error:
        return Parsed(None, f"not readable: {error}")
    if is_deep(value):
        return Parsed(None, f"nested deeper than {MAX_DEPTH} levels")
    return Parsed(value, warning=warnings[0] if warnings else "")


def is_deep(value: Json) -> bool:
    """Say whether `value` nests deeper than MAX_DEPTH, without recursion."""
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _children(node)]
        if not level:
            return False
    return True


def _children(node: Json) -> list[Json]:
    """The containers directly inside `node`; leaves do not deepen a tree."""
    values = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [child for child in values if isinstance(child, dict | list)]


def at(value: Json, *path: str | int) -> Json:
    """The node below `value` at `path`; None where there is none."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def text_at(value: Json, *path: str | int) -> str | None:
    node = at(value, *path)
    return node if isinstance(node, str) else None


def object_at(value: Json, *path: str | int) -> dict[str, Json]:
    node = at(value, *path)
    return node if isinstance(node, dict) else {}


def list_at(value: Json, *path: str | int) -> list[Json]:
    node = at(value, *path)
    return node if isinstance(node, list) else []


def encode_json(value: Json) -> bytes:
    """Compact UTF-8; a lone surrogate, which UTF-8 cannot hold, travels as its escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def encode_as_read(value: Json) -> bytes:
    """As `encode_json`, but each Literal goes out as it was read."""
    if not _has_literal(value):
        return encode_json(value)
    return b"".join(_write(value))


def _has_literal(value: Json) -> bool:
    level: list[Json] = [value]
    while level:
        node = level.pop()
        if isinstance(node, Literal):
            return True
        if isinstance(node, dict | list):
            level.extend(node.values() if isinstance(node, dict) else node)
    return False


def _write(value: Json) -> Iterator[bytes]:
    match value:
        case Literal():
            yield value.encode()
        case dict():
            for index, (key, inner) in enumerate(value.items()):
                yield (b"," if index else b"{") + encode_json(key) + b":"
                yield from _write(inner)
            yield b"}" if value else b"{}"
        case list():
            for index, inner in enumerate(value):
                yield b"," if index else b"["
                yield from _write(inner)
            yield b"]" if value else b"[]"
        case _:
            yield encode_json(value)
