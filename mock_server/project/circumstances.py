"""`when` and `match` of `mock.yml`: under which circumstances a rule or a branch counts."""

import re

from mock_server.project.findings import Findings, Mention, MentionKind
from mock_server.project.nodes import MapNode
from mock_server.project.reading import as_text


def read_when(node: MapNode, what: str, mentions: list[Mention], found: Findings) -> str | None:
    """The condition of `when`, to be checked with all others."""
    when = as_text(node.entries.get("when"), found, f"`when` of {what}")
    if when is not None:
        mentions.append(Mention(MentionKind.CONDITION, when, node.place("when"), what))
    return when


def read_match(node: MapNode, what: str, found: Findings) -> re.Pattern[str] | None:
    """The regular expression of `match`."""
    match = as_text(node.entries.get("match"), found, f"`match` of {what}")
    if match is None:
        return None
    try:
        return re.compile(match)
    except re.error as error:
        text = f"match is no regular expression: {error}"
        found.error(node.place("match"), "mock.match", text)
        return None
