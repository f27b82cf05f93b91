"""What is wrong with a condition before it ever runs (flows.md §3)."""

import re
from collections.abc import Mapping

from mock_server.dialogue.conditions import compile_condition
from mock_server.dialogue.model import Slot, SlotType
from mock_server.dialogue.templates import check_template
from mock_server.errors import ConditionError, TemplateFailed
from mock_server.project.findings import Findings, suggestion
from mock_server.project.mentions import Mention, MentionKind

QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|\{[^}]*\}")
NAME = re.compile(r"[A-Za-z_][\w.]*")
OPERATORS = frozenset(
    {"and", "or", "not", "is", "contains", "matches", "true", "false", "null", "undefined", "empty"}
)
TRUTH_TEST = re.compile(
    r"\bslots\.(\w+)\s*(?:is(?:\s+not)?|==?|!=)\s*(?:true|false)\b", re.IGNORECASE
)
WORDS = frozenset({SlotType.TEXT, SlotType.CATEGORICAL})
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
        text = f"{mention.by} has an invalid condition {mention.name!r}: {error.reason}"
        found.fault(mention.location, "condition.invalid", text)
        return
    unquoted = QUOTED.sub(" ", mention.name)
    for name in dict.fromkeys(NAME.findall(unquoted)):
        if name.lower() not in OPERATORS:
            _check_name(name, mention, slots, found)
    for name in dict.fromkeys(TRUTH_TEST.findall(unquoted)):
        _check_truth_test(name, mention, slots, found)


def _check_jinja(mention: Mention, found: Findings) -> None:
    try:
        check_template(mention.name)
    except TemplateFailed as error:
        text = f"{mention.by} has an invalid condition {mention.name!r}: {error.reason}"
        found.fault(mention.location, "condition.invalid", text)


def _check_truth_test(
    name: str, mention: Mention, slots: Mapping[str, Slot], found: Findings
) -> None:
    """A text is neither true nor false, even if it reads so."""
    slot = slots.get(name)
    if slot is not None and slot.type in WORDS:
        text = (
            f"{mention.by} has condition {mention.name!r}: {name!r} is a {slot.type} slot, and no "
            "text equals true or false"
        )
        found.warn(mention.location, "condition.truth_of_text", text, "make it a bool slot")


def _check_name(name: str, mention: Mention, slots: Mapping[str, Slot], found: Findings) -> None:
    namespace, _, rest = name.partition(".")
    slot = rest.split(".")[0]
    where = f"{mention.by} has condition {mention.name!r}"
    if namespace not in NAMESPACES:
        mend = f"write slots.{name}" if name in slots else 'put a text in quotes: "…"'
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
