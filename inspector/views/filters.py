"""What a user types to see less: terms that all must hold (inspector.md WIRE-2).

state:working      the state, however it is spelt; several with commas
task:91c           the task's id begins so; context: likewise
status:err         what failed or was refused; status:ok, status:open, or an HTTP status: 4, 404
method:send        the JSON-RPC method or purpose holds it; lane:push the way it came
finding:late       a finding's severity or message holds it
.status.state=working   a path into the JSON of the bytes; =, != and ~ (holds), alone: is there
"two words"        text that is anywhere
!term              not that
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from inspector.views.json_paths import BadPath, JsonPath, parse_path

_TERM = re.compile(r'(?P<not>!?)(?P<body>(?:"[^"]*"?|[^\s"])+)')
_FIELD = re.compile(r"([a-z]+):(?!//)(.*)", re.DOTALL)
_PATH = re.compile(r"(\.[^=~!]*)(?:(=|!=|~)(.*))?", re.DOTALL)


class Field(StrEnum):
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

    field: Field
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
    if name not in set(Field):
        known = ", ".join(Field)
        return BadFilter(position, f"no field is called {name!r}; there are {known}")
    values = tuple(value for value in _unquoted(text).lower().split(",") if value)
    if not values:
        return BadFilter(position + len(body), f"{name}: needs a value")
    return FieldTerm(Field(name), values)


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
