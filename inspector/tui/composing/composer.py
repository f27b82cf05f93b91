"""Where a turn is written: its text, the drawer above it, and how it will go out below."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from textual import on
from textual.app import ComposeResult
from textual.containers import HorizontalGroup, VerticalGroup
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static, TextArea

from inspector.core.commands import Turn
from inspector.tui.composing.drawer import Drawer
from inspector.tui.composing.history import History
from inspector.tui.composing.options_form import OptionsForm
from inspector.tui.composing.options_line import options_line, raw_line
from inspector.tui.composing.pairs_table import PairsTable
from inspector.tui.composing.parts_table import PartsTable
from inspector.tui.composing.prompt import Prompt
from inspector.tui.composing.raw_body import RawBody, body_of, fields_of, follow_of
from inspector.tui.composing.slot_values import Hint
from inspector.tui.composing.slots_table import SlotsTable
from inspector.tui.composing.turn_options import TurnOptions
from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import duration, safe_line
from inspector.tui.messages import TurnComposed
from inspector.views.chat import Offer
from inspector.views.exchanges import Exchange


class Composer(VerticalGroup):
    """Holds the next turn. `waiting` says what is outstanding, in the border above the text."""

    options: reactive[TurnOptions] = reactive(TurnOptions)
    offers: reactive[tuple[Offer, ...]] = reactive(())
    waiting: reactive[str] = reactive("")

    def __init__(self, new_id: Callable[[], str]) -> None:
        super().__init__(id="compose")
        self.history = History()
        self.exchanges: Sequence[Exchange] = ()
        self._new_id = new_id
        self._raw_message_id = ""
        self._draft_options = TurnOptions()
        self._is_drop_asked = False

    def compose(self) -> ComposeResult:
        yield Drawer()
        with VerticalGroup(id="writing"):
            with HorizontalGroup():
                yield Static("> ", id="caret", markup=False)
                yield Prompt()
                yield RawBody()
            yield Static("", id="options", markup=False)

    def on_mount(self) -> None:
        for area in self.query(TextArea):
            area.cursor_blink = False
        self.query_one("#options", Static).auto_links = False
        self.call_after_refresh(self.watch_waiting)
        self.call_after_refresh(self._update)

    @property
    def drawer(self) -> Drawer:
        return self.query_one(Drawer)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    @property
    def raw(self) -> RawBody:
        return self.query_one(RawBody)

    @property
    def field(self) -> TextArea:
        """The text that is written at present: the prompt's, or the raw body."""
        return self.raw if self.is_raw else self.prompt

    @property
    def is_raw(self) -> bool:
        return self.has_class("-raw")

    async def settle(self) -> None:
        """Let the focused field take the keys that were pressed before an action's.

        A key with Ctrl or F overtakes letters that still wait for their field.
        """
        focused = self.screen.focused
        if focused is None or self not in focused.ancestors:
            return
        taken = asyncio.Event()
        if focused.call_later(taken.set):
            await taken.wait()

    def turn(self) -> Turn:
        """Return what is written: the number of an offered button stands for its payload."""
        headers = self.drawer.headers.texts()
        if self.is_raw:
            follow = follow_of(self.raw.body, self.options.follow)
            also = self.options.also
            return Turn("", follow=follow, also=also, headers=headers, raw=self.raw.body)
        text = self.prompt.text.strip()
        chosen = next((o.payload for o in self.offers if text == str(o.number)), text)
        return replace(
            self.options.turn(chosen, self.drawer.slots.pairs()),
            metadata=self.drawer.metadata.pairs(),
            parts=self.drawer.parts.parts(),
            headers=headers,
        )

    async def send_text(self, text: str) -> None:
        """Send `text` as if it was typed, with the slots that are set."""
        self.prompt.load_text(text)
        await self.send()

    async def send(self) -> None:
        """Post the turn and clear what was its own; an empty turn is none.

        Metadata and headers stay: an orchestrator sends the same with each of its turns.
        """
        turn = self.turn()
        if not (turn.text or turn.slots or turn.parts or turn.raw):
            return
        self.history.remember(turn)
        self.prompt.clear()
        await self.drawer.slots.set_pairs({})
        await self.drawer.parts.set_parts(())
        self.options = self.options.after_sending()
        self.close_raw()
        self.post_message(TurnComposed(turn))

    async def write(self, turn: Turn) -> None:
        """Write `turn` back with all that it carries, to be edited and sent."""
        await self.drawer.headers.set_texts(turn.headers)
        if turn.raw is not None:
            self.open_raw(turn)
            return
        self.close_raw()
        self.prompt.write(turn.text)
        self.options = self.options.of(turn)
        await self.drawer.slots.set_pairs(turn.slots)
        await self.drawer.metadata.set_pairs(turn.metadata)
        await self.drawer.parts.set_parts(turn.parts)
        self.prompt.focus()

    def open_page(self, page: str, hints: Mapping[str, Hint]) -> None:
        """Open the drawer at `page`; `hints` are of the agent's slots."""
        self.close_raw()
        self.drawer.slots.know(hints)
        self.drawer.open(page)
        self._update()

    def close_drawer(self) -> None:
        self.drawer.close()
        self.field.focus()

    def open_raw(self, turn: Turn) -> None:
        """Show the whole body of `turn` as text, to be edited and sent byte for byte."""
        self._raw_message_id = turn.message_id or self._new_id()
        self.raw.write(body_of(turn, self._new_id(), self._raw_message_id))
        self._is_drop_asked = False
        self.drawer.close()
        self.add_class("-raw")
        self.raw.focus()
        self._update()

    def close_raw(self) -> None:
        if self.is_raw:
            self.remove_class("-raw")
            self.prompt.focus()
            self._update()

    async def leave_raw(self) -> bool:
        """Take the raw body back into the fields, and say whether they can hold it.

        What they cannot hold is dropped when asked for a second time; undo there brings it back.
        """
        turn = fields_of(self.raw.body)
        if turn is None:
            if self._is_drop_asked:
                self.close_raw()
            self._is_drop_asked = not self._is_drop_asked
            return not self.is_raw
        given = None if turn.message_id == self._raw_message_id else turn.message_id
        kept = self.turn()
        await self.write(replace(turn, message_id=given, headers=kept.headers, also=kept.also))
        return True

    @on(Prompt.Sent)
    async def take_sent(self, event: Prompt.Sent) -> None:
        event.stop()
        await self.send()

    @on(Prompt.Recalled)
    async def take_recall(self, event: Prompt.Recalled) -> None:
        """Write an earlier turn in the place of this one, as a new message of this context."""
        event.stop()
        if not self.history.is_recalling:
            self._draft_options = self.options
        # as it was typed: the number of a button, not what it stands for
        written = replace(self.turn(), text=self.prompt.text)
        turn = self.history.step(self.exchanges, event.by, written)
        if turn is None:
            return
        await self.write(replace(turn, context_id=self.options.context_id, message_id=None))
        if not self.history.is_recalling:
            self.options = self._draft_options.in_context(self.options.context_id)

    @on(SlotsTable.ShapeToggled)
    def take_shape(self, event: SlotsTable.ShapeToggled) -> None:
        event.stop()
        self.options = self.options.toggled_shape(event.shape)

    @on(OptionsForm.Changed)
    def take_options(self, event: OptionsForm.Changed) -> None:
        event.stop()
        self.options = event.change(self.options)

    @on(Drawer.Turned)
    def take_page(self, event: Drawer.Turned) -> None:
        event.stop()
        self.drawer.open(event.page)

    @on(PairsTable.Edited)
    @on(PartsTable.Edited)
    @on(TextArea.Changed)
    def take_edit(self, event: Message) -> None:
        event.stop()
        self._is_drop_asked = False
        self._update()

    def watch_options(self) -> None:
        self._update()

    def watch_offers(self) -> None:
        self._update()

    def watch_waiting(self) -> None:
        if self.is_mounted:
            title = (
                Content.styled(self.waiting, styles.WARN) if self.waiting else Content("5 Compose")
            )
            self.query_one("#writing").border_title = title

    def _update(self) -> None:
        """Show what will go out."""
        if not self.is_mounted:
            return
        turn = self.turn()
        line = raw_line(turn) if self.is_raw else options_line(self.options, turn)
        if not self.is_raw and turn.text != self.prompt.text.strip():
            line = Content.assemble(("sends ", styles.DIM), safe_line(turn.text), "  ") + line
        self.query_one("#options", Static).update(line, layout=False)
        if self.drawer.is_open:
            self.drawer.show(turn, self.options)


def waiting_text(exchange: Exchange, now_ms: float) -> str:
    """Return what is outstanding, since when, and how to stop it."""
    name = exchange.rpc_method or str(exchange.purpose or "a notification")
    since = duration(max(0.0, now_ms - exchange.request.at_ms))
    return f"◌ waiting for {safe_line(name)}  {since}  ^X cancels"
