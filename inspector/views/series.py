"""A sequence that never changes and still appends cheaply: a tree of tuples, 32 wide.

Views grow by one update at a time, thousands of times; copying a tuple each time would cost the
square of that. Here `append` and `set` copy one path of the tree and share the rest.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar, overload

T = TypeVar("T")

_BITS = 5
_WIDTH = 1 << _BITS


@dataclass(frozen=True, slots=True)
class _Leaf(Generic[T]):
    items: tuple[T, ...]


@dataclass(frozen=True, slots=True)
class _Branch(Generic[T]):
    """`shift` is how many bits of an index the levels below this one use."""

    shift: int
    nodes: "tuple[_Leaf[T] | _Branch[T], ...]"


class Series(Sequence[T], Generic[T]):
    """Compares equal to any series of equal items, whatever steps built it."""

    __slots__ = ("_length", "_root")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._length = 0
        self._root: _Leaf[T] | _Branch[T] = _Leaf(())
        for item in items:
            self._root = _append(self._root, self._length, item)
            self._length += 1

    def append(self, item: T) -> "Series[T]":
        """This series and `item` after it."""
        return self._with(_append(self._root, self._length, item), self._length + 1)

    def extend(self, items: Iterable[T]) -> "Series[T]":
        """This series and `items` after it."""
        series = self
        for item in items:
            series = series.append(item)
        return series

    def set(self, index: int, item: T) -> "Series[T]":
        """This series with `item` at `index`.

        Raises:
            IndexError: there is no such index; negative ones are not counted from the end.
        """
        if not 0 <= index < self._length:
            raise IndexError(index)
        return self._with(_put(self._root, index, item), self._length)

    def cut(self, length: int) -> "Series[T]":
        """The first `length` items of this series, which has at least so many."""
        return self._with(self._root, min(length, self._length))

    def changes(self, before: "Series[T]") -> Iterator[int]:
        """The places whose item is not the very one of `before`, in order.

        Costs what has changed: parts that both share are passed over.
        """
        shared = min(self._length, before._length)
        for place in _changes(self._root, before._root, 0):
            if place >= shared:
                break
            yield place
        yield from range(shared, self._length)

    def _with(self, root: _Leaf[T] | _Branch[T], length: int) -> "Series[T]":
        series: Series[T] = Series()
        series._root, series._length = root, length
        return series

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return islice(_walk(self._root), self._length)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(self._length)))
        place = index + self._length if index < 0 else index
        if not 0 <= place < self._length:
            raise IndexError(index)
        node = self._root
        while isinstance(node, _Branch):
            node = node.nodes[(place >> node.shift) % _WIDTH]
        return node.items[place % _WIDTH]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Series):
            return NotImplemented
        return tuple(self) == tuple(other)  # pyright: ignore[reportUnknownArgumentType]: any items

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Series({list(self)!r})"


def _append(root: _Leaf[T] | _Branch[T], length: int, item: T) -> _Leaf[T] | _Branch[T]:
    shift = root.shift if isinstance(root, _Branch) else 0
    if length >= _WIDTH << shift:
        root = _Branch(shift + _BITS, (root,))
    return _put(root, length, item)


def _put(node: _Leaf[T] | _Branch[T], index: int, item: T) -> _Leaf[T] | _Branch[T]:
    """`node` with `item` at `index`, which is one of its places or the next free one."""
    if isinstance(node, _Leaf):
        place = index % _WIDTH
        return _Leaf((*node.items[:place], item, *node.items[place + 1 :]))
    place = (index >> node.shift) % _WIDTH
    below = node.nodes[place] if place < len(node.nodes) else None
    child = _grow(node.shift, item) if below is None else _put(below, index, item)
    return _Branch(node.shift, (*node.nodes[:place], child, *node.nodes[place + 1 :]))


def _grow(shift: int, item: T) -> _Leaf[T] | _Branch[T]:
    """A new node below a branch with `shift`, holding `item` alone."""
    below = shift - _BITS
    return _Branch(below, (_grow(below, item),)) if below else _Leaf((item,))


def _walk(node: _Leaf[T] | _Branch[T]) -> Iterator[T]:
    if isinstance(node, _Leaf):
        yield from node.items
    else:
        for child in node.nodes:
            yield from _walk(child)


def _changes(
    node: _Leaf[T] | _Branch[T], other: _Leaf[T] | _Branch[T] | None, start: int
) -> Iterator[int]:
    """The places below `node`, which begins at `start`, that `other` does not share."""
    while isinstance(other, _Branch) and other.shift > _shift(node):
        other = other.nodes[0]
    if node is other:
        return
    if isinstance(node, _Leaf):
        known = other.items if isinstance(other, _Leaf) else ()
        for place, item in enumerate(node.items):
            if place >= len(known) or known[place] is not item:
                yield start + place
        return
    others: tuple[_Leaf[T] | _Branch[T], ...] = () if other is None else (other,)
    if isinstance(other, _Branch) and other.shift == node.shift:
        others = other.nodes
    for place, child in enumerate(node.nodes):
        twin = others[place] if place < len(others) else None
        yield from _changes(child, twin, start + (place << node.shift))


def _shift(node: _Leaf[T] | _Branch[T]) -> int:
    return node.shift if isinstance(node, _Branch) else 0
