"""How far to the right boxes and knots stand, their order in the layers being settled."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from mock_server.diagrams.geometry import Size
from mock_server.diagrams.ordering import Layers

GAP_X = 28.0
SETTLING_ROUNDS = 60


def place_columns(
    layers: Layers, links: Iterable[tuple[int, int]], sizes: Sequence[Size], boxes: int
) -> list[float]:
    """The middle of each box and knot from the left: near to what it is tied to."""
    above: dict[int, list[int]] = defaultdict(list)
    below: dict[int, list[int]] = defaultdict(list)
    for top, bottom in links:
        above[bottom].append(top)
        below[top].append(bottom)
    around = {item: above[item] + below[item] for item in range(len(sizes))}
    xs = [0.0] * len(sizes)
    for layer in layers:
        _settle(layer, {item: (0.0, 1.0) for item in layer}, sizes, xs)
    for turn in range(SETTLING_ROUNDS):
        ties = (above, below, around)[turn % 3]
        for layer in layers if turn % 2 == 0 else layers[::-1]:
            wishes = {item: _wish(item, ties[item], xs, boxes) for item in layer}
            _settle(layer, wishes, sizes, xs)
    left = min(xs[item] - sizes[item].width / 2 for layer in layers for item in layer)
    return [x - left for x in xs]


def _wish(item: int, others: Sequence[int], xs: Sequence[float], boxes: int) -> tuple[float, float]:
    """Where an item wants to stand, and how much it does: arrows want to be straight most."""
    weights = [_weight(item, other, boxes) for other in others]
    total = sum(weights)
    if not total:
        return xs[item], 0.1
    return sum(xs[o] * w for o, w in zip(others, weights, strict=True)) / total, total


def _weight(item: int, other: int, boxes: int) -> float:
    """Of a tie, by how many of its ends are knots; the boxes come first, then the knots."""
    return (1.0, 2.0, 8.0)[(item >= boxes) + (other >= boxes)]


def _settle(
    layer: Sequence[int],
    wishes: Mapping[int, tuple[float, float]],
    sizes: Sequence[Size],
    xs: list[float],
) -> None:
    """Put the items of a layer as near to their wishes as their order and widths allow.

    With the widths taken off, the wishes must only not fall: those that do are pooled, and each
    pool stands at the mean of its wishes, which is the nearest there is.
    """
    offsets = [0.0]
    for left, right in pairwise(layer):
        distance = (sizes[left].width + sizes[right].width) / 2 + GAP_X
        offsets.append(offsets[-1] + distance)
    pools: list[tuple[float, float, int]] = []
    for item, offset in zip(layer, offsets, strict=True):
        wish, weight = wishes[item]
        mean, count = wish - offset, 1
        while pools and pools[-1][0] > mean:
            earlier, heavy, many = pools.pop()
            mean = (earlier * heavy + mean * weight) / (heavy + weight)
            weight, count = weight + heavy, count + many
        pools.append((mean, weight, count))
    means = (mean for mean, _, count in pools for _ in range(count))
    for item, offset, mean in zip(layer, offsets, means, strict=True):
        xs[item] = mean + offset
