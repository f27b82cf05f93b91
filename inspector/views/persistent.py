"""Sequences and mappings that never change and still grow cheaply: trees that share what stays.

Views grow by one update at a time, thousands of times; copying a tuple each time would cost the
square of that. Here a change copies one path of the tree and shares the rest."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeAlias, TypeVar, overload

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
        known = tuple(items)
        self._length = len(known)
        self._root: _Leaf[T] | _Branch[T] = _build(known)

    def append(self, item: T) -> "Series[T]":
        """This series and `item` after it."""
        return self._with(_append(self._root, self._length, item), self._length + 1)

    def extend(self, items: Iterable[T]) -> "Series[T]":
        """This series and `items` after it; many at once cost little each."""
        known = tuple(items)
        if len(known) > max(_WIDTH, self._length):
            return Series((*self, *known))
        series = self
        for item in known:
            series = series.append(item)
        return series

    def set(self, index: int, item: T) -> "Series[T]":
        """This series with `item` at `index`.

        Raises:
            IndexError: there is no such index; negative ones are not counted from the end.
        """
        if not 0 <= index < self._length:
            raise IndexError(index)
        return self._with(_put_item(self._root, index, item), self._length)

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


def _build(items: tuple[T, ...]) -> _Leaf[T] | _Branch[T]:
    """The tree of `items`."""
    if len(items) <= _WIDTH:
        return _Leaf(items)
    nodes: list[_Leaf[T] | _Branch[T]] = [
        _Leaf(items[start : start + _WIDTH]) for start in range(0, len(items), _WIDTH)
    ]
    shift = 0
    while len(nodes) > 1:
        shift += _BITS
        nodes = [
            _Branch(shift, tuple(nodes[start : start + _WIDTH]))
            for start in range(0, len(nodes), _WIDTH)
        ]
    return nodes[0]


def _append(root: _Leaf[T] | _Branch[T], length: int, item: T) -> _Leaf[T] | _Branch[T]:
    shift = root.shift if isinstance(root, _Branch) else 0
    if length >= _WIDTH << shift:
        root = _Branch(shift + _BITS, (root,))
    return _put_item(root, length, item)


def _put_item(node: _Leaf[T] | _Branch[T], index: int, item: T) -> _Leaf[T] | _Branch[T]:
    """`node` with `item` at `index`, which is one of its places or the next free one."""
    if isinstance(node, _Leaf):
        place = index % _WIDTH
        return _Leaf((*node.items[:place], item, *node.items[place + 1 :]))
    place = (index >> node.shift) % _WIDTH
    below = node.nodes[place] if place < len(node.nodes) else None
    child = _grow(node.shift, item) if below is None else _put_item(below, index, item)
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


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_MASK = (1 << 60) - 1
_MOST_SHIFT = 55
_BUCKET = 8


@dataclass(frozen=True, slots=True)
class _Bucket(Generic[K, V]):
    pairs: tuple[tuple[K, V], ...]


@dataclass(frozen=True, slots=True)
class _Fork(Generic[K, V]):
    nodes: "tuple[_Node[K, V] | None, ...]"


_Node: TypeAlias = _Bucket[K, V] | _Fork[K, V]


class Index(Mapping[K, V], Generic[K, V]):
    """Compares equal to any mapping of equal items; iterates in no order to rely on."""

    __slots__ = ("_length", "_root")

    def __init__(self, pairs: Iterable[tuple[K, V]] = ()) -> None:
        self._length = 0
        self._root: _Node[K, V] = _Bucket(())
        grown = self.union(pairs)
        self._root, self._length = grown._root, grown._length

    def set(self, key: K, value: V) -> "Index[K, V]":
        """This mapping with `value` at `key`."""
        is_known = key in self
        root = _put_pair(self._root, 0, _place(key), (key, value))
        return self._with(root, self._length + (not is_known))

    def union(self, pairs: Iterable[tuple[K, V]]) -> "Index[K, V]":
        """This mapping with `pairs`, the last of those with the same key; many cost little each."""
        known = dict(pairs)
        if len(known) > max(_WIDTH, self._length):
            whole = {**self, **known}
            root = _scatter([(_place(key), (key, value)) for key, value in whole.items()], 0)
            return self._with(root, len(whole))
        index = self
        for key, value in known.items():
            index = index.set(key, value)
        return index

    def without(self, key: K) -> "Index[K, V]":
        """This mapping without `key`, which need not be in it."""
        if key not in self:
            return self
        return self._with(_drop(self._root, 0, _place(key), key), self._length - 1)

    def _with(self, root: _Node[K, V], length: int) -> "Index[K, V]":
        index: Index[K, V] = Index()
        index._root, index._length = root, length
        return index

    def __getitem__(self, key: K) -> V:
        node: _Node[K, V] | None = self._root
        place = _place(key)
        while isinstance(node, _Fork):
            node, place = node.nodes[place % _WIDTH], place >> _BITS
        for known, value in node.pairs if node is not None else ():
            if known == key:
                return value
        raise KeyError(key)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[K]:
        return _keys(self._root)

    def __repr__(self) -> str:
        return f"Index({dict(self)!r})"


def _place(key: Hashable) -> int:
    return hash(key) & _MASK


def _put_pair(node: _Node[K, V] | None, shift: int, place: int, pair: tuple[K, V]) -> _Node[K, V]:
    """`node`, whose keys share the `shift` lowest bits of their places, with `pair` in it."""
    if node is None:
        return _Bucket((pair,))
    if isinstance(node, _Fork):
        slot = (place >> shift) % _WIDTH
        child = _put_pair(node.nodes[slot], shift + _BITS, place, pair)
        return _Fork((*node.nodes[:slot], child, *node.nodes[slot + 1 :]))
    pairs = (*(one for one in node.pairs if one[0] != pair[0]), pair)
    if len(pairs) <= _BUCKET or shift > _MOST_SHIFT:
        return _Bucket(pairs)
    fork: _Node[K, V] = _Fork((None,) * _WIDTH)
    for one in pairs:
        fork = _put_pair(fork, shift, _place(one[0]), one)
    return fork


def _scatter(pairs: list[tuple[int, tuple[K, V]]], shift: int) -> _Node[K, V]:
    """The tree of `pairs`, each with what is left of its key's place."""
    if len(pairs) <= _BUCKET or shift > _MOST_SHIFT:
        return _Bucket(tuple(pair for _, pair in pairs))
    slots: list[list[tuple[int, tuple[K, V]]]] = [[] for _ in range(_WIDTH)]
    for place, pair in pairs:
        slots[place % _WIDTH].append((place >> _BITS, pair))
    return _Fork(tuple(_scatter(slot, shift + _BITS) if slot else None for slot in slots))


def _drop(node: _Node[K, V], shift: int, place: int, key: K) -> _Node[K, V]:
    """`node` without `key`, which is in it; a branch that is left empty stays."""
    if isinstance(node, _Bucket):
        return _Bucket(tuple(pair for pair in node.pairs if pair[0] != key))
    slot = (place >> shift) % _WIDTH
    child = node.nodes[slot]
    assert child is not None
    dropped = _drop(child, shift + _BITS, place, key)
    return _Fork((*node.nodes[:slot], dropped, *node.nodes[slot + 1 :]))


def _keys(node: _Node[K, V] | None) -> Iterator[K]:
    if isinstance(node, _Bucket):
        for key, _ in node.pairs:
            yield key
    elif node is not None:
        for child in node.nodes:
            yield from _keys(child)
