"""Paths into JSON as jq writes the plain ones: `.result.artifacts[0].name`, `.parts[].text`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from inspector.wire.tree import Json

_STEP = re.compile(r"\.?(?:\[(?P<index>\d*)\]|(?P<key>[^.\[\]\s\"]+)|\[?\"(?P<quoted>[^\"]*)\"\]?)")
# A path is looked for at the root, then inside what JSON-RPC wraps around.
_WRAPPERS = ("result", "params", "error")

# A key, a place in a list, or None for every one of a list.
Step: TypeAlias = str | int | None


@dataclass(frozen=True, slots=True)
class JsonPath:
    text: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class BadPath:
    """`position` counts characters of the path from 0."""

    position: int
    message: str


def parse_path(text: str) -> JsonPath | BadPath:
    """The path that `text` writes; "." is the whole."""
    steps: list[Step] = []
    position = 1 if text == "." else 0
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            return BadPath(position, f"expected .name or [0], found {text[position:][:10]!r}")
        steps.append(_step(found))
        position = found.end()
    return JsonPath(text, tuple(steps))


def _step(found: re.Match[str]) -> Step:
    if found["index"] is not None:
        return int(found["index"]) if found["index"] else None
    return found["key"] if found["key"] is not None else found["quoted"]


def values_at(value: Json, path: JsonPath) -> Iterator[Json]:
    """What `path` leads to, wherever it begins: at the root, or at a result or params."""
    yield from _follow(value, path.steps)
    if isinstance(value, dict):
        for name in _WRAPPERS:
            if name in value and path.steps[:1] != (name,):
                yield from _follow(value[name], path.steps)


def _follow(value: Json, steps: tuple[Step, ...]) -> Iterator[Json]:
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    if isinstance(value, dict) and isinstance(step, str) and step in value:
        yield from _follow(value[step], rest)
    elif isinstance(value, list) and step is None:
        for item in value:
            yield from _follow(item, rest)
    elif isinstance(value, list) and isinstance(step, int) and step < len(value):
        yield from _follow(value[step], rest)


def may_hold(raw: bytes, path: JsonPath) -> bool:
    """Say whether parsing `raw` could find the path; cheap, so that most is never parsed."""
    keys = [step for step in path.steps if isinstance(step, str)]
    return b"\\u" in raw or all(key.encode() in raw for key in keys if key.isascii())
