"""Checks a JSON tree against type definitions, which are written one after the other as text.

    Message §6.4 = kind: 'message', messageId: string, parts: Part[], taskId?: string
    Part §6.5 by kind = text: TextPart, data: DataPart
    File §6.6 by field = bytes: FileWithBytes, uri: FileWithUri
    Role = agent | user

Continued lines are indented; the section may be missing. A name ending in `?` is optional. A type
is a primitive (`string`, `boolean`, `integer`, `object`, `any`), a literal (`'text'`), the name of
a definition, any of these followed by `[]`, or `{T}` for an object whose values are all `T`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import Json

# Of a wrong string a message shows this much; the raw reply has the rest.
SHOWN_CHARACTERS = 40

Fields: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Tagged:
    """A union whose types differ in the literal of the field `tag`."""

    tag: str
    types: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Keyed:
    """A union whose types differ in which of the keys of `types` the object has."""

    types: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Enum:
    values: frozenset[str]


Definition: TypeAlias = Fields | Tagged | Keyed | Enum


@dataclass(frozen=True, slots=True)
class Schema:
    """`sections` says where the specification defines each type; `name` is the version's."""

    name: str
    definitions: Mapping[str, Definition]
    sections: Mapping[str, str]

    def check(self, value: Json, type_: str, path: str = "$") -> tuple[Finding, ...]:
        """Every place where `value` is not a `type_`; unknown fields are allowed."""
        return tuple(self._check(value, type_, path, self._section(type_, "")))

    @property
    def words(self) -> frozenset[str]:
        """The names of fields, and the values that the definitions fix."""
        words: set[str] = set()
        for definition in self.definitions.values():
            match definition:
                case Enum(values):
                    words |= values
                case Tagged(tag, types):
                    words |= {tag, *types}
                case Keyed(types):
                    words |= set(types)
                case _:
                    words |= {field.removesuffix("?") for field in definition}
                    words |= {one[1:-1] for one in definition.values() if one.startswith("'")}
        return frozenset(words)

    def _section(self, type_: str, outer: str) -> str:
        """The section of `type_`, or that of the type around it."""
        section = self.sections.get(type_.removesuffix("[]"))
        return f"{self.name} §{section}" if section else outer

    def _check(self, value: Json, type_: str, path: str, section: str) -> Iterator[Finding]:
        if type_.endswith("[]"):
            yield from self._check_list(value, type_.removesuffix("[]"), path, section)
        elif type_.startswith("{"):
            yield from self._check_values(value, type_[1:-1], path, section)
        elif (definition := self.definitions.get(type_)) is None:
            if not _is_primitive(value, type_):
                yield _wrong(section, path, type_, value)
        else:
            yield from self._check_definition(
                value, definition, path, self._section(type_, section)
            )

    def _check_list(self, value: Json, item: str, path: str, section: str) -> Iterator[Finding]:
        if not isinstance(value, list):
            yield _wrong(section, path, "array", value)
            return
        for index, element in enumerate(value):
            yield from self._check(element, item, f"{path}[{index}]", section)

    def _check_values(self, value: Json, type_: str, path: str, section: str) -> Iterator[Finding]:
        if not isinstance(value, dict):
            yield _wrong(section, path, "object", value)
            return
        for key, element in value.items():
            yield from self._check(element, type_, join(path, key), section)

    def _check_definition(
        self, value: Json, definition: Definition, path: str, section: str
    ) -> Iterator[Finding]:
        if isinstance(definition, Enum):
            if not isinstance(value, str) or value not in definition.values:
                expected = " | ".join(sorted(definition.values))
                yield _wrong(section, path, expected, value)
        elif not isinstance(value, dict):
            yield _wrong(section, path, "object", value)
        elif isinstance(definition, Tagged):
            yield from self._check_tagged(value, definition, path, section)
        elif isinstance(definition, Keyed):
            yield from self._check_keyed(value, definition, path, section)
        else:
            yield from self._check_fields(value, definition, path, section)

    def _check_tagged(
        self, value: dict[str, Json], union: Tagged, path: str, section: str
    ) -> Iterator[Finding]:
        tag = value.get(union.tag)
        if isinstance(tag, str) and tag in union.types:
            yield from self._check(value, union.types[tag], path, section)
            return
        expected = " | ".join(repr(name) for name in union.types)
        if union.tag in value:
            yield _wrong(section, join(path, union.tag), expected, tag)
        else:
            yield _missing(section, path, union.tag, expected)

    def _check_keyed(
        self, value: dict[str, Json], union: Keyed, path: str, section: str
    ) -> Iterator[Finding]:
        for key, type_ in union.types.items():
            if key in value:
                yield from self._check(value, type_, path, section)
                return
        yield _missing(section, path, "` or `".join(union.types), "any of them")

    def _check_fields(
        self, value: dict[str, Json], fields: Fields, path: str, section: str
    ) -> Iterator[Finding]:
        for field, type_ in fields.items():
            name = field.removesuffix("?")
            is_optional = name != field
            if name not in value:
                if not is_optional:
                    yield _missing(section, path, name, type_)
            elif value[name] is None and is_optional:
                yield Finding(
                    Severity.WARNING,
                    section,
                    join(path, name),
                    "null; an optional field without a value is left out",
                )
            else:
                yield from self._check(value[name], type_, join(path, name), section)


_DEFINITION = re.compile(r"(\w+)(?: §([\d.]+))?(?: by (\w+))? = (.+(?:\n .+)*)")


def read_schema(name: str, text: str) -> Schema:
    """The schema of the version `name` that `text` writes as the head of this module says."""
    definitions: dict[str, Definition] = {}
    sections: dict[str, str] = {}
    for type_, section, tag, body in _DEFINITION.findall(text):
        definitions[type_] = _read_definition(tag, " ".join(body.split()))
        if section:
            sections[type_] = section
    return Schema(name, definitions, sections)


def _read_definition(tag: str, body: str) -> Definition:
    if ": " not in body:
        return Enum(frozenset(body.split(" | ")))
    fields = {field: type_ for field, _, type_ in (one.partition(": ") for one in body.split(", "))}
    if not tag:
        return fields
    return Keyed(fields) if tag == "field" else Tagged(tag, fields)


def join(path: str, key: str) -> str:
    """`path` and one key more, quoted where it is no plain name."""
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{key!r}]"


def _is_primitive(value: Json, type_: str) -> bool:
    match type_:
        case "any":
            return True
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "object":
            return isinstance(value, dict)
        case literal:
            return value == literal.strip("'")


def _wrong(section: str, path: str, expected: str, value: Json) -> Finding:
    return Finding(Severity.ERROR, section, path, f"expected {expected}, found {type_name(value)}")


def _missing(section: str, path: str, name: str, type_: str) -> Finding:
    return Finding(Severity.ERROR, section, path, f"`{name}` is missing: {type_}")


def type_name(value: Json) -> str:
    """JSON's word for the type of `value`; a text is shown itself, cut short."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return repr(value[:SHOWN_CHARACTERS])
        case int() | float():
            return "number"
        case list():
            return "array"
        case dict():
            return "object"
        case _ as never:
            assert_never(never)
