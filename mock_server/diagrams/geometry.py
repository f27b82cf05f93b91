"""What is laid out, and what comes of it; lengths are pixels, from the left and from above."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Tie:
    """An arrow from box `source` to box `target`, with the size of its label if it has one."""

    source: int
    target: int
    label: Size | None = None


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Route:
    """The way of an arrow from its source to its target, and the middle of its label."""

    points: tuple[Point, ...]
    label: Point | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """The middles of the boxes and the routes of the ties, each in the order of the input."""

    size: Size
    centers: tuple[Point, ...]
    routes: tuple[Route, ...]
