"""The panels, and how they share the screen: columns above one at the bottom."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.wire.json_values import Json


@dataclass(frozen=True, slots=True)
class PanelEntry:
    """A panel by the id of its widget. Its number is its key; `help` says what that key does."""

    id: str
    number: int
    title: str
    help: str
    is_bottom: bool = False

    @property
    def heading(self) -> str:
        return f"{self.number} {self.title}"


PANELS = (
    PanelEntry("conversation", 1, "Conversation", "Go to the conversation"),
    PanelEntry("timeline", 2, "Timeline", "Go to the timeline"),
    PanelEntry("data", 3, "Data", "Go to the data and slots"),
    PanelEntry("wire", 4, "Wire", "Go to the wire view", is_bottom=True),
)
PANEL_BY_ID = {panel.id: panel for panel in PANELS}
COLUMNS = tuple(panel.id for panel in PANELS if not panel.is_bottom)
STEP = 10
LEAST, MOST = 10, 80
EVEN = 33


@dataclass(frozen=True, slots=True)
class Layout:
    """`widths` are shares of the columns; `wire` the wire's share of the height, in percent."""

    widths: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(COLUMNS, EVEN))
    wire: int = 50
    hidden: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(name for name in COLUMNS if name not in self.hidden)

    def resized(self, panel: str, by: int) -> "Layout":
        """Return this layout with the column `panel` wider, or the wire higher, by `by` steps."""
        if panel not in self.widths:
            return self.with_wire(self.wire + by * STEP)
        width = _bounded(self.widths[panel] + by * STEP)
        return replace(self, widths={**self.widths, panel: width})

    def with_wire(self, share: int) -> "Layout":
        return replace(self, wire=_bounded(share))

    def with_widths(self, widths: Mapping[str, int]) -> "Layout":
        bounded = {name: _bounded(width) for name, width in widths.items()}
        return replace(self, widths={**self.widths, **bounded})

    def without(self, panel: str) -> "Layout":
        """Return this layout with `panel` hidden; the last one stays."""
        if panel not in self.shown or len(self.shown) == 1:
            return self
        return replace(self, hidden=(*self.hidden, panel))

    def with_shown(self, panel: str) -> "Layout":
        return replace(self, hidden=tuple(name for name in self.hidden if name != panel))


def parse_layout(written: "Json") -> Layout:
    """Return the layout that was written down; what makes no sense in it is left out."""
    if not isinstance(written, dict):
        return Layout()
    widths, hidden, wire = written.get("widths"), written.get("hidden"), written.get("wire")
    layout = Layout()
    if isinstance(widths, dict):
        layout = layout.with_widths(
            {name: share for name in COLUMNS if isinstance(share := widths.get(name), int)}
        )
    if isinstance(wire, int):
        layout = layout.with_wire(wire)
    for name in hidden if isinstance(hidden, list) else ():
        if isinstance(name, str):
            layout = layout.without(name)
    return layout


def _bounded(share: int) -> int:
    return min(max(share, LEAST), MOST)
