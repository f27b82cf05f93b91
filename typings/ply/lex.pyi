from types import ModuleType
from typing import Self

from ply.yacc import LRParser

class LexError(Exception): ...

class Lexer:
    # what pypred's grammar adds: characters with their place and line
    errors: list[tuple[str, int, int]]
    parser: LRParser
    def clone(self) -> Self: ...

def lex(module: ModuleType) -> Lexer: ...
