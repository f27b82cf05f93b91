"""`a2a_server.agent_card_path`: a card that somebody wrote (server.md CARD-6)."""

import json
from collections.abc import Sequence
from pathlib import Path

from mock_server.dialogue.model import Json
from mock_server.errors import Location
from mock_server.project.findings import Findings
from mock_server.project.nodes import ListNode, MapNode, Node, parse
from mock_server.tasks.json_text import parse_json

CODE = "validation.a2a_server.agent_card"
MEND = "see the AgentCard of A2A 0.3 §5.5"


def read_card_file(path: Path, at: Location, found: Findings) -> dict[str, Json] | None:
    """The card in `path`, which `at` names; None if it is none, which is then a finding."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        found.error(at, CODE, f"agent_card_path: {str(path)!r} cannot be read: {reason}")
        return None
    try:
        card = parse_json(text)
    except json.JSONDecodeError as error:
        found.error(Location(str(path), error.lineno), CODE, f"this is not JSON: {error.msg}")
        return None
    except ValueError as error:
        found.error(Location(str(path), 1), CODE, f"this is not JSON: {error}")
        return None
    if not isinstance(card, dict):
        found.error(Location(str(path), 1), CODE, "a card is a JSON object", MEND)
        return None
    return card if _is_valid(card, path, text, found) else None


def _is_valid(card: dict[str, Json], path: Path, text: str, found: Findings) -> bool:
    # pydantic and the SDK's models take as long to import as all of the loader.
    from a2a.compat.v0_3 import types
    from pydantic import ValidationError

    try:
        # The address is filled in later, and need not be there.
        types.AgentCard.model_validate({"url": "", **card})
    except ValidationError as error:
        root = parse(str(path), text, Findings())
        for problem in error.errors(include_url=False, include_input=False):
            place = ".".join(str(key) for key in problem["loc"])
            line = Location(str(path), _line(root, problem["loc"]))
            found.error(line, CODE, f"{place}: {problem['msg']}", MEND)
        return False
    return True


def _line(node: Node | None, keys: Sequence[str | int]) -> int:
    """The line of the last of `keys` that is there."""
    line = 1 if node is None else node.location.line
    for key in keys:
        match node:
            case MapNode(entries=entries) if key in entries:
                line, node = node.place(str(key)).line, entries[str(key)]
            case ListNode(items=items) if isinstance(key, int) and key < len(items):
                node = items[key]
                line = node.location.line
            case _:
                break
    return line
