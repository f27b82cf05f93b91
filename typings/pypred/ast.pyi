from collections.abc import Callable, Mapping
from typing import TypedDict

from pypred.predicate import LiteralResolver

class Info(TypedDict):
    errors: list[str]

class Node:
    def pre(self, func: Callable[[Node], None]) -> None: ...
    def validate(self) -> tuple[bool, Info]: ...
    def evaluate(self, pred: LiteralResolver, document: Mapping[str, object]) -> bool: ...

class Regex(Node):
    value: str
    re: object
