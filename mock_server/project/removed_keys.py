"""Keys that Rasa had for a while, of flows and of their questions (flows.md §2.1)."""

from mock_server.project.findings import Findings
from mock_server.project.nodes import MapNode

REMOVED_KEYS = ("block_digressions", "ask_confirm_digressions")


def warn_removed_keys(node: MapNode, found: Findings) -> None:
    for key in REMOVED_KEYS:
        if key in node.entries:
            text = f"`{key}` is no longer part of Rasa; it is ignored"
            found.warn(node.place(key), "flow.removed_key", text)
