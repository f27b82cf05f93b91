"""YAML 1.2 text as nodes that know their file and line, and typed values out of them.

A file is parsed once, by ruamel.yaml's composer, and only what is read is constructed.
`yes`, `no`, `on` and `off` stay strings, and so do dates.
"""

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, SequenceNode
from ruamel.yaml.nodes import Node as YamlNode
from ruamel.yaml.nodes import ScalarNode as YamlScalar
from ruamel.yaml.reader import ReaderError

from mock_server.dialogue.model import Json
from mock_server.errors import Location
from mock_server.project.findings import Findings, MentionKind, suggestion

MAX_NODES = 1_000_000
# What a response holds must also fit into the JSON of an answer, whose encoder admits 254.
MAX_DEPTH = 200
TOO_DEEP = "this is nested too deeply"
FIXES = {
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
class MapNode(Mapping[str, "Node"]):
    """`places` are the lines of the keys."""

    location: Location
    entries: Mapping[str, "Node"]
    places: Mapping[str, Location]

    def __getitem__(self, key: str) -> "Node":
        return self.entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def place(self, key: str) -> Location:
        return self.places.get(key, self.location)


Node: TypeAlias = ScalarNode | ListNode | MapNode
NodeT = TypeVar("NodeT", bound="Node | None")


def parse(file: str, text: str, found: Findings) -> Node | None:
    """The root of `text`; None if it is empty or not YAML, which is reported."""
    try:
        root = YAML(typ="safe", pure=True).compose(text)
        return None if root is None else _Converter(file, found).node(root)
    except MarkedYAMLError as error:
        text = _not_yaml(error)
        fix = next((fix for sign, fix in FIXES.items() if sign in text), "")
        found.error(Location(file, _line_of(error)), "yaml.syntax", text, fix)
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
    """The parser's error, and its context where that begins on an earlier line."""
    text = f"this is not YAML: {' '.join(str(error.problem or error.context).split())}"
    begin = error.context_mark.line + 1 if error.context_mark else _line_of(error)
    if error.context and begin < _line_of(error):
        text += f", {error.context.strip()} that begins on line {begin}"
    return text


def _refuse_character(file: str, text: str, position: int, found: Findings) -> None:
    line = text.count("\n", 0, position) + 1
    reason = f"this is not YAML: character {ord(text[position]):#04x} is not allowed"
    found.error(Location(file, line), "yaml.syntax", reason, "remove it")


def plain(node: Node | None) -> Json:
    """The value of `node` without its places."""
    match node:
        case None:
            return None
        case ScalarNode(value=value):
            return value
        case ListNode(items=items):
            return [plain(item) for item in items]
        case MapNode(entries=entries):
            return {key: plain(value) for key, value in entries.items()}


class _TooManyNodes(Exception):
    pass


class _Converter:
    """Converts ruamel's nodes to ours; aliased ones count as if they were written out."""

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
            text = f"unknown tag {str(yaml.tag)!r}"
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
                fix = "put a key that begins with a brace or bracket in quotes"
                self._found.error(place, "yaml.key", "a key must be plain text", fix)
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
        """The mappings that `<<` merges in; the first one wins."""
        items = value.items if isinstance(value, ListNode) else (value,)
        maps = [item for item in items if isinstance(item, MapNode)]
        if len(maps) < len(items):
            text = "`<<` takes a mapping or a list of mappings, and this is neither"
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


def kind_of(node: Node) -> str:
    """A description of `node` for a message."""
    match node:
        case MapNode():
            return "a mapping"
        case ListNode():
            return "a list"
        case ScalarNode(value=None):
            return "nothing"
        case ScalarNode(value=bool()):
            return f"{node.source} (a boolean)"
        case ScalarNode(value=int() | float()):
            return f"{node.source} (a number)"
        case ScalarNode():
            return repr(node.value)


def mistyped(found: Findings, node: Node, what: str, expected: str) -> None:
    """Report that `what` is not `expected`."""
    text = f"{what}: found {kind_of(node)}, expected {expected}"
    found.error(node.location, "yaml.type", text)


def as_map(node: Node | None, found: Findings, what: str) -> MapNode | None:
    """A mapping; an empty value counts as none."""
    if isinstance(node, MapNode):
        return node
    if node is not None and not is_empty(node):
        mistyped(found, node, what, "a mapping")
    return None


def as_items(node: Node | None, found: Findings, what: str) -> tuple[Node, ...]:
    """The items of a list; an empty value counts as none."""
    if isinstance(node, ListNode):
        return node.items
    if node is not None and not is_empty(node):
        mistyped(found, node, what, "a list")
    return ()


def as_text(node: Node | None, found: Findings, what: str) -> str | None:
    """A text; numbers and booleans are read as they are written."""
    if node is None or is_empty(node):
        return None
    if isinstance(node, ScalarNode):
        return node.source
    mistyped(found, node, what, "a text")
    return None


def as_texts(node: Node | None, found: Findings, what: str) -> tuple[str, ...]:
    """A list of texts."""
    texts = (as_text(item, found, what) for item in as_items(node, found, what))
    return tuple(text for text in texts if text is not None)


def is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value is None


@dataclass(frozen=True, slots=True)
class Fields:
    """The values of a mapping, called `what` in messages; one that is mistyped counts as none."""

    node: MapNode
    what: str
    found: Findings

    def __contains__(self, key: str) -> bool:
        return key in self.node.entries

    def has_value(self, key: str) -> bool:
        node = self.get(key)
        return node is not None and not is_empty(node)

    def get(self, key: str) -> Node | None:
        return self.node.entries.get(key)

    def at(self, key: str) -> Location:
        """The line of `key`, of the mapping if it is not there."""
        return self.node.place(key)

    def text(self, key: str) -> str | None:
        return as_text(self.get(key), self.found, f"{key} of {self.what}")

    def texts(self, key: str) -> tuple[str, ...]:
        return as_texts(self.get(key), self.found, f"{key} of {self.what}")

    def number(self, key: str) -> float | None:
        match self.get(key):
            case None | ScalarNode(value=None):
                return None
            case ScalarNode(value=int() | float() as number) if not isinstance(number, bool):
                return float(number)
            case node:
                mistyped(self.found, node, f"{key} of {self.what}", "a number")
                return None

    def flag(self, key: str, *, default: bool) -> bool:
        """A boolean, also one in quotes."""
        match self.get(key):
            case None:
                return default
            case ScalarNode(source=source) if source.lower() in {"true", "false"}:
                return source.lower() == "true"
            case node:
                mistyped(self.found, node, f"{key} of {self.what}", "true or false")
                return default

    def json(self, key: str) -> Json:
        return plain(self.get(key))

    def items(self, key: str) -> tuple[Node, ...]:
        return as_items(self.get(key), self.found, f"{key} of {self.what}")

    def below(self, key: str, what: str = "") -> "Fields":
        """The mapping that `key` has, an empty one if there is none."""
        what = what or f"{key} of {self.what}"
        mapping = as_map(self.get(key), self.found, what)
        if mapping is None:
            mapping = MapNode(self.at(key), {}, {})
        return Fields(mapping, what, self.found)

    def each(self, key: str, what: str) -> Iterator["Fields"]:
        """The mappings in the list that `key` has, each called `what`."""
        for item in self.items(key):
            fields = fields_of(item, self.found, what)
            if fields is not None:
                yield fields

    def entries(self) -> Iterator[tuple[str, Node, Location]]:
        """Each key with its value and its line."""
        return ((key, value, self.at(key)) for key, value in self.node.entries.items())

    def mention(
        self, kind: MentionKind, name: str, key: str, by: str = "", own_slot: str | None = None
    ) -> None:
        """Note that the value of `key` names `name`."""
        self.found.mention(kind, name, self.at(key), by or self.what, own_slot=own_slot)

    def warn(self, key: str, code: str, text: str, fix: str = "") -> None:
        self.found.warn(self.at(key), code, text, fix)

    def fault(self, key: str, code: str, text: str, fix: str = "") -> None:
        self.found.fault(self.at(key), code, text, fix)

    def warn_unknown(self, known: Collection[str], what: str = "") -> None:
        """Warn of keys that neither Rasa nor the mock knows."""
        for key in self.node.entries:
            if key not in known:
                text = f"{what or self.what} has no key {key!r}"
                self.warn(key, "yaml.unknown_key", text, suggestion(key, known))

    def refuse_unknown(self, known: Sequence[str], code: str) -> None:
        """Report unknown keys as errors, where ignoring them would mislead."""
        for key in self.node.entries:
            if key not in known:
                fix = suggestion(key, known) or f"expected one of {', '.join(known)}"
                self.found.error(self.at(key), code, f"{self.what} has no key {key!r}", fix)


def fields_of(node: Node | None, found: Findings, what: str) -> Fields | None:
    """The mapping that `node` is; an empty value counts as none."""
    mapping = as_map(node, found, what)
    return None if mapping is None else Fields(mapping, what, found)


VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def expand(node: Node, environment: Mapping[str, str], found: Findings) -> Node:
    """`node` with every variable replaced; one that is not set is reported and stays."""
    match node:
        case ScalarNode(location=location, source=source) if VARIABLE.search(source):
            for name in VARIABLE.findall(source):
                if name not in environment:
                    text = f"environment variable {name} is not set"
                    found.error(location, "config.unset_variable", text, f"export {name}=…")
            replaced = VARIABLE.sub(lambda m: environment.get(m[1], m[0]), source)
            is_whole = VARIABLE.fullmatch(source) is not None
            return ScalarNode(location, replaced, _typed(replaced) if is_whole else replaced)
        case ScalarNode():
            return node
        case ListNode(location=location, items=items):
            return ListNode(location, tuple(expand(item, environment, found) for item in items))
        case MapNode():
            return expand_keys(node, node.entries, environment, found)


def expand_keys(
    node: NodeT, keys: Container[str], environment: Mapping[str, str], found: Findings
) -> NodeT | MapNode:
    """`node` with every variable replaced below `keys`, if it is a mapping."""
    if not isinstance(node, MapNode):
        return node
    entries = {
        key: expand(value, environment, found) if key in keys else value
        for key, value in node.entries.items()
    }
    return MapNode(node.location, entries, node.places)


def _typed(text: str) -> Scalar:
    """A number or boolean if `text` spells one, as YAML would read it in the variable's place."""
    if text in {"true", "false"}:
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text
