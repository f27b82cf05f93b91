"""Any JSON value as the lines of a tree whose branches open and close."""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import islice

from textual.content import Content

from inspector.core.commands import Json
from inspector.tui.drawing import ink
from inspector.tui.drawing.safe_text import safe_line
from inspector.tui.drawing.symbols import Symbols

DEEPEST = 40
WIDEST = 500


@dataclass(frozen=True, slots=True)
class TreeLine:
    """`path` names the node for opening and closing; a leaf has `is_branch` False."""

    path: str
    depth: int
    text: Content
    is_branch: bool


def tree(
    label: str, value: Json, *, path: str, toggled: Set[str], symbols: Symbols, depth: int = 0
) -> Iterator[TreeLine]:
    """Yield the lines of `value`. A branch is open unless its path is in `toggled`.

    Below `DEEPEST` levels and past `WIDEST` children it is told, not drawn, what there is.
    """
    if not isinstance(value, dict | list) or not value:
        yield TreeLine(path, depth, _leaf(label, value), is_branch=False)
        return
    is_closed = (path in toggled) or depth >= DEEPEST
    yield TreeLine(path, depth, _branch(label, value, is_closed, symbols), is_branch=True)
    if is_closed:
        return
    children = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in islice(children, WIDEST):
        below = f"{path}/{key}"
        yield from tree(
            str(key), child, path=below, toggled=toggled, symbols=symbols, depth=depth + 1
        )
    if len(value) > WIDEST:
        more = Content.styled(f"  … {len(value) - WIDEST} more", ink.DIM)
        yield TreeLine(f"{path}/…", depth + 1, more, is_branch=False)


def _branch(
    label: str, value: "dict[str, Json] | list[Json]", is_closed: bool, symbols: Symbols
) -> Content:
    count = f"{{{len(value)}}}" if isinstance(value, dict) else f"[{len(value)}]"
    fold = symbols.closed if is_closed else symbols.opened
    return Content.assemble((f"{fold} ", ink.DIM), safe_line(label), (f" {count}", ink.DIM))


def _leaf(label: str, value: Json) -> Content:
    match value:
        case str():
            shown, style = f'"{safe_line(value)}"', ink.GOOD
        case bool() | None:
            shown, style = {True: "true", False: "false", None: "null"}[value], ink.WARN
        case int() | float():
            shown, style = str(value), ink.ACCENT
        case dict():
            shown, style = "{}", ink.DIM
        case list():
            shown, style = "[]", ink.DIM
    return Content.assemble("  ", safe_line(label), "  ", (shown, style))
