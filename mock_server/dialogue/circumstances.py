"""Where a dialogue stands, for the conditions in `mock.yml` (flows.md §13)."""

from mock_server.dialogue.conditions import evaluate
from mock_server.dialogue.stack import active_frame, asked_slot, context_of
from mock_server.dialogue.state import DialogueState
from mock_server.dialogue.templates import Document
from mock_server.errors import ConditionError, TemplateFailed


def holds(condition: str | None, state: DialogueState) -> bool:
    """Whether `condition` holds; None always does, one that cannot be evaluated does not (§3)."""
    if condition is None:
        return True
    try:
        return evaluate(condition, _document(state))
    except (ConditionError, TemplateFailed):
        return False


def _document(state: DialogueState) -> Document:
    """The context has the fields of the patterns on top, `active_flow` and `asked_slot`."""
    frame = active_frame(state.stack)
    context = {
        **context_of(state.stack),
        "active_flow": frame.flow_id if frame else None,
        "asked_slot": asked_slot(state.stack),
    }
    return {"slots": state.slots, "context": context}
