"""A list of blocks that draws only the lines in sight, whatever its length."""

import operator
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Protocol, TypeVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.markup import parse_style
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from inspector.tui.drawing import styles
from inspector.tui.messages import NewsCame, Picked, Place
from inspector.views.persistent import Series

# where a line must be broken, or wrapping would trim it
_BREAKS = re.compile(r"[\n\t]|\s$")
# What is drawn is clean already; this is for a place that forgot.
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
T = TypeVar("T")
# Blocks drawn lately that are kept; a screen is a few dozen.
MOST_KEPT = 1000
# Lists no longer than this are measured at once.
FEW = 50


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
    """What is selected as one. Blocks are compared by identity: keep one while it is unchanged.

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
    """Return `line` as drawn lines of at most `width` cells, with nothing a terminal obeys."""
    if _OBEYED.search(line.text.plain):
        line = replace(line, text=_inert(line.text))
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


def _inert(text: Content) -> Content:
    return Content(_OBEYED.sub("\N{REPLACEMENT CHARACTER}", text.plain), list(text.spans))


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


class Heights:
    """How many lines each of many blocks takes; one that was not measured counts as `guess`.

    A Fenwick tree of what they take beyond the guess: to set a height, and to find the first line
    of a block or the block of a line, costs the logarithm of their number.
    """

    __slots__ = ("_guess", "_lines", "_tree")

    def __init__(self, guess: int = 1) -> None:
        self._guess = guess
        self._lines: list[int | None] = []
        self._tree = [0]

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, index: int) -> int | None:
        """Return the height of a block; None: it was not measured."""
        return self._lines[index]

    def resize(self, count: int) -> None:
        """Keep the first `count` blocks, and add what is missing, not measured."""
        del self._lines[count:]
        del self._tree[count + 1 :]
        for node in range(len(self._tree), count + 1):
            extra, child = 0, node - 1
            while child > node & (node - 1):
                extra += self._tree[child]
                child &= child - 1
            self._lines.append(None)
            self._tree.append(extra)

    def set(self, index: int, lines: int | None) -> None:
        before = self._lines[index]
        self._lines[index] = lines
        more = self._beyond_guess(lines) - self._beyond_guess(before)
        node = index + 1
        while more and node < len(self._tree):
            self._tree[node] += more
            node += node & -node

    def top(self, index: int) -> int:
        """Return the first line of a block; of the one after the last, how many lines there are."""
        lines, node = self._guess * index, index
        while node:
            lines += self._tree[node]
            node &= node - 1
        return lines

    def at(self, line: int) -> int:
        """Return the block that `line` belongs to; the last one beyond the end."""
        block, step = 0, 1 << len(self._lines).bit_length()
        while step := step >> 1:
            after = block + step
            if after < len(self._tree) and self._tree[after] + self._guess * step <= line:
                block, line = after, line - self._tree[after] - self._guess * step
        return min(block, len(self._lines) - 1)

    def _beyond_guess(self, lines: int | None) -> int:
        return 0 if lines is None else lines - self._guess


class BlockCache(Generic[T]):
    """The blocks looked at lately, as long as their items stay the very same."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[T, Block]] = {}

    def block(self, key: tuple[int, int], item: T, draw: Callable[[T], Block]) -> Block:
        known = self._known.get(key)
        if known is not None and known[0] is item:
            return known[1]
        if len(self._known) >= MOST_KEPT:
            self._known.clear()
        block = draw(item)
        self._known[key] = (item, block)
        return block

    def clear(self) -> None:
        self._known.clear()


class BlockSource(Protocol):
    """What a list shows. Blocks are counted from 0, lines likewise."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Block: ...

    def top(self, index: int) -> int:
        """Return the first line of a block; of the one after the last, how many lines there are."""
        ...

    def at(self, line: int) -> int:
        """Return the block that `line` belongs to."""
        ...

    def index_of(self, place: Place) -> int | None:
        """Return the block of `place`, else the nearest before it in its exchange."""
        ...

    def lines(self, index: int) -> Sequence[Content]:
        """Return the block as drawn."""
        ...

    def measure(self, index: int, above: int, below: int) -> None:
        """Find out the heights of a block and of `above` and `below` lines around it."""
        ...

    def lay_out(self, width: int) -> None:
        """Draw for another width."""
        ...


class ItemBlocks(Generic[T]):
    """A block for each item, drawn, wrapped and measured when it comes into sight.

    Items of an exchange stand in the order of their places.
    """

    def __init__(
        self,
        draw: Callable[[T], Block],
        place_of: Callable[[T], Place | None],
        *,
        wraps: bool = False,
        guess: int = 1,
    ) -> None:
        self._draw = draw
        self._place_of = place_of
        self._wraps = wraps
        self._width = 8
        self._items: Sequence[T] = ()
        self._tail: Sequence[T] = ()
        self._heights = Heights(guess)
        self._blocks: BlockCache[T] = BlockCache()
        self._drawn: dict[int, tuple[Block, Sequence[Content]]] = {}
        # by exchange, where its items stand; those of the first `_placed` items
        self._places: dict[int, list[int]] = {}
        self._placed = 0

    def __len__(self) -> int:
        return len(self._items) + len(self._tail)

    def __getitem__(self, index: int) -> Block:
        index = index + len(self) if index < 0 else index
        return self._blocks.block((index, 0), self._item(index), self._draw)

    def take(self, items: Sequence[T], tail: Sequence[T] = ()) -> bool:
        """Hold `items`, and `tail` below; return whether that is a change; costs what changed."""
        changed = [*_changes(self._items, items)]
        is_same_length = len(items) == len(self._items)
        if is_same_length and not changed and _is_same(self._tail, tail):
            return False
        if not all(map(self._has_stayed, changed, (items[index] for index in changed))):
            self._placed = 0
        self._placed = self._placed if self._placed <= len(items) else 0
        self._heights.resize(min(len(self._items), len(items)))
        for index in changed:
            if index < len(self._heights):
                self._heights.set(index, None)
        self._items, self._tail = items, tail
        self._heights.resize(len(self))
        self._measure_few()
        return True

    def clear(self) -> bool:
        """Draw everything again; this always counts as a change."""
        self._blocks.clear()
        self._forget()
        return True

    def lay_out(self, width: int) -> None:
        self._width = width
        self._drawn.clear()
        if self._wraps:
            self._forget()

    def top(self, index: int) -> int:
        return self._heights.top(index)

    def at(self, line: int) -> int:
        return self._heights.at(line)

    def index_of(self, place: Place) -> int | None:
        """Return the block of `place`, else the last before it in its exchange, else its first."""
        for index in range(len(self) - 1, len(self._items) - 1, -1):
            last = self._place_of(self._item(index))
            if last is not None and last.exchange == place.exchange and last.seq <= place.seq:
                return index
        found = self._indices().get(place.exchange)
        if found is None:
            return None
        return found[max(0, bisect_right(found, place.seq, key=self._seq) - 1)]

    def lines(self, index: int) -> Sequence[Content]:
        block, known = self[index], self._drawn.get(index)
        if known is not None and known[0] is block:
            return known[1]
        if len(self._drawn) >= MOST_KEPT:
            self._drawn.clear()
        drawn = [part for line in block.lines for part in lay_out(line, self._width, self._wraps)]
        self._drawn[index] = (block, drawn)
        return drawn

    def measure(self, index: int, above: int, below: int) -> None:
        for place in range(index - 1, -1, -1):
            if above <= 0:
                break
            above -= self._height(place)
        for place in range(index, len(self)):
            below -= self._height(place)
            if below < 0:
                break

    def _forget(self) -> None:
        """Forget what is drawn and measured."""
        self._drawn.clear()
        self._heights.resize(0)
        self._heights.resize(len(self))
        self._measure_few()

    def _measure_few(self) -> None:
        """Measure all of a short list, whose scroll bar is then right at once."""
        if len(self) <= FEW:
            self.measure(0, 0, sys.maxsize)

    def _height(self, index: int) -> int:
        height = self._heights[index]
        if height is None:
            height = len(self.lines(index))
            self._heights.set(index, height)
        return height

    def _item(self, index: int) -> T:
        count = len(self._items)
        return self._items[index] if index < count else self._tail[index - count]

    def _seq(self, index: int) -> int:
        place = self._place_of(self._items[index])
        return 0 if place is None else place.seq

    def _has_stayed(self, index: int, item: T) -> bool:
        """Say whether the item at `index` was not looked for yet, or has the place of `item`."""
        return index >= self._placed or self._place_of(self._items[index]) == self._place_of(item)

    def _indices(self) -> dict[int, list[int]]:
        """Return where the items of each exchange stand."""
        if not self._placed:
            self._places.clear()
        for index in range(self._placed, len(self._items)):
            place = self._place_of(self._items[index])
            if place is not None:
                self._places.setdefault(place.exchange, []).append(index)
        self._placed = len(self._items)
        return self._places


def _changes(before: Sequence[T], after: Sequence[T]) -> Iterable[int]:
    """Return where `after` has another object than `before`, if only it has grown at its end."""
    if isinstance(before, Series) and isinstance(after, Series):
        return after.changes(before)
    for index, (one, other) in enumerate(zip(before, after, strict=False)):
        if one is not other:
            return range(index, len(after))
    return range(min(len(before), len(after)), len(after))


def _is_same(before: Sequence[object], after: Sequence[object]) -> bool:
    return len(before) == len(after) and all(map(operator.is_, before, after))


class BlockList(ScrollView, can_focus=True):
    """Stays where it is and counts what is new; with `follows`, at its end it goes along."""

    DEFAULT_CSS = """
    BlockList {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"blocks--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home,g", "move_to_start", "First", show=False),
        Binding("end,G", "move_to_end", "Last", show=False),
    ]
    ALLOW_SELECT = False

    cursor: reactive[int] = reactive(-1)

    def __init__(
        self, *, wraps: bool, follows: bool = True, id: str | None = None, empty: str = ""
    ) -> None:
        super().__init__(id=id)
        self.auto_links = False
        self.follows = follows
        self.empty = empty
        self._own: ItemBlocks[Block] = ItemBlocks(
            lambda block: block, lambda block: block.place, wraps=wraps
        )
        self.source: BlockSource = self._own
        self._styles: dict[str, Style] = {}
        self._seen = 0
        self._fresh: int = 0

    @property
    def blocks(self) -> Sequence[Block]:
        """Return every block, drawn."""
        return [self.source[index] for index in range(len(self.source))]

    @property
    def is_at_end(self) -> bool:
        return self.cursor >= len(self.source) - 1

    @property
    def current(self) -> Block | None:
        return self.source[self.cursor] if 0 <= self.cursor < len(self.source) else None

    def copied(self) -> str | None:
        """Return the text of the selected block, for the clipboard."""
        return None if self.current is None else self.current.plain

    def show(self, blocks: Sequence[Block]) -> None:
        """Draw `blocks`; those that stand where they stood are not laid out again."""
        self.refill(lambda: self._own.take(blocks))

    def open_at_start(self, blocks: Sequence[Block]) -> None:
        """Draw other blocks, from their beginning."""
        self.refill(lambda: self._own.take(blocks), from_start=True)

    def refill(self, change: Callable[[], bool], *, from_start: bool = False) -> None:
        """Draw what the source holds after `change`, which reports whether anything changed."""
        follows = self.follows and self.is_at_end and self._is_scrolled_to_end()
        block, above = self._first_in_sight()
        if not change():
            return
        count = len(self.source)
        if from_start:
            self.cursor = 0 if count else -1
            self._settle(0, 0)
        elif follows:
            self.cursor = count - 1
            self._follow()
        else:
            self.cursor = min(self.cursor, count - 1)
            self._settle(block, above)
        self._count_news()
        self.refresh()

    def mark(self, place: Place | None) -> None:
        """Bring the cursor to the block nearest to `place`; None is the end."""
        index = len(self.source) - 1 if place is None else self.source.index_of(place)
        if index is not None and index != self.cursor:
            self.cursor = index
            self._bring_into_sight()
            self._count_news()

    def relay(self) -> None:
        """Lay everything out again, as after a change of width."""
        block, above = self._first_in_sight()
        self.source.lay_out(max(8, self.scrollable_content_region.width - 1))
        self._settle(block, above)
        self.refresh()

    def watch_cursor(self) -> None:
        self.refresh()

    def on_resize(self) -> None:
        follows = self.follows and self.is_at_end
        self.relay()
        if follows:
            self._follow()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.clear()
        self.refresh()

    def action_move(self, by: int) -> None:
        self.go(self.cursor + by)

    def action_page(self, by: int) -> None:
        line = self.source.top(max(0, self.cursor)) if len(self.source) else 0
        wanted = line + by * max(1, self.scrollable_content_region.height - 1)
        self.go(self.source.at(max(0, wanted)) if len(self.source) else 0)

    def action_move_to_start(self) -> None:
        self.go(0)

    def action_move_to_end(self) -> None:
        self.go(len(self.source) - 1)

    def on_click(self, event: events.Click) -> None:
        line = event.get_content_offset(self)
        if line is not None and len(self.source):
            self.go(self.source.at(self.scroll_offset.y + line.y))

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        line = y + self.scroll_offset.y
        base = self.visual_style
        if line >= self.source.top(len(self.source)):
            text = Content.styled(self.empty if not len(self.source) and y == 0 else "", styles.DIM)
            return self._strip(Content(" ") + text, base, width)
        index = self.source.at(line)
        is_marked = index == self.cursor and self._shows_cursor(index)
        if is_marked:
            base = self.get_visual_style("blocks--cursor")
        edge = Content.styled("▌", styles.KEY) if is_marked else Content(" ")
        lines = self.source.lines(index)[line - self.source.top(index) :]
        # after a resize a block may be drawn that is not measured yet
        return self._strip(edge + lines[0] if lines else edge, base, width)

    def _shows_cursor(self, index: int) -> bool:
        """Say whether the cursor is worth a mark: a place that other panels mark too, or focus."""
        return len(self.source) > 1 and (self.has_focus or self.source[index].place is not None)

    def _strip(self, content: Content, base: Style, width: int) -> Strip:
        segments = [
            Segment(text, style.rich_style)
            for text, style in content.render(base, end="", parse_style=self._resolve)
        ]
        return Strip(segments).adjust_cell_length(width, base.rich_style)

    def _resolve(self, style: str | Style) -> Style:
        """Return a style by its name in the theme, parsed once until the theme changes."""
        if isinstance(style, Style):
            return style
        if style not in self._styles:
            self._styles[style] = parse_style(style)
        return self._styles[style]

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._settle(*self._first_in_sight())

    def watch_show_vertical_scrollbar(self, shows: bool) -> None:
        if shows:
            # Textual sets it only where the list scrolls from then on
            self.vertical_scrollbar.position = self.scroll_y

    def _first_in_sight(self) -> tuple[int, int]:
        """Return the first block in sight, and how many of its lines are above."""
        if not len(self.source):
            return 0, 0
        block = self.source.at(self.scroll_offset.y)
        return block, self.scroll_offset.y - self.source.top(block)

    def _settle(self, block: int, above: int) -> None:
        """Measure what is in sight and a page around it; `above` lines of `block` are above that.

        So nothing jumps when a block turns out to be higher than it was taken for.
        """
        count, page = len(self.source), max(1, self.scrollable_content_region.height)
        if count:
            self.source.measure(min(block, count - 1), page, above + 2 * page)
        self._resize(self.source.top(count))
        line = self.source.top(min(block, count)) + above
        if line != self.scroll_offset.y:
            self.scroll_target_y = self.scroll_y = line

    def _resize(self, height: int) -> None:
        """Set the height of all lines; what scrolls before and after needs no new layout.

        To lay the whole screen out makes a page up 15 % slower.
        """
        size, shown = Size(self.scrollable_content_region.width, height), self.size.height
        if self.show_vertical_scrollbar and height > shown:
            # pyright takes what the class holds for what an instance gives
            self.set_reactive(Widget.virtual_size, size)  # pyright: ignore[reportArgumentType]
            self.vertical_scrollbar.window_virtual_size = height
        else:
            self.virtual_size = size

    def _follow(self) -> None:
        self._settle(len(self.source), 0)
        # the scroll bar's coming or going may still change how lines wrap
        self.call_after_refresh(self.scroll_end, animate=False, immediate=True)

    def _is_scrolled_to_end(self) -> bool:
        return self.scroll_offset.y >= self.max_scroll_y

    def go(self, index: int) -> None:
        """Bring the cursor to a block and into sight; beyond the ends, to the nearest."""
        if not len(self.source):
            return
        self.cursor = min(max(index, 0), len(self.source) - 1)
        self._bring_into_sight()
        self._count_news()
        place = self.source[self.cursor].place
        if place is not None:
            self.post_message(Picked(place, self.is_at_end))

    def _bring_into_sight(self) -> None:
        block, above = self._first_in_sight()
        page = self.scrollable_content_region.height
        self.source.measure(self.cursor, page, page)
        self._settle(block, above)
        top, bottom = self.source.top(self.cursor), self.source.top(self.cursor + 1)
        self.scroll_to_region(
            Region(0, top, 1, bottom - top), animate=False, immediate=True, x_axis=False
        )

    def _count_news(self) -> None:
        if self.is_at_end or self.source[len(self.source) - 1].place is None:
            self._seen = len(self.source)
        fresh = max(0, len(self.source) - self._seen)
        if fresh != self._fresh:
            self._fresh = fresh
            self.border_subtitle = Content(f"{fresh} new · End") if fresh else Content("")
            self.post_message(NewsCame(self.id or "", fresh))
