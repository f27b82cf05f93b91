"""YAML 1.2 text as nodes that know their file and line.

A file is parsed once, by ruamel.yaml's composer, and nothing is constructed that nobody reads.
`yes`, `no`, `on` and `off` stay strings, and so do dates.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, SequenceNode
from ruamel.yaml.nodes import Node as YamlNode
from ruamel.yaml.nodes import ScalarNode as YamlScalar
from ruamel.yaml.reader import ReaderError

from mock_server.dialogue.model import Json
from mock_server.errors import Location
from mock_server.project.findings import Findings

MAX_NODES = 1_000_000
# What a response holds must also fit into the JSON of an answer, whose encoder admits 254.
MAX_DEPTH = 200
TOO_DEEP = "this is nested too deeply"
MENDS = {
    "'\\t'": "indent with blanks, not with tabs",
    "undefined alias": "write the anchor, &name, before the alias",
    "another document": "keep one document in a file: what follows --- goes into another",
    "mapping values are not allowed": "put a text with a colon in it in quotes",
}
FLATTEN = "give steps an id, and name it in `next` instead of writing them there"
TAG = "tag:yaml.org,2002:"
TAGS = frozenset(
    {
        "binary", "bool", "float", "int", "map", "merge", "null", "omap", "pairs", "seq", "set",
        "str", "timestamp", "value",
    }
)  # fmt: skip

Scalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """`source` is the text as written, without quotes; `value` what YAML makes of it."""

    location: Location
    source: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class ListNode:
    location: Location
    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class MapNode:
    """`places` are the lines of the keys."""

    location: Location
    entries: Mapping[str, "Node"]
    places: Mapping[str, Location]

    def place(self, key: str) -> Location:
        return self.places.get(key, self.location)


Node: TypeAlias = ScalarNode | ListNode | MapNode


def parse(file: str, text: str, found: Findings) -> Node | None:
    """The root of `text`; None if it is empty, or is no YAML, which is then a finding."""
    try:
        root = YAML(typ="safe", pure=True).compose(text)
        return None if root is None else _Converter(file, found).node(root)
    except MarkedYAMLError as error:
        text = _not_yaml(error)
        mend = next((mend for sign, mend in MENDS.items() if sign in text), "")
        found.error(Location(file, _line_of(error)), "yaml.syntax", text, mend)
    except ReaderError as error:
        # ruamel.yaml does not declare the type of `position`.
        _refuse_character(file, text, error.position, found)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    except YAMLError as error:
        reason = str(error).splitlines()[0].strip()
        found.error(Location(file), "yaml.syntax", f"this is not YAML: {reason}")
    except RecursionError:
        found.error(Location(file, 1), "yaml.depth", TOO_DEEP, FLATTEN)
    except _TooManyNodes:
        text = f"aliases make this over {MAX_NODES} nodes"
        found.error(Location(file, 1), "yaml.size", text, "use fewer aliases")
    return None


def _line_of(error: MarkedYAMLError) -> int:
    mark = error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 0


def _not_yaml(error: MarkedYAMLError) -> str:
    """What the parser met, and in what, where that begins on an earlier line."""
    text = f"this is not YAML: {' '.join(str(error.problem or error.context).split())}"
    begin = error.context_mark.line + 1 if error.context_mark else _line_of(error)
    if error.context and begin < _line_of(error):
        text += f", {error.context.strip()} that begins on line {begin}"
    return text


def _refuse_character(file: str, text: str, position: int, found: Findings) -> None:
    line = text.count("\n", 0, position) + 1
    reason = f"this is not YAML: character {ord(text[position]):#04x} is not allowed"
    found.error(Location(file, line), "yaml.syntax", reason, "remove it")


def plain(node: Node) -> Json:
    """The value of `node` without its places."""
    match node:
        case ScalarNode(value=value):
            return value
        case ListNode(items=items):
            return [plain(item) for item in items]
        case MapNode(entries=entries):
            return {key: plain(value) for key, value in entries.items()}


class _TooManyNodes(Exception):
    pass


class _Converter:
    """Makes our nodes of ruamel's; counts aliased ones as if they were written out."""

    def __init__(self, file: str, found: Findings) -> None:
        self._file = file
        self._found = found
        self._made: dict[int, tuple[Node, int]] = {}
        self._open: set[int] = set()
        self._count = 0

    def node(self, yaml: YamlNode) -> Node:
        if id(yaml) in self._made:
            made, size = self._made[id(yaml)]
            self._grow(size)
            return made
        before = self._count
        self._grow(1)
        if id(yaml) in self._open:
            self._found.error(self._at(yaml), "yaml.alias", "this alias contains itself")
            return ScalarNode(self._at(yaml), "", None)
        if len(self._open) >= MAX_DEPTH:
            self._found.error(self._at(yaml), "yaml.depth", TOO_DEEP, FLATTEN)
            return ScalarNode(self._at(yaml), "", None)
        self._open.add(id(yaml))
        made = self._make(yaml)
        self._open.remove(id(yaml))
        self._made[id(yaml)] = made, self._count - before
        return made

    def _grow(self, count: int) -> None:
        self._count += count
        if self._count > MAX_NODES:
            raise _TooManyNodes

    def _at(self, yaml: YamlNode) -> Location:
        return Location(self._file, yaml.start_mark.line + 1)

    def _make(self, yaml: YamlNode) -> Node:
        if yaml.tag and str(yaml.tag).removeprefix(TAG) not in TAGS:
            text = f"nobody knows the tag {str(yaml.tag)!r}"
            self._found.error(self._at(yaml), "yaml.tag", text, "remove it, or put it in quotes")
        if isinstance(yaml, MappingNode):
            return self._map(yaml)
        if isinstance(yaml, SequenceNode):
            return ListNode(self._at(yaml), tuple(self.node(item) for item in yaml.value))
        if not isinstance(yaml, YamlScalar):
            raise TypeError(f"ruamel.yaml has a node of kind {type(yaml).__name__}")
        return ScalarNode(self._at(yaml), yaml.value, _scalar(yaml.tag, yaml.value))

    def _map(self, yaml: MappingNode) -> MapNode:
        entries: dict[str, Node] = {}
        places: dict[str, Location] = {}
        merged: list[MapNode] = []
        for key_node, value_node in yaml.value:
            place = self._at(key_node)
            value = self.node(value_node)
            if isinstance(value, ScalarNode) and not value.source:
                # The composer puts a missing value where the next token is.
                value = replace(value, location=place)
            if not isinstance(key_node, YamlScalar):
                mend = "put a key that begins with a brace or bracket in quotes"
                self._found.error(place, "yaml.key", "a key must be a plain text", mend)
                continue
            key = key_node.value
            if key_node.tag == f"{TAG}merge":
                merged += self._merged(value, place)
            elif key in entries:
                text = f"key {key!r} occurs twice; first at {places[key]}"
                self._found.error(place, "yaml.duplicate_key", text, "remove one of the two")
            else:
                entries[key], places[key] = value, place
        for other in merged:
            entries = {**other.entries, **entries}
            places = {**other.places, **places}
        return MapNode(self._at(yaml), entries, places)

    def _merged(self, value: Node, place: Location) -> list[MapNode]:
        """What `<<` takes over, the first to win."""
        items = value.items if isinstance(value, ListNode) else (value,)
        maps = [item for item in items if isinstance(item, MapNode)]
        if len(maps) < len(items):
            text = "`<<` takes over a mapping, or a list of them, and this is none"
            self._found.error(
                place, "yaml.merge", text, "name the anchor of a mapping: `<<: *name`"
            )
        return maps


def _scalar(tag: str, source: str) -> Scalar:
    """YAML 1.2's core schema (§10.3.2); a tag outside it, such as a timestamp's, gives the text."""
    match tag.removeprefix(TAG):
        case "null":
            return None
        case "bool":
            return source.lower() == "true"
        case "int":
            return _integer(source.replace("_", ""))
        case "float":
            return _float(source.replace("_", "").lower())
        case _:
            return source


def _integer(source: str) -> int | str:
    bases = {"0o": 8, "0x": 16, "0b": 2}
    sign, digits = (source[0], source[1:]) if source[0] in "+-" else ("", source)
    base = bases.get(digits[:2].lower())
    try:
        return int(sign + digits) if base is None else int(sign + digits[2:], base)
    except ValueError:
        return source


def _float(source: str) -> float | str:
    try:
        return float(source.replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        return source
