"""Texts with holes: Rasa's `{slot}`, and Jinja in responses, pattern steps and conditions."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

from jinja2 import Template, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from mock_server.dialogue.model import Json
from mock_server.errors import TemplateFailed

CACHED_TEMPLATES = 4096

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
    return "".join(
        [
            part if isinstance(part, str) else _plain(document[part[0]].get(part[1]))
            for part in parts
        ]
    )


@lru_cache(maxsize=CACHED_TEMPLATES)
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
        TemplateFailed: Jinja cannot read or evaluate it, or it is no JSON.
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


@lru_cache(maxsize=CACHED_TEMPLATES)
def _compiled(source: str, is_expression: bool) -> Template:
    environment = EXPRESSIONS if is_expression else RESPONSES
    return environment.from_string(source)
