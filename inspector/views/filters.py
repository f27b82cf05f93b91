"""What a user types to see less: terms that all must hold (inspector.md WIRE-2).

state:working      the state, in any spelling; several with commas
task:91c           the task's id begins so; context: likewise
status:err         what failed or was refused; status:ok, status:open, or an HTTP status: 4, 404
method:send        the JSON-RPC method or purpose holds it; lane:push the way it came
finding:late       a finding's severity or message holds it
.status.state=working   a path into the JSON of the bytes; =, != and ~ (holds), alone: is there
"two words"        text that is anywhere
!term              not that
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from inspector.wire.json_values import Json

_TERM = re.compile(r'(?P<not>!?)(?P<body>(?:"[^"]*"?|[^\s"])+)')
_FIELD = re.compile(r"([a-z]+):(?!//)(.*)", re.DOTALL)
_PATH = re.compile(r"(\.[^=~!]*)(?:(=|!=|~)(.*))?", re.DOTALL)


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


class FilterField(StrEnum):
    STATE = "state"
    TASK = "task"
    CONTEXT = "context"
    STATUS = "status"
    METHOD = "method"
    LANE = "lane"
    FINDING = "finding"


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """One of `values` must hold; they are in lower case."""

    field: FilterField
    values: tuple[str, ...]
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class PathTerm:
    """`sign` is "" where the path need only lead somewhere, else "=" or "~"."""

    path: JsonPath
    sign: str
    value: str
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class TextTerm:
    """`text` is in lower case."""

    text: str
    is_negated: bool = False


Term: TypeAlias = FieldTerm | PathTerm | TextTerm


@dataclass(frozen=True, slots=True)
class Filter:
    """`text` as typed; without a term everything holds."""

    text: str
    terms: tuple[Term, ...] = ()

    @property
    def byte_terms(self) -> tuple[tuple[int, PathTerm | TextTerm], ...]:
        """The terms that ask for bytes, each with its place among all."""
        return tuple(
            (place, term)
            for place, term in enumerate(self.terms)
            if not isinstance(term, FieldTerm)
        )

    def holds(self, is_true: Callable[[int, Term], bool]) -> bool:
        """Say whether every term holds, given which are true but for their negation."""
        return all(is_true(place, term) != term.is_negated for place, term in enumerate(self.terms))


@dataclass(frozen=True, slots=True)
class BadFilter:
    """`position` counts characters of the text from 0."""

    position: int
    message: str


NO_FILTER = Filter("")


def parse_filter(text: str) -> Filter | BadFilter:
    """The filter that `text` says, or where it says none."""
    terms: list[Term] = []
    for found in _TERM.finditer(text):
        body, position = found["body"], found.start("body")
        if body.count('"') % 2:
            return BadFilter(position + body.rindex('"'), 'a " that nothing closes')
        if body == "!":
            return BadFilter(position, "! needs a term right after it")
        term = _parse_term(body, position)
        if isinstance(term, BadFilter):
            return term
        # != is a negation of its own
        terms.append(replace(term, is_negated=term.is_negated != bool(found["not"])))
    return Filter(text, tuple(terms))


def _parse_term(body: str, position: int) -> Term | BadFilter:
    if body.startswith("."):
        return _parse_path_term(body, position)
    field = _FIELD.fullmatch(body)
    if field is None:
        return TextTerm(_unquoted(body).lower())
    name, text = field[1], field[2]
    if name not in set(FilterField):
        known = ", ".join(FilterField)
        return BadFilter(position, f"no field is called {name!r}; there are {known}")
    values = tuple(value for value in _unquoted(text).lower().split(",") if value)
    if not values:
        return BadFilter(position + len(body), f"{name}: needs a value")
    return FieldTerm(FilterField(name), values)


def _parse_path_term(body: str, position: int) -> PathTerm | BadFilter:
    found = _PATH.fullmatch(body)
    if found is None:
        return BadFilter(position + body.index("!"), "expected =, != or ~ after the path")
    path = parse_path(found[1])
    if isinstance(path, BadPath):
        return BadFilter(position + path.position, path.message)
    sign, value = found[2] or "", _unquoted(found[3] or "")
    return PathTerm(path, sign.removeprefix("!"), value, is_negated=sign == "!=")


def _unquoted(text: str) -> str:
    return text.replace('"', "")


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
