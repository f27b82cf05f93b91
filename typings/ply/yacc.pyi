from types import ModuleType

from ply.lex import Lexer
from pypred.ast import Node

class NullLogger: ...

class LRParser:
    # what pypred's grammar adds: a message, the token's type, text, place and line
    errors: list[tuple[str, str, str, int, int]]
    def parse(self, input: str, lexer: Lexer) -> Node | None: ...

def yacc(
    *, module: ModuleType, debug: bool, write_tables: bool, errorlog: NullLogger
) -> LRParser: ...
