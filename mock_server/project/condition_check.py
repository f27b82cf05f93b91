"""What is wrong with a condition before it ever runs (flows.md §3)."""

import re
from collections.abc import Mapping

from mock_server.dialogue.conditions import compile_condition
from mock_server.dialogue.model import Slot
from mock_server.dialogue.templates import check_template
from mock_server.errors import ConditionError, TemplateFailed
from mock_server.project.comparisons import check_comparisons
from mock_server.project.condition_syntax import explain
from mock_server.project.findings import Findings, Mention, MentionKind, suggestion

QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|\{[^}]*\}")
NAME = re.compile(r"[A-Za-z_][\w.]*")
OPERATORS = frozenset(
    {"and", "or", "not", "is", "contains", "matches", "true", "false", "null", "undefined", "empty"}
)
NAMESPACES = frozenset({"slots", "context"})


def check_condition(mention: Mention, slots: Mapping[str, Slot], found: Findings) -> None:
    """Report a condition that pypred cannot read, or that names what no slot is.

    Of one that Jinja writes while it runs only the Jinja can be judged. A guard has no context to
    look at.
    """
    if "{{" in mention.name:
        _check_jinja(mention, found)
        return
    try:
        compile_condition(mention.name)
    except ConditionError as error:
        reason, mend = explain(mention.name, error.reason)
        text = f"{mention.by} has an invalid condition {mention.name!r}: {reason}"
        found.fault(mention.location, "condition.invalid", text, mend)
        return
    unquoted = QUOTED.sub(" ", mention.name)
    for name in dict.fromkeys(NAME.findall(unquoted)):
        if name.lower() not in OPERATORS:
            _check_name(name, mention, slots, found)
    check_comparisons(mention, slots, found)


def _check_jinja(mention: Mention, found: Findings) -> None:
    try:
        check_template(mention.name)
    except TemplateFailed as error:
        text = f"{mention.by} has an invalid condition {mention.name!r}: {error.reason}"
        found.fault(mention.location, "condition.invalid", text)


def _check_name(name: str, mention: Mention, slots: Mapping[str, Slot], found: Findings) -> None:
    namespace, _, rest = name.partition(".")
    slot = rest.split(".")[0]
    where = f"{mention.by} has condition {mention.name!r}"
    if namespace not in NAMESPACES:
        mend = _with_namespace(name, slots) or 'put a text in quotes: "…"'
        text = f"{where}: {name!r} is neither in slots nor in context"
        found.fault(mention.location, "condition.no_namespace", text, mend)
    elif namespace == "context" and mention.kind is MentionKind.GUARD:
        text = f"{where}: {name!r} has no value while no flow runs, so the flow cannot start"
        found.fault(mention.location, "condition.guard_context", text, "look at a slot instead")
    elif namespace == "slots" and slot not in slots:
        mend = suggestion(slot, slots) or "define it in the domain"
        found.fault(mention.location, "condition.unknown_slot", f"{where}: no slot {slot!r}", mend)
    elif namespace == "slots" and mention.own_slot not in {None, slot}:
        text = f"{where}: a rejection of slot {mention.own_slot!r} cannot look at slot {slot!r}"
        mend = "check it in a branch, or in a validate action"
        found.warn(mention.location, "condition.other_slot", text, mend)


def _with_namespace(name: str, slots: Mapping[str, Slot]) -> str:
    """How to mend a name that is a slot's, and `Slots.x`; empty for any other."""
    namespace, _, rest = name.partition(".")
    if name in slots:
        return f"write slots.{name}"
    return f"write {namespace.lower()}.{rest}" if namespace.lower() in NAMESPACES else ""
