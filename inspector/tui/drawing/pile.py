"""What a list shows: blocks one below the other, each found by its line and by its place."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar, overload

from textual.content import Content

from inspector.tui.drawing.block import Block, common_prefix, lay_out, nearest
from inspector.tui.messages import Place
from inspector.views.persistent import Series

T = TypeVar("T")

# Blocks drawn lately that a pile keeps; a screen is a few dozen.
MOST_KEPT = 1000


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
