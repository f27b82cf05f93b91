"""A table of names and values in the composer: slots, metadata, headers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalGroup, VerticalScroll
from textual.message import Message
from textual.widgets import Input

from inspector.tui.composing.pair_line import PairLine
from inspector.tui.composing.slot_values import Hint, typed_for
from inspector.wire.json_values import Json


class PairsTable(VerticalGroup):
    """There is always one empty row; a row without a name is none."""

    @dataclass
    class Edited(Message):
        """Rows changed."""

    def __init__(self, noun: str, *, id: str, is_text: bool = False) -> None:
        super().__init__(id=id, classes="page")
        self._noun = noun
        self._is_text = is_text
        self._hints: Mapping[str, Hint] = {}

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="rows", can_focus=False):
            yield self._line()

    def know(self, hints: Mapping[str, Hint]) -> None:
        """Offer `hints` in all rows."""
        self._hints = hints
        for line in self.query(PairLine):
            line.know(hints)

    async def set_pairs(self, pairs: Mapping[str, Json]) -> None:
        """Replace all rows by those that make `pairs`."""
        await self.set_texts([(name, typed_for(value)) for name, value in pairs.items()])

    async def set_texts(self, texts: Sequence[tuple[str, str]]) -> None:
        """Replace all rows by names and what is typed for them."""
        rows = self.query_one(".rows")
        await rows.remove_children()
        await rows.mount(*(self._line(name, typed) for name, typed in texts), self._line())
        self.post_message(self.Edited())

    def pairs(self) -> dict[str, Json]:
        """Return what the rows hold; rows whose value is not of its type are left out."""
        return {
            line.pair_name: line.value()
            for line in self.query(PairLine)
            if line.is_filled and line.is_good
        }

    def texts(self) -> tuple[tuple[str, str], ...]:
        """Return the rows as typed, in order; a name may stand there twice."""
        return tuple(
            (line.pair_name, line.typed) for line in self.query(PairLine) if line.is_filled
        )

    def focus_first(self) -> None:
        empty = [line for line in self.query(PairLine) if not line.pair_name]
        (empty or list(self.query(PairLine)))[0].query_one(".name", Input).focus()

    @on(PairLine.Edited)
    async def take_edit(self, event: PairLine.Edited) -> None:
        event.stop()
        if all(line.pair_name for line in self.query(PairLine)):
            await self.query_one(".rows").mount(self._line())
        self.post_message(self.Edited())

    @on(Input.Submitted)
    def next_field(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.focus_next(".value" if event.input.has_class("name") else ".name")

    def _line(self, name: str = "", typed: str = "") -> PairLine:
        return PairLine(self._noun, self._hints, name, typed, is_text=self._is_text)
