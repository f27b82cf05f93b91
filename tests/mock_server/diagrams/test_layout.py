"""Where boxes and arrows stand."""

from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from mock_server.diagrams.geometry import Layout, Point, Size, Tie
from mock_server.diagrams.layout import lay_out

BOX = Size(100, 40)
LABEL = Size(60, 20)
EPSILON = 1e-6

sizes = st.builds(Size, st.floats(10, 200), st.floats(10, 80))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Size], list[Tie]]:
    boxes = draw(st.lists(sizes, min_size=1, max_size=9))
    number = st.integers(0, len(boxes) - 1)
    labels = st.none() | st.builds(Size, st.floats(5, 120), st.floats(5, 40))
    return boxes, draw(st.lists(st.builds(Tie, number, number, labels), max_size=14))


def overlap(a: Point, a_size: Size, b: Point, b_size: Size) -> bool:
    return (
        abs(a.x - b.x) < (a_size.width + b_size.width) / 2 - EPSILON
        and abs(a.y - b.y) < (a_size.height + b_size.height) / 2 - EPSILON
    )


@given(graphs())
@settings(max_examples=150)
def test_boxes_and_labels_never_overlap_and_lie_in_the_picture(
    graph: tuple[list[Size], list[Tie]],
) -> None:
    boxes, ties = graph
    layout = lay_out(boxes, ties)
    placed = list(zip(layout.centers, boxes, strict=True))
    for tie, route in zip(ties, layout.routes, strict=True):
        assert (route.label is None) == (tie.label is None)
        if route.label and tie.label and tie.source != tie.target:
            placed.append((route.label, tie.label))
    for (a, a_size), (b, b_size) in combinations(placed, 2):
        assert not overlap(a, a_size, b, b_size)
    for center, size in placed:
        assert center.x - size.width / 2 >= -EPSILON
        assert center.x + size.width / 2 <= layout.size.width + EPSILON
        assert center.y - size.height / 2 >= 0
        assert center.y + size.height / 2 <= layout.size.height + EPSILON


@given(graphs())
@settings(max_examples=150)
def test_every_arrow_goes_from_edge_to_edge_of_its_boxes(
    graph: tuple[list[Size], list[Tie]],
) -> None:
    boxes, ties = graph
    layout = lay_out(boxes, ties)
    for tie, route in zip(ties, layout.routes, strict=True):
        ends = ((tie.source, route.points[0]), (tie.target, route.points[-1]))
        for box, point in ends:
            center, size = layout.centers[box], boxes[box]
            assert abs(point.x - center.x) <= size.width / 2 + EPSILON
            assert abs(point.y - center.y) <= size.height / 2 + EPSILON


def cross(layout: Layout, first: int, second: int) -> bool:
    """Whether two routes between the same layers change sides."""
    a, b = layout.routes[first].points, layout.routes[second].points
    return (a[0].x - b[0].x) * (a[-1].x - b[-1].x) < 0


def test_chain_is_a_straight_line() -> None:
    layout = lay_out([BOX] * 4, [Tie(0, 1), Tie(1, 2, LABEL), Tie(2, 3)])
    assert len({round(center.x, 6) for center in layout.centers}) == 1
    ys = [center.y for center in layout.centers]
    assert ys == sorted(ys)


def test_branches_stand_beside_each_other_below_the_choice() -> None:
    layout = lay_out([BOX] * 4, [Tie(0, 1), Tie(0, 2), Tie(0, 3)])
    top, *branches = layout.centers
    assert {branch.y for branch in branches} == {branches[0].y}
    assert branches[0].y > top.y
    assert abs(sum(branch.x for branch in branches) / 3 - top.x) < 1


def test_crossing_that_need_not_be_is_undone() -> None:
    ties = [Tie(0, 1), Tie(0, 2), Tie(1, 4), Tie(2, 3)]
    layout = lay_out([BOX] * 5, ties)
    assert not cross(layout, 2, 3)


def test_way_back_leads_upwards() -> None:
    layout = lay_out([BOX] * 3, [Tie(0, 1), Tie(1, 2), Tie(2, 1, LABEL)])
    ys = [center.y for center in layout.centers]
    assert ys == sorted(ys)
    back = layout.routes[2]
    assert all(a.y >= b.y for a, b in pairwise(back.points))
    assert back.label is not None


def test_loop_stands_beside_its_box() -> None:
    layout = lay_out([BOX, BOX], [Tie(0, 0, LABEL), Tie(0, 1)])
    label = layout.routes[0].label
    assert label is not None
    assert label.x - LABEL.width / 2 > layout.centers[0].x + BOX.width / 2
    assert label.x + LABEL.width / 2 <= layout.size.width


def test_long_flow_is_laid_out_without_recursion() -> None:
    count = 1500
    layout = lay_out([BOX] * count, [Tie(i, i + 1) for i in range(count - 1)])
    assert layout.centers[-1].y > layout.centers[0].y
