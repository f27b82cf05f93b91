"""The order of boxes within their layers, so that few arrows cross."""

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import fmean
from typing import TypeAlias

SWEEPS = 12

Layers: TypeAlias = list[list[int]]
"""The items of each layer from left to right."""


def sort_layers(row_of: Sequence[int], links: Iterable[tuple[int, int]]) -> Layers:
    """Sort the items into their rows; `links` go from a row to the one below it."""
    above: dict[int, list[int]] = defaultdict(list)
    below: dict[int, list[int]] = defaultdict(list)
    for top, bottom in links:
        above[bottom].append(top)
        below[top].append(bottom)
    layers = _first_order(row_of, below)
    best, fewest = layers, _crossings(layers, below)
    for sweep in range(SWEEPS):
        is_down = sweep % 2 == 0
        layers = _swept(layers, above if is_down else below, is_down=is_down)
        crossings = _crossings(layers, below)
        if crossings < fewest:
            best, fewest = layers, crossings
    return best


def _first_order(row_of: Sequence[int], below: dict[int, list[int]]) -> Layers:
    """As a walk in depth comes upon the items: what belongs together stands together."""
    layers: Layers = [[] for _ in range(max(row_of) + 1)]
    seen: set[int] = set()
    for start in sorted(range(len(row_of)), key=lambda item: row_of[item]):
        waiting = [start]
        while waiting:
            item = waiting.pop()
            if item not in seen:
                seen.add(item)
                layers[row_of[item]].append(item)
                waiting += reversed(below[item])
    return layers


def _swept(layers: Layers, ties: dict[int, list[int]], *, is_down: bool) -> Layers:
    """Each layer sorted by the mean place of its items' neighbours in the layer before."""
    swept = list(layers)
    rows = range(1, len(layers)) if is_down else range(len(layers) - 2, -1, -1)
    for row in rows:
        before = {item: i for i, item in enumerate(swept[row - 1 if is_down else row + 1])}
        own = {item: i for i, item in enumerate(swept[row])}
        wished = {
            item: fmean(before[other] for other in ties[item]) if ties[item] else float(own[item])
            for item in own
        }
        swept[row] = sorted(own, key=lambda item: (wished[item], own[item]))
    return swept


def _crossings(layers: Layers, below: dict[int, list[int]]) -> int:
    """How many pairs of links cross: the inversions among their lower ends."""
    crossings = 0
    for upper, lower in pairwise(layers):
        place = {item: i for i, item in enumerate(lower)}
        passed: list[int] = []
        for item in upper:
            ends = sorted(place[other] for other in below[item])
            crossings += sum(len(passed) - bisect_right(passed, end) for end in ends)
            for end in ends:
                insort(passed, end)
    return crossings
