"""Blocks made anew only for the values that changed, so that a list sees what stayed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from inspector.tui.drawing.block import Block

T = TypeVar("T")


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
