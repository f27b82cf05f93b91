"""A few pages of something long, where all of it would take too long to lay out."""

from dataclasses import dataclass
from functools import lru_cache

from textual.content import Content

from inspector.tui.drawing import ink
from inspector.tui.drawing.block import Block, Line

PAGE = 100
PAGES = 3


@dataclass(frozen=True, slots=True)
class Window:
    """The items from `first` on, as many as fit into PAGES pages."""

    first: int = 0

    @property
    def end(self) -> int:
        return self.first + PAGES * PAGE

    def around(self, index: int) -> "Window":
        """Return this window while `index` is in it, else one with `index` in its middle page."""
        if self.first <= index < self.end:
            return self
        return Window(max(0, index // PAGE - 1) * PAGE)


@lru_cache(maxsize=2)
def left_out(count: int, what: str) -> tuple[Block, ...]:
    """Return a line that says how many are not shown, the same for the same; nothing for none."""
    if count <= 0:
        return ()
    return (Block(None, (Line(Content.styled(f"… {count} {what}", ink.DIM)),)),)
