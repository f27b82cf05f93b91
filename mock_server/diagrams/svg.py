"""Charts as SVG, laid out by ourselves: nothing but this package is needed to draw them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from xml.etree.ElementTree import Element, SubElement, tostring

from mock_server.diagrams.boxes import FONT_SIZE, LINE_HEIGHT, size_of, wrap
from mock_server.diagrams.chart import Arrow, Chart, Node, NodeKind
from mock_server.diagrams.geometry import Layout, Point, Route, Size, Tie
from mock_server.diagrams.layout import MARGIN, lay_out
from mock_server.diagrams.mermaid import WORDS
from mock_server.xml_text import xml_text

NAMESPACE = "http://www.w3.org/2000/svg"
PADDING_X = 14.0
PADDING_Y = 8.0
LABEL_PADDING = 3.0
CAPTION_LETTERS = 90
TITLE_SIZE = 17.0
TITLE_HEIGHT = 24.0
GAP_BETWEEN_FLOWS = 24.0
MIN_WIDTH = 340.0
DOT = 9.0
STYLE = """
text { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1f2430 }
.title { font-weight: 700 } .caption, .label { fill: #5a6270 } .word { fill: #5a6270 }
.arrow { fill: none; stroke: #7b8494; stroke-width: 1.4 } .tip { fill: #7b8494 }
.box { stroke-width: 1.4; fill: #f4f5f7; stroke: #8b93a1 }
.start .box { fill: #1f2430; stroke: #1f2430 } .start text { fill: #ffffff }
.end .box { fill: #1f2430; stroke: none } .ring { fill: none; stroke: #1f2430; stroke-width: 1.4 }
.collect .box { fill: #e3f0ff; stroke: #3f7fc4 } .utter .box { fill: #e7f6e9; stroke: #46975a }
.action .box { fill: #fff2dd; stroke: #c4862b } .set_slots .box { fill: #f1eafb; stroke: #8461bd }
.call .box, .link .box { fill: #fdeaf0; stroke: #c05579 }
""".strip()


def as_svg(charts: Sequence[Chart]) -> str:
    """One picture of the charts, one below the other."""
    groups: list[Element] = []
    width, y = MIN_WIDTH, 0.0
    for chart in charts:
        group, size = _flow(chart)
        group.set("transform", f"translate(0 {_number(y)})")
        groups.append(group)
        width, y = max(width, size.width), y + size.height + GAP_BETWEEN_FLOWS
    size = Size(width, y - GAP_BETWEEN_FLOWS)
    root = Element("svg", _frame(size), xmlns=NAMESPACE, role="img")
    SubElement(root, "title").text = xml_text(", ".join(chart.title for chart in charts))
    SubElement(root, "style").text = STYLE
    SubElement(root, "rect", width="100%", height="100%", fill="#ffffff")
    root.extend(groups)
    return tostring(root, encoding="unicode") + "\n"


def _frame(size: Size) -> dict[str, str]:
    width, height = _number(size.width), _number(size.height)
    return {"width": width, "height": height, "viewBox": f"0 0 {width} {height}"}


def _flow(chart: Chart) -> tuple[Element, Size]:
    """A flow with its title, and the room it takes."""
    group = Element("g")
    caption = wrap(chart.caption, CAPTION_LETTERS) if chart.caption else ()
    _text(group, [chart.title], Point(MARGIN, MARGIN + TITLE_SIZE), "title", size=TITLE_SIZE)
    top = MARGIN + TITLE_HEIGHT
    _text(group, caption, Point(MARGIN, top + FONT_SIZE), "caption")
    top += len(caption) * LINE_HEIGHT
    layout = lay_out([_size(node) for node in chart.nodes], _ties(chart))
    drawing = SubElement(group, "g", transform=f"translate(0 {_number(top)})")
    for route in layout.routes:
        _arrow(drawing, route)
    for route, arrow in zip(layout.routes, chart.arrows, strict=True):
        _label(drawing, route, arrow)
    for node, center in zip(chart.nodes, layout.centers, strict=True):
        _node(drawing, node, center)
    return group, Size(_width(chart, caption, layout), top + layout.size.height)


def _width(chart: Chart, caption: tuple[str, ...], layout: Layout) -> float:
    written = size_of(caption, MARGIN, 0).width if caption else 0.0
    return max(layout.size.width, written, MARGIN * 2 + len(chart.title) * TITLE_SIZE * 0.62)


def _ties(chart: Chart) -> list[Tie]:
    place = {node.id: number for number, node in enumerate(chart.nodes)}
    return [
        Tie(
            place[arrow.source],
            place[arrow.target],
            size_of(wrap(arrow.label), LABEL_PADDING, LABEL_PADDING) if arrow.label else None,
        )
        for arrow in chart.arrows
    ]


def _lines(node: Node) -> tuple[str, ...]:
    """The word for what a node does, on a line of its own, and its text."""
    word = WORDS.get(node.kind)
    return (*((word,) if word else ()), *wrap(node.text))


def _size(node: Node) -> Size:
    match node.kind:
        case NodeKind.END:
            return Size(2 * DOT, 2 * DOT)
        case NodeKind.NOOP:
            return Size(2.4 * DOT, 2.4 * DOT)
        case _:
            return size_of(_lines(node), PADDING_X, PADDING_Y)


def _node(parent: Element, node: Node, center: Point) -> None:
    group = SubElement(parent, "g", {"class": node.kind.value})
    size = _size(node)
    match node.kind:
        case NodeKind.END:
            _circle(group, center, DOT, "ring")
            _circle(group, center, DOT - 2, "box")
        case NodeKind.NOOP:
            half = size.width / 2
            x, y = center.x, center.y
            corners = ((x, y - half), (x + half, y), (x, y + half), (x - half, y))
            points = " ".join(f"{_number(a)},{_number(b)}" for a, b in corners)
            SubElement(group, "polygon", {"class": "box", "points": points})
        case _:
            _box(group, node, center, size)


def _circle(parent: Element, center: Point, radius: float, name: str) -> None:
    place = {"cx": _number(center.x), "cy": _number(center.y), "r": _number(radius)}
    SubElement(parent, "circle", {"class": name, **place})


def _box(group: Element, node: Node, center: Point, size: Size) -> None:
    """A rectangle with the node's lines in its middle; START's is round, a call's is double."""
    left, top = center.x - size.width / 2, center.y - size.height / 2
    radius = size.height / 2 if node.kind is NodeKind.START else 5.0
    _rectangle(group, Point(left, top), size, radius)
    if node.kind in (NodeKind.CALL, NodeKind.LINK):
        inner = Size(size.width - 8, size.height)
        _rectangle(group, Point(left + 4, top), inner, 0)
    lines = _lines(node)
    baseline = top + PADDING_Y + FONT_SIZE
    for number, line in enumerate(lines):
        is_word = number == 0 and node.kind in WORDS
        place = Point(center.x, baseline + number * LINE_HEIGHT)
        _text(group, [line], place, "word" if is_word else "", anchor="middle")


def _rectangle(parent: Element, corner: Point, size: Size, radius: float) -> None:
    place = {"x": corner.x, "y": corner.y, "width": size.width, "height": size.height, "rx": radius}
    numbers = {name: _number(value) for name, value in place.items()}
    SubElement(parent, "rect", {"class": "box", **numbers})


def _arrow(parent: Element, route: Route) -> None:
    SubElement(parent, "path", {"class": "arrow", "d": " ".join(_curve(route.points))})
    before, end = route.points[-2:]
    is_level = before.y == end.y
    along = 1 if (end.x > before.x if is_level else end.y > before.y) else -1
    sides = ((-7 * along, -4), (-7 * along, 4)) if is_level else ((-4, -7 * along), (4, -7 * along))
    corners = [f"{_number(end.x + dx)},{_number(end.y + dy)}" for dx, dy in ((0, 0), *sides)]
    SubElement(parent, "polygon", {"class": "tip", "points": " ".join(corners)})


def _curve(points: Sequence[Point]) -> Iterator[str]:
    """A curve through the points that leaves and reaches each of them upright."""
    first = points[0]
    yield f"M{_number(first.x)} {_number(first.y)}"
    for start, end in pairwise(points):
        if start.x == end.x or start.y == end.y:
            yield f"L{_number(end.x)} {_number(end.y)}"
            continue
        middle = _number((start.y + end.y) / 2)
        x, y = _number(end.x), _number(end.y)
        yield f"C{_number(start.x)} {middle} {x} {middle} {x} {y}"


def _label(parent: Element, route: Route, arrow: Arrow) -> None:
    """The condition of a way, on white, so that the arrow behind it does not strike it through."""
    if route.label is None:
        return
    lines = wrap(arrow.label)
    size = size_of(lines, LABEL_PADDING, LABEL_PADDING)
    left, top = route.label.x - size.width / 2, route.label.y - size.height / 2
    place = {"x": left, "y": top, "width": size.width, "height": size.height}
    numbers = {name: _number(value) for name, value in place.items()}
    SubElement(parent, "rect", {"fill": "#ffffff", **numbers})
    baseline = Point(route.label.x, top + LABEL_PADDING + FONT_SIZE)
    _text(parent, lines, baseline, "label", anchor="middle")


def _text(
    parent: Element,
    lines: Iterable[str],
    baseline: Point,
    name: str,
    *,
    size: float = FONT_SIZE,
    anchor: str = "start",
) -> None:
    for number, line in enumerate(lines):
        place = {"x": _number(baseline.x), "y": _number(baseline.y + number * LINE_HEIGHT)}
        style = {"font-size": _number(size), "text-anchor": anchor}
        named = {"class": name} if name else {}
        SubElement(parent, "text", {**named, **place, **style}).text = xml_text(line)


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
