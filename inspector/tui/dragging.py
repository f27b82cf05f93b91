"""A border between two panels that follows the mouse."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from textual.geometry import Region

from inspector.tui.layout import COLUMNS, Layout

_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Drag:
    """What is moved: the border after `column`, or where that is None the one above the wire."""

    column: str | None


def drag_at(regions: Mapping[str, Region], x: int, y: int) -> Drag | None:
    """Return what a mouse button pressed there moves; `regions` are those of panels on screen."""
    wire = regions.get("wire")
    if wire is not None and y == wire.y and wire.contains(x, y):
        return Drag(None)
    columns = [name for name in COLUMNS if name in regions]
    for name, after in pairwise(columns):
        is_between = x in (regions[name].right - 1, regions[after].x)
        if is_between and regions[name].y <= y < regions[name].bottom:
            return Drag(name)
    return None


def dragged(layout: Layout, regions: Mapping[str, Region], drag: Drag, x: int, y: int) -> Layout:
    """Return `layout` with the border at `x` or `y`."""
    columns = [name for name in COLUMNS if name in regions]
    area = Region.from_union([regions[name] for name in columns])
    if drag.column is None:
        bottom = regions["wire"].bottom
        return layout.with_wire(round(_PERCENT * (bottom - y) / (bottom - area.y)))
    after = columns[columns.index(drag.column) + 1]
    left, right = regions[drag.column].x, regions[after].right
    cells = {name: regions[name].width for name in columns}
    cells |= {drag.column: x - left, after: right - x}
    return layout.with_widths({n: round(_PERCENT * c / area.width) for n, c in cells.items()})
