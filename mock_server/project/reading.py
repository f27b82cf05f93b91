"""Typed values out of nodes: each function reports what it cannot read and gives None for it."""

from collections.abc import Iterable, Sequence

from mock_server.dialogue.model import Json
from mock_server.project.findings import Findings, suggestion
from mock_server.project.nodes import ListNode, MapNode, Node, ScalarNode, plain


def kind_of(node: Node) -> str:
    """What `node` is, in the words of a message."""
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


def as_bool(node: Node | None, found: Findings, what: str, *, default: bool) -> bool:
    """A boolean, also one in quotes."""
    if node is None:
        return default
    if isinstance(node, ScalarNode):
        if isinstance(node.value, bool):
            return node.value
        if node.source.lower() in {"true", "false"}:
            return node.source.lower() == "true"
    mistyped(found, node, what, "true or false")
    return default


def as_number(node: Node | None, found: Findings, what: str) -> float | None:
    if node is None or is_empty(node):
        return None
    if (
        isinstance(node, ScalarNode)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
    ):
        return float(node.value)
    mistyped(found, node, what, "a number")
    return None


def as_texts(node: Node | None, found: Findings, what: str) -> tuple[str, ...]:
    """A list of texts."""
    texts = (as_text(item, found, what) for item in as_items(node, found, what))
    return tuple(text for text in texts if text is not None)


def as_json(node: Node | None) -> Json:
    return None if node is None else plain(node)


def is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value is None


def warn_unknown_keys(node: MapNode, known: Iterable[str], found: Findings, what: str) -> None:
    """Warn of keys of `node` that mean nothing to Rasa, nor to us."""
    names = frozenset(known)
    for key in node.entries:
        if key not in names:
            mend = suggestion(key, names)
            found.warn(node.place(key), "yaml.unknown_key", f"{what} has no key {key!r}", mend)


def refuse_unknown_keys(
    node: MapNode, known: Sequence[str], found: Findings, what: str, code: str
) -> None:
    """Report keys of `node` that mean nothing, where passing over them would mislead."""
    for key in node.entries:
        if key not in known:
            mend = suggestion(key, known) or f"expected one of {', '.join(known)}"
            found.error(node.place(key), code, f"{what} has no key {key!r}", mend)
