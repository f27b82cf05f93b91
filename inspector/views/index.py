"""A mapping that never changes and still grows cheaply: a tree of small buckets, by hash.

The sister of `Series`: `set` and `without` copy one path of the tree and share the rest.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_BITS = 5
_WIDTH = 1 << _BITS
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
        grown: Index[K, V] = self
        for key, value in pairs:
            grown = grown.set(key, value)
        self._root, self._length = grown._root, grown._length

    def set(self, key: K, value: V) -> "Index[K, V]":
        """This mapping with `value` at `key`."""
        is_known = key in self
        root = _put(self._root, 0, _place(key), (key, value))
        return self._with(root, self._length + (not is_known))

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


def _put(node: _Node[K, V] | None, shift: int, place: int, pair: tuple[K, V]) -> _Node[K, V]:
    """`node`, whose keys share the `shift` lowest bits of their places, with `pair` in it."""
    if node is None:
        return _Bucket((pair,))
    if isinstance(node, _Fork):
        slot = (place >> shift) % _WIDTH
        child = _put(node.nodes[slot], shift + _BITS, place, pair)
        return _Fork((*node.nodes[:slot], child, *node.nodes[slot + 1 :]))
    pairs = (*(one for one in node.pairs if one[0] != pair[0]), pair)
    if len(pairs) <= _BUCKET or shift > _MOST_SHIFT:
        return _Bucket(pairs)
    fork: _Node[K, V] = _Fork((None,) * _WIDTH)
    for one in pairs:
        fork = _put(fork, shift, _place(one[0]), one)
    return fork


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
