"""Sequences and mappings that never change and still grow cheaply, because copies share most parts.

Views grow by one update at a time, thousands of times; copying a tuple each time would cost the
square of that."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain
from typing import Generic, TypeVar, overload

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_WIDTH = 256


class Series(Sequence[T], Generic[T]):
    """Items in chunks of _WIDTH, the last of which may be shorter; a change copies one chunk.

    Compares equal to any series of equal items.
    """

    __slots__ = ("_chunks", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        whole = tuple(items)
        self._chunks = tuple(whole[at : at + _WIDTH] for at in range(0, len(whole), _WIDTH))
        self._length = len(whole)

    def append(self, item: T) -> "Series[T]":
        """This series and `item` after it."""
        chunks = self._chunks
        if self._length % _WIDTH:
            return self._with((*chunks[:-1], (*chunks[-1], item)), self._length + 1)
        return self._with((*chunks, (item,)), self._length + 1)

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
        (number, place), chunks = divmod(index, _WIDTH), self._chunks
        chunk = (*chunks[number][:place], item, *chunks[number][place + 1 :])
        return self._with((*chunks[:number], chunk, *chunks[number + 1 :]), self._length)

    def cut(self, length: int) -> "Series[T]":
        """The first `length` items of this series, or all where it has fewer."""
        number, rest = divmod(min(length, self._length), _WIDTH)
        last = (self._chunks[number][:rest],) if rest else ()
        return self._with((*self._chunks[:number], *last), number * _WIDTH + rest)

    def changes(self, before: "Series[T]") -> Iterator[int]:
        """The places whose item is not the very one of `before`, in order.

        Chunks that both share are passed over.
        """
        for number, chunk in enumerate(self._chunks):
            other = before._chunks[number] if number < len(before._chunks) else ()
            if chunk is not other:
                for place, item in enumerate(chunk):
                    if place >= len(other) or other[place] is not item:
                        yield number * _WIDTH + place

    def _with(self, chunks: tuple[tuple[T, ...], ...], length: int) -> "Series[T]":
        series = type(self).__new__(type(self))
        series._chunks, series._length = chunks, length
        return series

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self._chunks)

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
        return self._chunks[place // _WIDTH][place % _WIDTH]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Series):
            return NotImplemented
        return self._chunks == other._chunks  # pyright: ignore[reportUnknownMemberType]: any items

    def __hash__(self) -> int:
        return hash(self._chunks)

    def __repr__(self) -> str:
        return f"Series({list(self)!r})"


class _Gone(Enum):
    GONE = "gone"


class Index(Mapping[K, V], Generic[K, V]):
    """Layers of dicts, the newest last and each smaller than the one before; a change adds a layer.

    Small layers are merged, so that there are as many as the length has binary digits. Iterates in
    no order to rely on.
    """

    __slots__ = ("_layers", "_length")

    def __init__(self, pairs: Iterable[tuple[K, V]] = ()) -> None:
        whole: dict[K, V | _Gone] = dict(pairs)
        self._layers = (whole,) if whole else ()
        self._length = len(whole)

    def set(self, key: K, value: V) -> "Index[K, V]":
        """This mapping with `value` at `key`."""
        return self._with({key: value}, self._length + (key not in self))

    def without(self, key: K) -> "Index[K, V]":
        """This mapping without `key`, which need not be in it."""
        return self._with({key: _Gone.GONE}, self._length - 1) if key in self else self

    def _with(self, newest: dict[K, V | _Gone], length: int) -> "Index[K, V]":
        layers = self._layers
        while layers and len(layers[-1]) <= len(newest):
            newest = {**layers[-1], **newest}
            layers = layers[:-1]
        if not layers:
            newest = {key: value for key, value in newest.items() if value is not _Gone.GONE}
        index = type(self).__new__(type(self))
        index._layers, index._length = (*layers, newest), length
        return index

    def __getitem__(self, key: K) -> V:
        for layer in reversed(self._layers):
            if key in layer:
                value = layer[key]
                if value is _Gone.GONE:
                    break
                return value
        raise KeyError(key)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[K]:
        whole = {key: value for layer in self._layers for key, value in layer.items()}
        return (key for key, value in whole.items() if value is not _Gone.GONE)

    def __repr__(self) -> str:
        return f"Index({dict(self)!r})"
