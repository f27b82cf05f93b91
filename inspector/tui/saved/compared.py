"""Two sessions turn by turn: what is other in the second."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static

from inspector.tui.drawing.block import Block
from inspector.tui.drawing.block_list import BlockList


class ComparedScreen(Screen[None]):
    CSS_PATH = "sessions.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,c,q", "dismiss", "Back", show=False),
        Binding("ctrl+q", "app.quit", "Quit", show=False),
    ]

    def __init__(self, blocks: Sequence[Block]) -> None:
        super().__init__()
        self._blocks = blocks

    def compose(self) -> ComposeResult:
        yield BlockList(wraps=True, follows=False, id="compared")
        yield Static("Esc back   ↑ ↓ turn by turn", id="keys", markup=False)

    def on_mount(self) -> None:
        listing = self.query_one(BlockList)
        listing.border_title = "Compared: ids and times are masked"
        listing.open_at_start(self._blocks)
