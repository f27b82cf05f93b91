"""Where a turn is written: the text, the slots table above it, and how it will go out below."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import HorizontalGroup, VerticalGroup
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static, TextArea

from inspector.core.commands import Json, Turn
from inspector.tui import ink
from inspector.tui.messages import TurnComposed
from inspector.tui.preview import preview
from inspector.tui.quantities import duration
from inspector.tui.safe_text import safe_line
from inspector.tui.slots_table import SlotsTable
from inspector.tui.turn_options import TurnOptions, options_line
from inspector.views.chat import Offer
from inspector.views.exchanges import Exchange


class Prompt(TextArea):
    """Enter sends, Ctrl+J begins a new line; Up in the first line recalls what was sent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,shift+enter", "newline", "New line", show=False),
    ]

    @dataclass
    class Sent(Message):
        pass

    @dataclass
    class Recalled(Message):
        """`by` is -1 for the turn before, 1 for the one after."""

        by: int

    def action_newline(self) -> None:
        self.insert("\n")

    def on_key(self, event: events.Key) -> None:
        row, _ = self.cursor_location
        is_last = row == self.document.line_count - 1
        message = {
            "enter": self.Sent(),
            "up": self.Recalled(-1) if row == 0 else None,
            "down": self.Recalled(1) if is_last else None,
        }.get(event.key)
        if message is not None:
            event.stop()
            event.prevent_default()
            self.post_message(message)


class Composer(VerticalGroup):
    """Holds the next turn. `waiting` says what is outstanding, in the border above the text."""

    options: reactive[TurnOptions] = reactive(TurnOptions)
    offers: reactive[tuple[Offer, ...]] = reactive(())
    waiting: reactive[str] = reactive("")

    def __init__(self) -> None:
        super().__init__(id="compose")
        self._sent: list[Turn] = []
        self._recalled: int | None = None

    def compose(self) -> ComposeResult:
        yield SlotsTable()
        with VerticalGroup(id="writing"):
            with HorizontalGroup():
                yield Static("> ", id="caret", markup=False)
                yield Prompt(
                    id="prompt",
                    compact=True,
                    show_line_numbers=False,
                    tab_behavior="focus",
                    highlight_cursor_line=False,
                    placeholder="Write to the agent",
                )
            yield Static("", id="options", markup=False)

    def on_mount(self) -> None:
        self.prompt.cursor_blink = False
        self.query_one("#options", Static).auto_links = False
        self.call_after_refresh(self.watch_waiting)
        self.call_after_refresh(self._update)

    @property
    def table(self) -> SlotsTable:
        return self.query_one(SlotsTable)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    @property
    def last_sent(self) -> Turn | None:
        return self._sent[-1] if self._sent else None

    def turn(self) -> Turn:
        """Return what Enter sends: the number of an offered button stands for its payload."""
        text = self.prompt.text.strip()
        chosen = next((o.payload for o in self.offers if text == str(o.number)), text)
        return self.options.turn(chosen, self.table.slots())

    async def send(self) -> None:
        """Post the turn and clear the text and slots; an empty turn is none."""
        turn = self.turn()
        if not turn.text and not turn.slots:
            return
        self.remember(turn)
        self.prompt.clear()
        await self.table.set_slots({})
        self.options = self.options.after_sending()
        self.post_message(TurnComposed(turn))

    def remember(self, turn: Turn) -> None:
        self._sent.append(turn)
        self._recalled = None

    async def recall(self, turn: Turn) -> None:
        """Write `turn` back, its slots too."""
        self.prompt.load_text(turn.text)
        self.prompt.move_cursor(self.prompt.document.end)
        self.options = replace(self.options, shapes=turn.slot_shapes)
        await self.table.set_slots(turn.slots)

    def open_table(self, known: Mapping[str, Json]) -> None:
        self.table.know(known)
        self.add_class("-slots")
        self.table.focus_first()
        self._update()

    def close_table(self) -> None:
        self.remove_class("-slots")
        self.prompt.focus()

    @property
    def is_table_open(self) -> bool:
        return self.has_class("-slots")

    @on(Prompt.Sent)
    async def take_sent(self, event: Prompt.Sent) -> None:
        event.stop()
        await self.send()

    @on(Prompt.Recalled)
    async def take_recall(self, event: Prompt.Recalled) -> None:
        event.stop()
        if not self._sent:
            return
        start = len(self._sent) if self._recalled is None else self._recalled
        self._recalled = min(max(start + event.by, 0), len(self._sent) - 1)
        await self.recall(self._sent[self._recalled])

    @on(SlotsTable.ShapeToggled)
    def take_shape(self, event: SlotsTable.ShapeToggled) -> None:
        event.stop()
        self.options = self.options.toggled_shape(event.shape)

    @on(SlotsTable.Edited)
    @on(TextArea.Changed)
    def take_edit(self, event: Message) -> None:
        event.stop()
        self._update()

    def watch_options(self) -> None:
        self._update()

    def watch_offers(self) -> None:
        self._update()

    def watch_waiting(self) -> None:
        if self.is_mounted:
            title = Content.styled(self.waiting, ink.WARN) if self.waiting else Content("5 Compose")
            self.query_one("#writing").border_title = title

    def _update(self) -> None:
        """Show what will go out."""
        if not self.is_mounted:
            return
        turn = self.turn()
        line = options_line(self.options, len(turn.slots))
        if turn.text != self.prompt.text.strip():
            line = Content.assemble(("sends ", ink.DIM), safe_line(turn.text), "  ") + line
        self.query_one("#options", Static).update(line)
        if self.is_table_open:
            self.table.show_preview(self.options.shapes, preview(turn))


def waiting_text(exchange: Exchange, now_ms: float) -> str:
    """Return what is outstanding, since when, and how to stop it."""
    name = exchange.rpc_method or exchange.request.purpose.value
    since = duration(max(0.0, now_ms - exchange.request.at_ms))
    return f"◌ waiting for {safe_line(name)}  {since}  ^X cancels"
