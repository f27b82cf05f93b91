"""A list of blocks that draws only the lines in sight, whatever its length."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Generic, Protocol, TypeVar, overload

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

from inspector.tui.drawing import styles
from inspector.tui.messages import NewsCame, Picked, Place
from inspector.views.persistent import Series

# where a line must be broken, or wrapping would trim it
_BREAKS = re.compile(r"[\n\t]|\s$")
T = TypeVar("T")
# Blocks drawn lately that a pile keeps; a screen is a few dozen.
MOST_KEPT = 1000
PAGE = 100
PAGES = 3


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


class Pile(Protocol):
    """Blocks are counted from 0, lines likewise; `width` is that of the list."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Block: ...

    def top(self, index: int) -> int:
        """Return the first line of a block; of the one after the last, how many lines there are."""
        ...

    def at(self, line: int) -> int:
        """Return the block that `line` belongs to."""
        ...

    def index_of(self, place: Place) -> int | None:
        """Return the block nearest to `place`."""
        ...

    def lines(self, index: int) -> Sequence[Content]:
        """Return the block as drawn."""
        ...

    def lay_out(self, width: int) -> None:
        """Draw for another width."""
        ...


class LaidOut:
    """Blocks that are all at hand, as a panel of a page or two has them; they may wrap."""

    def __init__(self, *, wraps: bool) -> None:
        self.wraps = wraps
        self._width = 8
        self._blocks: Sequence[Block] = ()
        self._tops: list[int] = [0]
        self._drawn: dict[int, Sequence[Content]] = {}

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, index: int) -> Block:
        return self._blocks[index]

    def take(self, blocks: Sequence[Block]) -> bool:
        """Hold `blocks`, and say whether they are others; those that stayed are not drawn again."""
        kept = common_prefix(self._blocks, blocks)
        if kept == len(self._blocks) == len(blocks):
            return False
        self._blocks = blocks
        self._place(kept)
        return True

    def lay_out(self, width: int) -> None:
        self._width = width
        self._place(0)

    def top(self, index: int) -> int:
        return self._tops[index]

    def at(self, line: int) -> int:
        return min(bisect_right(self._tops, line), len(self._blocks)) - 1

    def index_of(self, place: Place) -> int | None:
        return nearest(self._blocks, place)

    def lines(self, index: int) -> Sequence[Content]:
        if index not in self._drawn:
            lines = self._blocks[index].lines
            self._drawn[index] = [
                drawn for line in lines for drawn in lay_out(line, self._width, self.wraps)
            ]
        return self._drawn[index]

    def _place(self, kept: int) -> None:
        """Place the blocks from `kept` on; wrapping ones are drawn to know their height."""
        del self._tops[kept + 1 :]
        for index in [index for index in self._drawn if index >= kept]:
            del self._drawn[index]
        top = self._tops[-1]
        for index in range(kept, len(self._blocks)):
            top += len(self.lines(index)) if self.wraps else len(self._blocks[index].lines)
            self._tops.append(top)


class Kept(Generic[T]):
    """Blocks drawn when they are looked at, kept while the item stays the very same."""

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


class ListPile(Generic[T]):
    """A line for each item of a series, drawn when it comes into sight."""

    def __init__(self, draw: Callable[[T], Block], exchange_of: Callable[[T], int]) -> None:
        self._draw = draw
        self._exchange_of = exchange_of
        self._width = 8
        self._items: Series[T] = Series()
        self._places: dict[int, int] = {}
        self._kept: Kept[T] = Kept()

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Block]: ...
    def __getitem__(self, index: int | slice) -> Block | Sequence[Block]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        return self._kept.block((place, 0), self._items[place], self._draw)

    def take(self, items: Series[T]) -> bool:
        """Hold `items`, and say whether they are others; costs what has changed."""
        changed = [*items.changes(self._items)]
        is_other = bool(changed) or len(items) != len(self._items)
        for place in changed:
            self._places[self._exchange_of(items[place])] = place
        self._items = items
        return is_other

    def clear(self) -> bool:
        """Draw everything anew; that is always other."""
        self._kept.clear()
        return True

    def lay_out(self, width: int) -> None:
        self._width = width

    def top(self, index: int) -> int:
        return index

    def at(self, line: int) -> int:
        return min(line, len(self) - 1)

    def index_of(self, place: Place) -> int | None:
        found = self._places.get(place.exchange)
        if found is None or found >= len(self):
            return None
        return found if self._exchange_of(self._items[found]) == place.exchange else None

    def lines(self, index: int) -> Sequence[Content]:
        return [lay_out(line, self._width, wraps=False)[0] for line in self[index].lines]


@dataclass(frozen=True, slots=True)
class Drawn(Generic[T]):
    """`blocks[i]` are those of `items[i]`."""

    items: Sequence[T] = ()
    blocks: tuple[Block, ...] = ()


def redraw(before: Drawn[T], items: Sequence[T], draw: Callable[[T], Block]) -> Drawn[T]:
    """Return the blocks of `items`, keeping those of items that are the same object as before."""
    kept = 0
    for one, other in zip(before.items, items, strict=False):
        if one is not other:
            break
        kept += 1
    fresh = tuple(draw(item) for item in items[kept:])
    return Drawn(items, before.blocks[:kept] + fresh)


@dataclass(frozen=True, slots=True)
class Window:
    """The items from `first` on, as many as fit into PAGES pages."""

    first: int = 0

    @property
    def end(self) -> int:
        return self.first + PAGES * PAGE

    def around(self, index: int) -> "Window":
        """Return this window while `index` is in it, else one with `index` in its middle page."""
        if self.first <= index < self.end:
            return self
        return Window(max(0, index // PAGE - 1) * PAGE)


@lru_cache(maxsize=2)
def left_out(count: int, what: str) -> tuple[Block, ...]:
    """Return a line that says how many are not shown, the same for the same; nothing for none."""
    if count <= 0:
        return ()
    return (Block(None, (Line(Content.styled(f"… {count} {what}", styles.DIM)),)),)


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
        self._laid_out = LaidOut(wraps=wraps)
        self.pile: Pile = self._laid_out
        self._styles: dict[str, Style] = {}
        self._seen = 0
        self._fresh: int = 0

    @property
    def blocks(self) -> Sequence[Block]:
        """Return every block, drawn."""
        return [self.pile[index] for index in range(len(self.pile))]

    @property
    def is_at_end(self) -> bool:
        return self.cursor >= len(self.pile) - 1

    @property
    def current(self) -> Block | None:
        return self.pile[self.cursor] if 0 <= self.cursor < len(self.pile) else None

    def show(self, blocks: Sequence[Block]) -> None:
        """Draw `blocks`; those that stand where they stood are not laid out again."""
        self.refill(lambda: self._laid_out.take(blocks))

    def refill(self, change: Callable[[], bool]) -> None:
        """Draw what the pile holds after `change`, which says whether that is other."""
        follows = self.follows and self.is_at_end and self._is_scrolled_to_end()
        if not change():
            return
        self._measure()
        if follows:
            self.cursor = len(self.pile) - 1
            self._follow()
        elif self.cursor >= len(self.pile):
            self.cursor = len(self.pile) - 1
        self._tell_news()
        self.refresh()

    def open_at_start(self, blocks: Sequence[Block]) -> None:
        """Draw other blocks, from their beginning."""
        self.show(blocks)
        self.cursor = 0 if blocks else -1
        self.scroll_home(animate=False, immediate=True)

    def mark(self, place: Place | None) -> None:
        """Bring the cursor to the block nearest to `place`; None is the end."""
        index = len(self.pile) - 1 if place is None else self.pile.index_of(place)
        if index is not None and index != self.cursor:
            self.cursor = index
            self._bring_into_sight()
            self._tell_news()

    def relay(self) -> None:
        """Lay everything out again, as after a change of width or symbols."""
        self.pile.lay_out(max(8, self.scrollable_content_region.width - 1))
        self._measure()
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
        line = self.pile.top(max(0, self.cursor)) if len(self.pile) else 0
        wanted = line + by * max(1, self.scrollable_content_region.height - 1)
        self.go(self.pile.at(max(0, wanted)) if len(self.pile) else 0)

    def action_move_to_start(self) -> None:
        self.go(0)

    def action_move_to_end(self) -> None:
        self.go(len(self.pile) - 1)

    def on_click(self, event: events.Click) -> None:
        line = event.get_content_offset(self)
        if line is not None and len(self.pile):
            self.go(self.pile.at(self.scroll_offset.y + line.y))

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        line = y + self.scroll_offset.y
        base = self.visual_style
        if line >= self.pile.top(len(self.pile)):
            text = Content.styled(self.empty if not len(self.pile) and y == 0 else "", styles.DIM)
            return self._strip(Content(" ") + text, base, width)
        index = self.pile.at(line)
        is_marked = index == self.cursor and self._shows_cursor(index)
        if is_marked:
            base = self.get_visual_style("blocks--cursor")
        edge = Content.styled("▌", styles.KEY) if is_marked else Content(" ")
        drawn = self.pile.lines(index)[line - self.pile.top(index)]
        return self._strip(edge + drawn, base, width)

    def _shows_cursor(self, index: int) -> bool:
        """Say whether the cursor is worth a mark: a place that other panels mark too, or focus."""
        return len(self.pile) > 1 and (self.has_focus or self.pile[index].place is not None)

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

    def _measure(self) -> None:
        height = self.pile.top(len(self.pile))
        self.virtual_size = Size(self.scrollable_content_region.width, height)

    def _follow(self) -> None:
        self.scroll_end(animate=False, immediate=True)
        # the scroll bar's coming or going may still change how lines wrap
        self.call_after_refresh(self.scroll_end, animate=False, immediate=True)

    def _is_scrolled_to_end(self) -> bool:
        return self.scroll_offset.y >= self.max_scroll_y

    def go(self, index: int) -> None:
        """Bring the cursor to a block and into sight; beyond the ends, to the nearest."""
        if not len(self.pile):
            return
        self.cursor = min(max(index, 0), len(self.pile) - 1)
        self._bring_into_sight()
        self._tell_news()
        place = self.pile[self.cursor].place
        if place is not None:
            self.post_message(Picked(place, self.is_at_end))

    def _bring_into_sight(self) -> None:
        top, bottom = self.pile.top(self.cursor), self.pile.top(self.cursor + 1)
        self.scroll_to_region(
            Region(0, top, 1, bottom - top), animate=False, immediate=True, x_axis=False
        )

    def _tell_news(self) -> None:
        if self.is_at_end or self.pile[len(self.pile) - 1].place is None:
            self._seen = len(self.pile)
        fresh = max(0, len(self.pile) - self._seen)
        if fresh != self._fresh:
            self._fresh = fresh
            self.border_subtitle = Content(f"{fresh} new · End") if fresh else Content("")
            self.post_message(NewsCame(self.id or "", fresh))
