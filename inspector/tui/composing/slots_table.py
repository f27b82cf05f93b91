"""The slots of the next turn, and the shapes in which they travel."""

from collections.abc import Collection
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.message import Message

from inspector.core.commands import SlotShape
from inspector.tui.composing.choices import Choices
from inspector.tui.composing.pairs_table import PairsTable

_SHAPE_NAMES = {
    SlotShape.LINE.value: "line",
    SlotShape.FENCE.value: "fence",
    SlotShape.REQUEST.value: "request",
    SlotShape.METADATA.value: "metadata",
    SlotShape.DATA.value: "DataPart",
}


class SlotsTable(PairsTable):
    """Shapes stand in the order of their precedence, the strongest last."""

    @dataclass
    class ShapeToggled(Message):
        shape: SlotShape

    def __init__(self) -> None:
        super().__init__("slot", id="slots")

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield Choices("as", _SHAPE_NAMES, id="shapes")

    def show_shapes(self, shapes: Collection[SlotShape]) -> None:
        self.query_one(Choices).show(shapes)

    @on(Choices.Toggled)
    def take_shape(self, event: Choices.Toggled) -> None:
        event.stop()
        self.post_message(self.ShapeToggled(SlotShape(event.value)))
