"""Blocks of lines: what a list shows, told apart and laid out without a terminal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from inspector.tui.messages import Place

# where a line must be broken, or wrapping would trim it
_BREAKS = re.compile(r"[\n\t]|\s$")


@dataclass(frozen=True, slots=True)
class Line:
    """One line; where it is too long it goes on `hang` letters right of `indent`.

    `tail` stands at the right end.
    """

    text: Content
    indent: int = 0
    tail: Content | None = None
    hang: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """What is selected as one. Blocks are told apart by identity: keep one while it is unchanged.

    `name` says which part of a panel it is, where parts can be opened and closed.
    """

    place: Place | None
    lines: tuple[Line, ...]
    name: str = ""

    @property
    def plain(self) -> str:
        """Return the block's text as a reader would copy it."""
        tails = (f"  {line.tail.plain}" if line.tail else "" for line in self.lines)
        return "\n".join(
            f"{line.text.plain}{tail}" for line, tail in zip(self.lines, tails, strict=True)
        )


def common_prefix(old: Sequence[Block], new: Sequence[Block]) -> int:
    for index, (one, other) in enumerate(zip(old, new, strict=False)):
        if one is not other:
            return index
    return min(len(old), len(new))


def nearest(blocks: Sequence[Block], place: Place) -> int | None:
    """Return the block of `place`, else the last before it in its exchange, else the first."""
    found: int | None = None
    for index, block in enumerate(blocks):
        if block.place is None or block.place.exchange != place.exchange:
            continue
        if found is None or block.place.seq <= place.seq:
            found = index
    return found


def passing(blocks: Sequence[Block], text: str) -> list[Block]:
    """Return the blocks that hold all words of `text`, and those that they are indented below."""
    words = text.lower().split()
    kept: list[Block] = []
    depth = 0
    for block in reversed(blocks):
        indent = block.lines[0].indent if block.lines else 0
        if all(word in block.plain.lower() for word in words) or (kept and indent < depth):
            kept.append(block)
            depth = indent
    return kept[::-1]


def lay_out(line: Line, width: int, wraps: bool) -> list[Content]:
    """Return `line` as drawn lines of at most `width` cells."""
    tail_width = line.tail.cell_length + 1 if line.tail else 0
    room = width - line.indent
    if not wraps or (line.tail and line.text.cell_length <= room - tail_width):
        text = line.text.truncate(max(1, room - tail_width), ellipsis=True, pad=bool(line.tail))
        return [_indented(text + " " + line.tail if line.tail else text, line.indent)]
    # most lines fit as they are, and wrapping costs ten times as much as knowing that
    fits = line.text.cell_length <= room and not _BREAKS.search(line.text.plain)
    parts = [line.text] if fits else _wrapped(line, room)
    drawn = [_indented(part, line.indent) for part in parts]
    if line.tail:
        drawn.append(line.tail.pad_left(max(0, width - line.tail.cell_length)))
    return drawn


def _wrapped(line: Line, room: int) -> Sequence[Content]:
    """Return `line` broken at `room` cells; what goes on stands below what follows the hang."""
    head = line.text[: line.hang]
    hang = head.cell_length
    if not 0 < hang <= room // 2:
        return line.text.wrap(max(4, room))
    first, *others = line.text[line.hang :].wrap(max(4, room - hang))
    return [head + first, *(other.pad_left(hang) for other in others)]


def _indented(text: Content, indent: int) -> Content:
    return text.pad_left(indent) if indent else text
