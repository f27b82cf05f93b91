"""Checks of conditions before they run (flows.md §3)."""

import re
from collections.abc import Mapping
from enum import StrEnum

from mock_server.dialogue.expressions import check_template, compile_condition
from mock_server.dialogue.model import Slot, SlotType
from mock_server.errors import ConditionError, TemplateFailed
from mock_server.project.findings import Findings, Mention, MentionKind, suggestion

QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|\{[^}]*\}")
NAME = re.compile(r"[A-Za-z_][\w.]*")
OPERATORS = frozenset(
    {"and", "or", "not", "is", "contains", "matches", "true", "false", "null", "undefined", "empty"}
)
NAMESPACES = frozenset({"slots", "context"})


def check_condition(mention: Mention, slots: Mapping[str, Slot], found: Findings) -> None:
    """Report a condition that pypred cannot read, or that names an unknown slot.

    Of one that Jinja writes while it runs only the Jinja can be judged. A guard has no context to
    look at.
    """
    if "{{" in mention.name:
        _check_jinja(mention, found)
        return
    try:
        compile_condition(mention.name)
    except ConditionError as error:
        reason, fix = explain(mention.name, error.reason)
        text = f"{mention.by} has an invalid condition {mention.name!r}: {reason}"
        found.fault(mention.location, "condition.invalid", text, fix)
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
        fix = _with_namespace(name, slots) or 'put a text in quotes: "…"'
        text = f"{where}: {name!r} is neither in slots nor in context"
        found.fault(mention.location, "condition.no_namespace", text, fix)
    elif namespace == "context" and mention.kind is MentionKind.GUARD:
        text = f"{where}: {name!r} has no value while no flow runs, so the flow cannot start"
        found.fault(mention.location, "condition.guard_context", text, "look at a slot instead")
    elif namespace == "slots" and slot not in slots:
        fix = suggestion(slot, slots) or "define it in the domain"
        found.fault(mention.location, "condition.unknown_slot", f"{where}: no slot {slot!r}", fix)
    elif namespace == "slots" and mention.own_slot not in {None, slot}:
        text = f"{where}: a rejection of slot {mention.own_slot!r} cannot look at slot {slot!r}"
        fix = "check it in a branch, or in a validate action"
        found.warn(mention.location, "condition.other_slot", text, fix)


def _with_namespace(name: str, slots: Mapping[str, Slot]) -> str:
    """How to fix a name that is a slot's, and `Slots.x`; empty for any other."""
    namespace, _, rest = name.partition(".")
    if name in slots:
        return f"write slots.{name}"
    return f"write {namespace.lower()}.{rest}" if namespace.lower() in NAMESPACES else ""


COMPARISON = re.compile(
    r"\bslots\.(?P<slot>\w+)\s*(?P<operator>is\s+not\b|is\b|[!=]=|[<>]=?|=)\s*"
    r"(?P<value>\"[^\"]*\"|'[^']*'|true\b|false\b|[-+]?\d[\d.]*)",
    re.IGNORECASE,
)


class _Kind(StrEnum):
    """The kind of a slot's value, and of a value that it is compared with."""

    TEXT = "text"
    NUMBER = "number"
    TRUTH = "truth value"


KINDS: Mapping[SlotType, _Kind] = {
    SlotType.BOOL: _Kind.TRUTH,
    SlotType.CATEGORICAL: _Kind.TEXT,
    SlotType.FLOAT: _Kind.NUMBER,
    SlotType.TEXT: _Kind.TEXT,
}
KIND_FIXES: Mapping[_Kind, str] = {
    _Kind.TEXT: 'put a text in quotes: "…"',
    _Kind.NUMBER: "write a number, without quotes",
    _Kind.TRUTH: "write true or false, without quotes",
}


def check_comparisons(mention: Mention, slots: Mapping[str, Slot], found: Findings) -> None:
    """Warn of a slot compared with a value of another kind, or with a category that it lacks."""
    for comparison in COMPARISON.finditer(mention.name):
        slot = slots.get(comparison["slot"])
        if slot is not None and slot.type in KINDS:
            _check(comparison, slot, mention, found)


def _check(comparison: re.Match[str], slot: Slot, mention: Mention, found: Findings) -> None:
    value, kind = comparison["value"], KINDS[slot.type]
    other = _kind_of(value)
    where = f"{mention.by} has condition {mention.name!r}"
    is_order = comparison["operator"][0] in "<>"
    if other is not kind:
        verb = "can be compared with" if is_order else "equals"
        text = f"{where}: {slot.name!r} is a {slot.type} slot, and no {kind} {verb} {value}"
        fix = "make it a bool slot" if other is _Kind.TRUTH else KIND_FIXES[kind]
        found.warn(mention.location, "condition.type", text, fix)
    elif slot.type is SlotType.CATEGORICAL and not is_order and value[1:-1] not in slot.values:
        text = f"{where}: the values of slot {slot.name!r} are {', '.join(slot.values)}"
        fix = suggestion(value[1:-1], slot.values)
        found.warn(mention.location, "condition.unknown_value", text, fix)


def _kind_of(value: str) -> _Kind:
    if value[0] in "\"'":
        return _Kind.TEXT
    return _Kind.TRUTH if value.lower() in {"true", "false"} else _Kind.NUMBER


PLACE = re.compile(r" at line:? \d+, col \d+")
WORDS = (
    (re.compile(r"Failed to parse characters (?P<what>.+)", re.DOTALL), "{what} cannot be read"),
    (re.compile(r"Syntax error with (?P<what>.+)", re.DOTALL), "{what} is not expected there"),
    (re.compile(r"Unexpected end of predicate!"), "it ends too early"),
    (re.compile(r"Compilation failed for Regex (?P<what>.+)"), "{what} is not a valid regex"),
)
# What people bring along from other languages.
FIXES: Mapping[str, re.Pattern[str]] = {
    "write `and`": re.compile(r"&"),
    "write `or`": re.compile(r"\|\|"),
    "write `not`": re.compile(r"!(?!=)"),
    "write {'a' 'b'} contains slots.x": re.compile(r"\bin\b"),
    "put blanks between the members of a set: {'a' 'b'}": re.compile(r"\{[^}]*,"),
    'use plain quotes: "…"': re.compile("[\u2018-\u201d]"),
    "write a regular expression in quotes, flags as (?i)": re.compile(r"matches\s*/"),
    "write `!=`": re.compile(r"<>"),
    "write `=`": re.compile(r"==="),
}
STRINGS = re.compile(r"\"[^\"]*\"|'[^']*'")


def explain(source: str, reason: str) -> tuple[str, str]:
    """The first thing that is wrong with `source`, and how to fix it, empty where unknown."""
    first = PLACE.sub("", reason.partition("; ")[0])
    unquoted = STRINGS.sub("''", source)
    fixes = (fix for fix, sign in FIXES.items() if sign.search(unquoted))
    return _worded(first), next(fixes, "")


def _worded(error: str) -> str:
    for sign, words in WORDS:
        found = sign.fullmatch(error)
        if found is not None:
            return words.format(**found.groupdict())
    return error
