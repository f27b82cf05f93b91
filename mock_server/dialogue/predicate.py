"""A condition as pypred reads it (flows.md §3).

pypred makes a parser for each predicate, which writes its tables among the installed packages and
prints where it finds older ones. Here its grammar becomes one parser, in memory.
"""

import copy
from collections.abc import Iterator, Mapping
from functools import cache

from ply.lex import Lexer, LexError, lex
from ply.yacc import LRParser, NullLogger, yacc
from pypred import parser as grammar
from pypred.ast import Node, Regex
from pypred.predicate import LiteralResolver

from mock_server.dialogue.regular_expressions import compile_expression, search
from mock_server.errors import ConditionError


class Predicate:
    """What `source`, free of Jinja, spells.

    Raises:
        ConditionError: pypred cannot read it.
    """

    __slots__ = ("_node", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self._node = _parse(source)

    def evaluate(self, document: Mapping[str, object]) -> bool:
        """Whether it holds for `document`; what pypred raises is its caller's to explain.

        Raises:
            SearchTooSlow: a regular expression takes too long.
        """
        return self._node.evaluate(LiteralResolver(), document)


def _parse(source: str) -> Node:
    lexer, parser = _make_parser()
    # Copies, as both keep what they are reading, and a reload reads in another thread.
    lexer, parser = lexer.clone(), copy.copy(parser)
    lexer.errors, parser.errors = [], []
    lexer.parser = parser
    node: Node | None = None
    problems: list[str] = []
    try:
        node = parser.parse(source, lexer)
    except (SyntaxError, LexError) as error:
        problems.append(str(error))
    except AttributeError:
        problems.append("`matches` takes a regular expression in quotes")
    except TypeError:
        problems.append("a set cannot be in a set")
    problems = [*_syntax_errors(lexer, parser), *problems]
    if node and not problems:
        problems = _invalid_in(source, node)
    if problems or not node:
        raise ConditionError(source, "; ".join(problems))
    node.pre(_bound)
    return node


class _BoundedExpression:
    """What pypred takes for a compiled regular expression."""

    __slots__ = ("_expression",)

    def __init__(self, expression: str) -> None:
        compile_expression(expression)
        self._expression = expression

    def search(self, text: str) -> object:
        return search(self._expression, text)


def _bound(node: Node) -> None:
    """Let no regular expression of the predicate stop the program."""
    if isinstance(node, Regex):
        node.re = _BoundedExpression(node.value)


def _syntax_errors(lexer: Lexer, parser: LRParser) -> Iterator[str]:
    for characters, place, line in lexer.errors:
        yield f"Failed to parse characters {characters} at line {line}, col {place}"
    for _, _, token, place, line in parser.errors:
        yield f"Syntax error with {token} at line {line}, col {place}"


def _invalid_in(source: str, node: Node) -> list[str]:
    try:
        _, found = node.validate()
    except RecursionError:
        raise ConditionError(source, "it is nested too deeply") from None
    return found["errors"]


@cache
def _make_parser() -> tuple[Lexer, LRParser]:
    parser = yacc(module=grammar, debug=False, write_tables=False, errorlog=NullLogger())
    return lex(grammar), parser
