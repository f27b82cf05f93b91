"""Texts with holes and Jinja in them, and conditions: pypred predicates (flows.md §3, §4.2)."""

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

from jinja2 import Template, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from mock_server.dialogue.model import Flow, Json
from mock_server.dialogue.predicate import Predicate
from mock_server.dialogue.state import DialogueState, active_frame, asked_slot, context_of
from mock_server.errors import ConditionError, SearchTooSlow, SlowCondition, TemplateFailed

CACHED_SOURCES = 4096

HOLE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][\w.]*)\}")
PLAIN_EXPRESSION = re.compile(r"\{\{\s*(slots|context)\.(\w+)\s*\}\}")

# What Jinja raises itself, and what the expressions in a template may.
FAILURES = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, RecursionError)

JINJA = re.compile(r"\{[{%#]")


def _nothing_for_none(value: object) -> object:
    return "" if value is None else value


RESPONSES = SandboxedEnvironment(autoescape=False)
EXPRESSIONS = SandboxedEnvironment(autoescape=False, finalize=_nothing_for_none)

Document: TypeAlias = Mapping[str, Mapping[str, Json]]
"""The namespaces `slots` and `context`, as conditions and templates see them."""


def fill(text: str, document: Document, arguments: Mapping[str, Json]) -> str:
    """Replace `{name}` by an argument or a slot and `{context.name}` by a field of the context.

    What has no value reads None, doubled braces become single ones, and braces around anything
    else stay as they are (flows.md §4.2); so do those that close what no doubled ones opened.
    """
    if "{" not in text and "}" not in text:
        return text
    depth = 0

    def value_of(hole: re.Match[str]) -> str:
        nonlocal depth
        name = hole.group(1)
        if name is None:
            depth += 1 if hole.group() == "{{" else -1
            if depth >= 0:
                return hole.group()[0]
            depth = 0
            return hole.group()
        if name.startswith("context."):
            return str(_field(document["context"], name.split(".")[1:]))
        if name in arguments:
            return str(arguments[name])
        slots = document["slots"]
        return str(slots[name]) if name in slots else hole.group()

    return HOLE.sub(value_of, text)


def _field(fields: Mapping[str, Json], path: list[str]) -> Json:
    found: Json = dict(fields)
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def render_response(source: str, document: Document, arguments: Mapping[str, Json]) -> str:
    """Render a response of `metadata.template: jinja`; slots and arguments are bare names too.

    Raises:
        TemplateFailed: Jinja cannot read or evaluate it.
    """
    return _render(source, {**document["slots"], **arguments, **document})


def render_expression(source: str, document: Document) -> str:
    """Render the Jinja in a pattern's action or condition; nothing stands for None.

    Raises:
        TemplateFailed: Jinja cannot read or evaluate it.
    """
    if "{" not in source:
        return source
    parts = _plain_parts(source)
    if parts is None:
        return _render(source, document, is_expression=True)
    texts = [p if isinstance(p, str) else _plain(document[p[0]].get(p[1])) for p in parts]
    return "".join(texts)


@lru_cache(maxsize=CACHED_SOURCES)
def _plain_parts(source: str) -> tuple[str | tuple[str, str], ...] | None:
    """The texts and the fields, by namespace and name, of `source`; None if it needs Jinja.

    Nearly every expression of the patterns is a plain field.
    """
    if JINJA.search(PLAIN_EXPRESSION.sub("", source)):
        return None
    parts: list[str | tuple[str, str]] = []
    end = 0
    for hole in PLAIN_EXPRESSION.finditer(source):
        parts += (source[end : hole.start()], (hole[1], hole[2]))
        end = hole.end()
    return (*parts, source[end:])


def evaluate_expression(source: str, names: Mapping[str, object]) -> Json:
    """The value of the Jinja expression `source`, with or without its braces.

    Raises:
        TemplateFailed: Jinja cannot read or evaluate it, or it is not JSON.
    """
    bare = source.strip().removeprefix("{{").removesuffix("}}").strip()
    try:
        evaluated = EXPRESSIONS.compile_expression(bare, undefined_to_none=False)(**names)
        return json.loads(json.dumps(evaluated))
    except FAILURES as error:
        raise TemplateFailed(source, str(error)) from error


def _plain(value: Json) -> str:
    return "" if value is None else str(value)


def _render(source: str, names: Mapping[str, object], is_expression: bool = False) -> str:
    try:
        return _compiled(source, is_expression).render(names)
    except FAILURES as error:
        raise TemplateFailed(source, str(error)) from error


def check_template(source: str) -> None:
    """Read the Jinja of `source` without evaluating it.

    Raises:
        TemplateFailed: Jinja cannot read it.
    """
    try:
        _compiled(source, is_expression=False)
    except FAILURES as error:
        raise TemplateFailed(source, str(error)) from error


@lru_cache(maxsize=CACHED_SOURCES)
def _compiled(source: str, is_expression: bool) -> Template:
    environment = EXPRESSIONS if is_expression else RESPONSES
    return environment.from_string(source)


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


@lru_cache(maxsize=CACHED_SOURCES)
def _read(source: str) -> Predicate | str:
    """The predicate, or why there is none: a loop may ask for either many times."""
    try:
        return Predicate(source)
    except ConditionError as error:
        return error.reason


@lru_cache(maxsize=CACHED_SOURCES)
def _null_test(source: str) -> tuple[str, str, bool] | None:
    """The namespace and field of which `source` asks if it is null, or (False) if it is not."""
    test = NULL_TEST.fullmatch(source)
    return (test[1], test[2], test[3] is None) if test else None


def evaluate(source: str, document: Document) -> bool:
    """Whether `source` holds for `document`, which has the namespaces `slots` and `context`.

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
    except SearchTooSlow as error:
        raise SlowCondition(rendered, str(error)) from error
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
    """Why the guard of `flow` keeps commands from starting it; empty if it does not."""
    if flow.guard is None:
        return ""
    try:
        holds = evaluate(flow.guard, {"slots": slots, "context": {}})
    except (ConditionError, TemplateFailed) as error:
        return f"the flow's condition cannot be evaluated: {error}"
    return "" if holds else "the flow's condition does not hold"


def holds(
    condition: str | None, state: DialogueState, warn: Callable[[str], None] | None = None
) -> bool:
    """Whether `condition` holds; None always does, one that cannot be evaluated does not (§3).

    `warn` is told why one takes too long.

    The context has the fields of the patterns on top, `active_flow` and `asked_slot`.
    """
    if condition is None:
        return True
    frame = active_frame(state.stack)
    context = {
        **context_of(state.stack),
        "active_flow": frame.flow_id if frame else None,
        "asked_slot": asked_slot(state.stack),
    }
    try:
        return evaluate(condition, {"slots": state.slots, "context": context})
    except (ConditionError, TemplateFailed) as error:
        if warn and isinstance(error, SlowCondition):
            warn(str(error))
        return False
