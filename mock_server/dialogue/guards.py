"""Whether a flow's guard lets a message start it (flows.md §2.1)."""

from collections.abc import Mapping

from mock_server.dialogue.conditions import evaluate
from mock_server.dialogue.model import Flow, Json
from mock_server.errors import ConditionError, TemplateFailed


def can_start(flow: Flow, slots: Mapping[str, Json]) -> bool:
    """Whether the flow's guard holds; one that cannot be evaluated does not."""
    return not why_closed(flow, slots)


def why_closed(flow: Flow, slots: Mapping[str, Json]) -> str:
    """Why the guard of `flow` lets no command start it; empty if it does."""
    if flow.guard is None:
        return ""
    try:
        holds = evaluate(flow.guard, {"slots": slots, "context": {}})
    except (ConditionError, TemplateFailed) as error:
        return f"the flow's condition cannot be evaluated: {error}"
    return "" if holds else "the flow's condition does not hold"
