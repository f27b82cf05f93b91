"""Bodies and JSON values as lines: as they came, indented, coloured, or as a tree that folds."""

import json
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import islice

from textual.content import Content

from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import safe, safe_line, size
from inspector.wire.json_values import Json, parse_json

# Beyond this a body is shown by its beginning; the log keeps all of it.
MOST_BYTES = 64 * 1024
DEEPEST = 40
WIDEST = 500
# More lines of one tree are not drawn at once: closing branches makes space for others.
MOST_LINES = 2000
# So many items stand under one heading; of more, ranges stand there, which open.
MOST_TOGETHER = 100


def body_lines(raw: bytes, *, is_pretty: bool) -> Iterator[Content]:
    """Yield the lines of `raw`; an SSE event keeps its field names."""
    shown = raw[:MOST_BYTES]
    for line in _lines(shown, is_pretty=is_pretty and len(raw) <= MOST_BYTES):
        yield Content(line)
    if len(raw) > MOST_BYTES:
        yield Content.styled(f"… {size(len(raw) - MOST_BYTES)} more", styles.DIM)


def _lines(raw: bytes, *, is_pretty: bool) -> Iterator[str]:
    if not is_pretty:
        yield from safe(raw.decode("utf-8", "backslashreplace")).split("\n")
        return
    if (pretty := _pretty(raw)) is not None:
        yield from pretty
        return
    for line in safe(raw.decode("utf-8", "backslashreplace")).rstrip("\n").split("\n"):
        pretty = _pretty(line.removeprefix("data:").encode()) if line.startswith("data:") else None
        if pretty is None:
            yield line
        else:
            yield f"data: {pretty[0]}"
            yield from pretty[1:]


def _pretty(raw: bytes) -> list[str] | None:
    parsed = parse_json(raw)
    if parsed.problem or not isinstance(parsed.value, dict | list):
        return None
    return safe(json.dumps(parsed.value, indent=2, ensure_ascii=False)).split("\n")


@dataclass(frozen=True, slots=True)
class TreeLine:
    """`path` names the node for opening and closing; a leaf has `is_branch` False."""

    path: str
    depth: int
    text: Content
    is_branch: bool


@dataclass(frozen=True, slots=True)
class Fold:
    """The items from `first` to before `end` as one line, which opens at its name."""

    name: str
    first: int
    end: int
    depth: int
    is_open: bool

    def text(self, what: str) -> Content:
        sign = styles.OPENED if self.is_open else styles.CLOSED
        return Content.styled(f"{sign} {what} {self.first + 1:,} to {self.end:,}", styles.DIM)


def folded(
    count: int, name: str, opened: Set[str], *, first: int = 0, depth: int = 0
) -> Iterator[int | Fold]:
    """Yield the places of `count` items; of many, ranges with what is in those of `opened`."""
    if count <= MOST_TOGETHER:
        yield from range(first, first + count)
        return
    size = MOST_TOGETHER
    while size * MOST_TOGETHER < count:
        size *= MOST_TOGETHER
    for start in range(first, first + count, size):
        end = min(start + size, first + count)
        fold = Fold(f"{name}/{start}-{end}", start, end, depth, f"{name}/{start}-{end}" in opened)
        yield fold
        if fold.is_open:
            yield from folded(end - start, name, opened, first=start, depth=depth + 1)


def tree(
    label: str, value: Json, *, path: str, toggled: Set[str], most: int = MOST_LINES
) -> Iterator[TreeLine]:
    """Yield the lines of `value`. A branch is open unless its path is in `toggled`.

    Below `DEEPEST` levels and past `WIDEST` children only their number is drawn; no more than
    `most` lines are.
    """
    lines = _tree(label, value, path, toggled, 0)
    yield from islice(lines, most)
    if next(lines, None) is not None:
        more = Content.styled("… more: close branches to see it", styles.DIM)
        yield TreeLine(f"{path}/…", 1, more, is_branch=False)


def _tree(label: str, value: Json, path: str, toggled: Set[str], depth: int) -> Iterator[TreeLine]:
    if not isinstance(value, dict | list) or not value:
        yield TreeLine(path, depth, _leaf(label, value), is_branch=False)
        return
    is_closed = (path in toggled) or depth >= DEEPEST
    yield TreeLine(path, depth, _branch(label, value, is_closed), is_branch=True)
    if is_closed:
        return
    children = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in islice(children, WIDEST):
        below = f"{path}/{key}"
        yield from _tree(str(key), child, below, toggled, depth + 1)
    if len(value) > WIDEST:
        more = Content.styled(f"  … {len(value) - WIDEST} more", styles.DIM)
        yield TreeLine(f"{path}/…", depth + 1, more, is_branch=False)


def _branch(label: str, value: "dict[str, Json] | list[Json]", is_closed: bool) -> Content:
    count = f"{{{len(value)}}}" if isinstance(value, dict) else f"[{len(value)}]"
    fold = styles.CLOSED if is_closed else styles.OPENED
    return Content.assemble((f"{fold} ", styles.DIM), safe_line(label), (f" {count}", styles.DIM))


def _leaf(label: str, value: Json) -> Content:
    match value:
        case str():
            shown, style = f'"{safe_line(value)}"', styles.GOOD
        case bool() | None:
            shown, style = {True: "true", False: "false", None: "null"}[value], styles.WARN
        case int() | float():
            shown, style = str(value), styles.ACCENT
        case dict():
            shown, style = "{}", styles.DIM
        case list():
            shown, style = "[]", styles.DIM
    return Content.assemble("  ", safe_line(label), "  ", (shown, style))


_TOKEN = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*")(?P<colon>\s*:)?'
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<word>\b(?:true|false|null)\b)"
)


def style_json(line: str) -> Content:
    """Return `line` with its tokens styled; what is not JSON stays as it is."""
    content = Content(line)
    for token in _TOKEN.finditer(line):
        content = content.stylize(_style(token), *token.span(token.lastgroup or 0))
    return content


def _style(token: "re.Match[str]") -> str:
    if token["colon"] is not None:
        return styles.KEY
    if token["text"] is not None:
        return styles.GOOD
    return styles.ACCENT if token["number"] is not None else styles.WARN
