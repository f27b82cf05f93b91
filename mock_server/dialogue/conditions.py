"""Conditions of flows, collect steps, slots and responses: pypred predicates (flows.md §3)."""

import re
from collections.abc import Mapping
from functools import lru_cache

from pypred import Predicate

from mock_server.dialogue.model import Flow, Json
from mock_server.dialogue.stack import active_frame, asked_slot, context_of
from mock_server.dialogue.state import DialogueState
from mock_server.dialogue.templates import Document, render_expression
from mock_server.errors import ConditionError, TemplateFailed

CACHED_CONDITIONS = 4096
SLOT = re.compile(r"\bslots\.(\w+)")
# The question that each collect step asks; reading a predicate costs as much as several turns.
NULL_TEST = re.compile(r"(slots|context)\.(\w+) is (not )?null")


def compile_condition(source: str) -> Predicate:
    """Return the predicate that `source`, free of Jinja, spells.

    Raises:
        ConditionError: pypred cannot read it.
    """
    read = _read(source)
    if isinstance(read, str):
        raise ConditionError(source, read)
    return read


@lru_cache(maxsize=CACHED_CONDITIONS)
def _read(source: str) -> Predicate | str:
    """The predicate, or why there is none: a loop may ask for either many times."""
    try:
        predicate = Predicate(source)
        return predicate if predicate.is_valid() else "; ".join(predicate.errors()["errors"])
    except RecursionError:
        return "it is nested too deeply"


@lru_cache(maxsize=CACHED_CONDITIONS)
def _null_test(source: str) -> tuple[str, str, bool] | None:
    """The namespace and field of which `source` asks if it is null, or (False) if it is not."""
    test = NULL_TEST.fullmatch(source)
    return (test[1], test[2], test[3] is None) if test else None


def evaluate(source: str, document: Document) -> bool:
    """Whether `source` holds of `document`, which has the namespaces `slots` and `context`.

    Raises:
        ConditionError: it cannot be read, or compares what has no order or no members.
    """
    rendered = render_expression(source, document)
    null_test = _null_test(rendered)
    if null_test:
        namespace, name, is_null = null_test
        if name in document[namespace]:
            return (document[namespace][name] is None) == is_null
    predicate = compile_condition(rendered)
    try:
        return predicate.evaluate(document)
    except TypeError as error:
        raise ConditionError(rendered, _what_has_no_order(rendered, document)) from error
    except (ValueError, KeyError, RecursionError) as error:
        raise ConditionError(rendered, str(error)) from error


def _what_has_no_order(source: str, document: Document) -> str:
    empty = [name for name in SLOT.findall(source) if document["slots"].get(name) is None]
    if empty:
        return f"{', '.join(f'slots.{name}' for name in dict.fromkeys(empty))} has no value"
    return "it compares values of two kinds"


def can_start(flow: Flow, slots: Mapping[str, Json]) -> bool:
    """Whether the flow's guard holds; one that cannot be evaluated does not."""
    return flow.guard is None or not why_closed(flow, slots)


def why_closed(flow: Flow, slots: Mapping[str, Json]) -> str:
    """Why the guard of `flow` lets no command start it; empty if it does."""
    if flow.guard is None:
        return ""
    try:
        holds = evaluate(flow.guard, {"slots": slots, "context": {}})
    except (ConditionError, TemplateFailed) as error:
        return f"the flow's condition cannot be evaluated: {error}"
    return "" if holds else "the flow's condition does not hold"


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
