"""Where the boxes and arrows of a chart stand: layers from top to bottom, few crossings.

The method is Sugiyama's. Ways back are turned around; each box gets the layer below the last one
that leads to it; an arrow that passes layers, or has a label, gets a knot in each of them; the
layers are sorted so that few arrows cross; and each box moves over what it is tied to, as far as
its neighbours let it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mock_server.diagrams.columns import GAP_X, place_columns
from mock_server.diagrams.geometry import Layout, Point, Route, Size, Tie
from mock_server.diagrams.ordering import Layers, sort_layers
from mock_server.diagrams.ranking import rank_boxes, turned_ties

GAP_Y = 22.0
MARGIN = 16.0
PORT_DISTANCE = 18.0
PORT_SHARE = 0.7


def lay_out(boxes: Sequence[Size], ties: Sequence[Tie]) -> Layout:
    """Place `boxes`, the first at the top; a tie from a box to itself has a loop at its right."""
    plain = [number for number, tie in enumerate(ties) if tie.source != tie.target]
    turned = turned_ties(len(boxes), ties, plain)
    ranks = rank_boxes(len(boxes), ties, plain, turned)
    sizes = [_with_loops(size, box, ties) for box, size in enumerate(boxes)]
    row_of = list(ranks)
    chains: dict[int, list[int]] = {}
    for number in plain:
        tie = ties[number]
        top, bottom = (tie.target, tie.source) if number in turned else (tie.source, tie.target)
        knots = range(ranks[top] + 1, ranks[bottom])
        # A condition stands where the choice is made, not where it leads.
        labelled = ranks[tie.source] + (-1 if number in turned else 1)
        chain = [top]
        for rank in knots:
            chain.append(len(sizes))
            sizes.append(tie.label if tie.label and rank == labelled else Size(0, 0))
            row_of.append(rank)
        chains[number] = [*chain, bottom]
    links = [link for chain in chains.values() for link in pairwise(chain)]
    layers = sort_layers(row_of, links)
    xs = [MARGIN + x for x in place_columns(layers, links, sizes, len(boxes))]
    tops, heights = _rows(layers, sizes)
    return _drawn(boxes, ties, _Placed(sizes, row_of, xs, tops, heights), chains, turned)


@dataclass(frozen=True, slots=True)
class _Placed:
    """All boxes and knots: their sizes, rows and middles; the rows' tops and heights."""

    sizes: Sequence[Size]
    row_of: Sequence[int]
    xs: Sequence[float]
    tops: Sequence[float]
    heights: Sequence[float]

    def middle(self, item: int) -> float:
        row = self.row_of[item]
        return self.tops[row] + self.heights[row] / 2


def _with_loops(size: Size, box: int, ties: Sequence[Tie]) -> Size:
    """The box with room for the labels of its loops at the right, and as much at the left."""
    loops = [tie.label or Size(0, 0) for tie in ties if tie.source == tie.target == box]
    if not loops:
        return size
    aside = 2 * (GAP_X + max(label.width for label in loops))
    height = max(size.height, sum(label.height for label in loops) + GAP_Y)
    return Size(size.width + aside, height)


def _rows(layers: Layers, sizes: Sequence[Size]) -> tuple[list[float], list[float]]:
    """The top and the height of each layer."""
    tops: list[float] = []
    heights: list[float] = []
    y = MARGIN
    for layer in layers:
        tops.append(y)
        heights.append(max(sizes[item].height for item in layer))
        y += heights[-1] + GAP_Y
    return tops, heights


def _drawn(
    boxes: Sequence[Size],
    ties: Sequence[Tie],
    placed: _Placed,
    chains: Mapping[int, list[int]],
    turned: set[int],
) -> Layout:
    centers = tuple(Point(placed.xs[box], placed.middle(box)) for box in range(len(boxes)))
    ports = _ports(chains.values(), boxes, placed.xs)
    routes: list[Route] = []
    loops: dict[int, float] = defaultdict(float)
    for number, tie in enumerate(ties):
        if number not in chains:
            routes.append(_loop(tie, boxes[tie.source], centers[tie.source], loops))
            continue
        route = _route(chains[number], boxes, placed, ports)
        is_turned = number in turned
        routes.append(Route(route.points[::-1], route.label) if is_turned else route)
    width = max(placed.xs[item] + size.width / 2 for item, size in enumerate(placed.sizes))
    height = placed.tops[-1] + placed.heights[-1]
    return Layout(Size(width + MARGIN, height + MARGIN), centers, tuple(routes))


def _ports(
    chains: Iterable[Sequence[int]], boxes: Sequence[Size], xs: Sequence[float]
) -> Mapping[tuple[int, int], float]:
    """Where each tie meets its boxes, by box and neighbour: side by side, so that none overlap."""
    sides: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for chain in chains:
        sides[chain[0], True].append(chain[1])
        sides[chain[-1], False].append(chain[-2])
    ports: dict[tuple[int, int], float] = {}
    for (box, _), neighbours in sides.items():
        step = min(PORT_DISTANCE, boxes[box].width * PORT_SHARE / len(neighbours))
        first = xs[box] - step * (len(neighbours) - 1) / 2
        for number, neighbour in enumerate(sorted(neighbours, key=lambda item: xs[item])):
            ports[box, neighbour] = first + number * step
    return ports


def _route(
    chain: Sequence[int],
    boxes: Sequence[Size],
    placed: _Placed,
    ports: Mapping[tuple[int, int], float],
) -> Route:
    """From the lower edge of the upper box, straight through each knot, to the lower box."""
    first, last = chain[0], chain[-1]
    points = [Point(ports[first, chain[1]], placed.middle(first) + boxes[first].height / 2)]
    label: Point | None = None
    for knot in chain[1:-1]:
        row = placed.row_of[knot]
        top, height = placed.tops[row], placed.heights[row]
        points += (Point(placed.xs[knot], top), Point(placed.xs[knot], top + height))
        if placed.sizes[knot].width:
            label = Point(placed.xs[knot], top + height / 2)
    points.append(Point(ports[last, chain[-2]], placed.middle(last) - boxes[last].height / 2))
    return Route(tuple(points), label)


def _loop(tie: Tie, box: Size, center: Point, used: dict[int, float]) -> Route:
    """A loop at the right of a box, its label beside it; the next one's label goes below."""
    label = tie.label or Size(0, 0)
    right = center.x + box.width / 2
    reach = right + GAP_X
    y = center.y + used[tie.source]
    used[tie.source] += label.height + 2
    points = (
        Point(right, center.y - box.height / 4),
        Point(reach, center.y - box.height / 4),
        Point(reach, center.y + box.height / 4),
        Point(right, center.y + box.height / 4),
    )
    return Route(points, Point(reach + 2 + label.width / 2, y) if tie.label else None)
