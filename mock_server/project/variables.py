"""`${NAME}` in YAML values, replaced from the environment (server.md CFG-3)."""

import re
from collections.abc import Mapping

from mock_server.project.findings import Findings
from mock_server.project.nodes import ListNode, MapNode, Node, Scalar, ScalarNode

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
            return expand_map(node, environment, found)


def expand_map(node: MapNode, environment: Mapping[str, str], found: Findings) -> MapNode:
    """As `expand`, of a mapping; its keys stay."""
    entries = {key: expand(value, environment, found) for key, value in node.entries.items()}
    return MapNode(node.location, entries, node.places)


def _typed(text: str) -> Scalar:
    """A number or boolean if `text` spells one, as YAML would read it in the variable's place."""
    if text in {"true", "false"}:
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text
