"""YAML nodes validated as pydantic models: every problem at its file and line.

A model knows where its mapping stands. A key without a value counts as one that is left out.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, LiteralString, Self, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ModelWrapValidatorHandler,
    PrivateAttr,
    Strict,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from mock_server.errors import NOWHERE, Location
from mock_server.project.findings import Findings, suggestion
from mock_server.project.nodes import ListNode, MapNode, Node, ScalarNode, is_empty, kind_of, plain

Loc: TypeAlias = tuple[str | int, ...]
"""Keys and indices that lead to a value, as pydantic's `loc`."""

EXPECTED: Mapping[str, str] = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "enum": "one of {expected}",
    "finite_number": "a finite number",
    "float_type": "a number",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "int_type": "an integer of 0 or more",
    "less_than_equal": "at most {le:g}",
    "list_type": "a list",
    "literal_error": "one of {expected}",
    "model_type": "a mapping",
    "string_type": "a text",
}


@dataclass(frozen=True, slots=True)
class _Origin:
    """What an entry was read from; equal entries say the same, wherever it stands."""

    node: MapNode = field(compare=False)


class FileEntry(BaseModel):
    """A mapping of a file; keys that it does not have are mistakes.

    `codes` are those of its problems by pydantic's types of errors, `yaml.type` for all others;
    `fixes` say what to do about them. With `fault_codes` a project runs, and goes wrong.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    codes: ClassVar[Mapping[str, str]] = {}
    fixes: ClassVar[Mapping[str, str]] = {}
    fault_codes: ClassVar[frozenset[str]] = frozenset()
    _origin: _Origin = PrivateAttr(default_factory=lambda: _Origin(MapNode(NOWHERE, {}, {})))

    @model_validator(mode="wrap")
    @classmethod
    def _keep_node(
        cls, raw: object, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        if not isinstance(raw, MapNode):
            return handler(raw)
        if isinstance(info.context, _Owners):
            info.context.by_node[id(raw)] = cls
        fields = cls.model_fields
        given = {k: v for k, v in raw.entries.items() if not (k in fields and is_nothing(v))}
        entry = handler(given)
        entry._origin = _Origin(raw)
        return entry

    @property
    def node(self) -> MapNode:
        """The mapping that the entry was read from."""
        return self._origin.node

    def at(self, *path: str | int) -> Location:
        """The line of the value that `path` leads to from here."""
        return locate(self.node, path)

    def has(self, key: str) -> bool:
        return key in self.node.entries


@dataclass(frozen=True, slots=True)
class _Owners:
    """The models of the mappings that were met, by the identity of the node."""

    by_node: dict[int, type[FileEntry]]


Entry = TypeVar("Entry", bound=FileEntry)
Item = TypeVar("Item")


def validated(model: type[Entry], node: Node | None, found: Findings, name: str) -> Entry | None:
    """Validate `node`, of the file `name`; what is wrong in it is reported and left out."""
    reported: list[Loc] = []
    while node is not None and not is_empty(node):
        owners = _Owners({})
        try:
            return model.model_validate(node, context=owners)
        except ValidationError as error:
            problems = error.errors(include_url=False)
            news = [problem for problem in problems if not _follows(problem["loc"], reported)]
            for problem in news:
                _report(problem, node, owners, found, name)
            reported += [problem["loc"] for problem in problems]
            node = without(node, {_way(node, problem["loc"])[0] for problem in problems})
    return None


def _follows(loc: Loc, reported: Collection[Loc]) -> bool:
    """Whether a problem at `loc` may follow from leaving out what was wrong at or below it."""
    return any(before[: len(loc)] == loc for before in reported)


def _report(
    problem: ErrorDetails,
    root: Node,
    owners: _Owners,
    found: Findings,
    name: str,
) -> None:
    loc, kind = problem["loc"], problem["type"]
    owner = _owner(root, loc, owners)
    of, what = _spelled(loc[:-1], name), _spelled(loc, name)
    code, fix = owner.codes.get(kind, "yaml.type"), owner.fixes.get(kind, "")
    match kind:
        case "extra_forbidden":
            known = tuple(owner.model_fields)
            text = f"{of} has no key {str(loc[-1])!r}"
            fix = suggestion(str(loc[-1]), known) or f"expected one of {', '.join(known)}"
        case "missing":
            text = f"{of} has no `{loc[-1]}`"
        case kind if kind in EXPECTED:
            expected = EXPECTED[kind].format(**_context(problem))
            node = _way(root, loc)[1][-1]
            code = code if isinstance(node, ScalarNode) else "yaml.type"
            text = f"{what}: found {kind_of(node)}, expected {expected}"
        case _:
            code, fix = kind, str(_context(problem).get("fix", ""))
            text = f"{what}: {problem['msg']}"
    report = found.fault if code in owner.fault_codes else found.error
    report(locate(root, loc), code, text, fix)


def _context(problem: ErrorDetails) -> Mapping[str, object]:
    """The values of a problem's message; pydantic lists choices as `'a', 'b' or 'c'`."""
    context = dict(problem.get("ctx", {}))
    if "expected" in context:
        context["expected"] = str(context["expected"]).replace("'", "").replace(" or ", ", ")
    return context


def _owner(root: Node, loc: Loc, owners: _Owners) -> type[FileEntry]:
    """The model in which the problem at `loc` is."""
    _, nodes = _way(root, loc[:-1])
    known = owners.by_node
    return next((known[id(node)] for node in reversed(nodes) if id(node) in known), FileEntry)


def _spelled(loc: Loc, name: str) -> str:
    return ".".join(step for step in loc if isinstance(step, str)) or name


def _way(root: Node, loc: Sequence[str | int]) -> tuple[Loc, Sequence[Node]]:
    """The steps of `loc` that exist, and the nodes along them.

    One value may stand for a list of it, which has an index in `loc` alone.
    """
    taken: list[str | int] = []
    nodes = [root]
    for step in loc:
        match nodes[-1]:
            case MapNode(entries=entries) if isinstance(step, str) and step in entries:
                nodes.append(entries[step])
            case ListNode(items=items) if isinstance(step, int) and step < len(items):
                nodes.append(items[step])
            case _ if isinstance(step, int):
                continue
            case _:
                break
        taken.append(step)
    return tuple(taken), nodes


def find(root: Node | None, path: Loc) -> Node | None:
    """The value that `path` leads to from `root`, if there is one."""
    taken, nodes = _way(root, path) if root is not None else ((), ())
    return nodes[-1] if taken == path and nodes else None


def locate(root: Node, loc: Sequence[str | int]) -> Location:
    """The line of the key or item that `loc` leads to, as far as it exists."""
    path, nodes = _way(root, loc)
    parent = nodes[-2] if path else root
    if isinstance(parent, MapNode) and path and isinstance(path[-1], str):
        return parent.place(path[-1])
    return nodes[-1].location


def without(node: Node, paths: Collection[Loc]) -> Node | None:
    """`node` without what `paths` lead to."""
    if () in paths:
        return None

    def below(step: str | int) -> set[Loc]:
        return {path[1:] for path in paths if path[0] == step}

    match node:
        case MapNode(location=location, entries=entries, places=places):
            kept = {key: without(value, below(key)) for key, value in entries.items()}
            left = {key: value for key, value in kept.items() if value is not None}
            return MapNode(location, left, places)
        case ListNode(location=location, items=items):
            rest = (without(item, below(index)) for index, item in enumerate(items))
            return ListNode(location, tuple(item for item in rest if item is not None))
        case ScalarNode():
            return node


def refusal(code: LiteralString, text: str, fix: str = "") -> PydanticCustomError:
    """A problem with a code of its own, for validators to raise."""
    return PydanticCustomError(code, "{text}", {"text": text, "fix": fix})


def is_nothing(raw: object) -> bool:
    return isinstance(raw, ScalarNode) and raw.value is None


def _source(raw: object) -> object:
    return raw.source if isinstance(raw, ScalarNode) and raw.value is not None else raw


def _boolean(raw: object) -> object:
    """A boolean, also one in quotes."""
    spelled = raw.source.lower() if isinstance(raw, ScalarNode) else ""
    return spelled == "true" if spelled in {"true", "false"} else raw


def _number(raw: object) -> object:
    """A number is one without quotes; anything else stays a node, which pydantic refuses."""
    if not isinstance(raw, ScalarNode) or isinstance(raw.value, str | bool | None):
        return raw
    return raw.value


def _json(raw: object) -> object:
    return plain(raw) if isinstance(raw, Node) else raw


def one_or_more(raw: object) -> object:
    """A list of mappings, for which one may stand alone; nothing is an empty mapping."""
    return [
        MapNode(item.location, {}, {})
        if isinstance(item, ScalarNode) and item.value is None
        else item
        for item in (raw.items if isinstance(raw, ListNode) else (raw,))
    ]


def _items(raw: object) -> object:
    if isinstance(raw, ListNode):
        return raw.items
    return () if is_nothing(raw) else raw


AsWritten = BeforeValidator(_source)
"""A scalar as it is written: numbers and booleans are texts, too."""

AsNumber = BeforeValidator(_number)
Text: TypeAlias = Annotated[str, AsWritten]
Items: TypeAlias = Annotated[list[Item], BeforeValidator(_items)]
"""A list; nothing is an empty one."""
Flag: TypeAlias = Annotated[bool, Strict(), BeforeValidator(_boolean)]
Seconds: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False), AsNumber]
Timeout: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False), AsNumber]
Share: TypeAlias = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False), AsNumber]
Count: TypeAlias = Annotated[int, Field(ge=0), Strict(), AsNumber]
PLAIN = BeforeValidator(_json)
"""A value without its places."""
AnyJson: TypeAlias = Annotated[JsonValue, PLAIN]
