from collections.abc import Mapping
from typing import TypedDict

from pypred.predicate import LiteralResolver

class Info(TypedDict):
    errors: list[str]

class Node:
    def validate(self) -> tuple[bool, Info]: ...
    def evaluate(self, pred: LiteralResolver, document: Mapping[str, object]) -> bool: ...
