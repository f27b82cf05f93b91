"""Where a turn is written: its text, the drawer above it, and how it will go out below."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import HorizontalGroup, VerticalGroup
from textual.content import Content
from textual.message import Message
from textual.reactive import Reactive, reactive
from textual.timer import Timer
from textual.widgets import Static, TextArea

from inspector.core.commands import FollowMode, Turn
from inspector.core.entries import Purpose, RequestSent
from inspector.core.project import DomainSlot
from inspector.core.requests import TURNS, compose, operation_of, read_sent_turn
from inspector.errors import UsageError
from inspector.tui.composing.drawer import Drawer
from inspector.tui.composing.options import OptionsForm, TurnOptions, options_line, raw_line
from inspector.tui.composing.pairs_table import Hint, PairsTable, SlotsTable, hints, read_domain
from inspector.tui.composing.parts_table import PartsTable
from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import duration, safe_line
from inspector.tui.log_view import LogView
from inspector.tui.messages import Notice, TurnComposed, app_of
from inspector.tui.panels import NOTHING_SENT
from inspector.views.exchanges import Exchange
from inspector.wire.dialect import Dialect, Endpoint, Operation
from inspector.wire.endpoints import DEFAULT
from inspector.wire.json_values import Json, parse_json

_CLOCK_SECONDS = 0.1


class Prompt(TextArea):
    """Enter sends, Ctrl+J begins a new line; Up in the first line recalls what was sent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,shift+enter", "newline", "New line", show=False),
    ]
    cursor_blink: Reactive[bool] = reactive(False, init=False)

    @dataclass
    class Sent(Message):
        pass

    @dataclass
    class Recalled(Message):
        """`by` is -1 for the turn before, 1 for the one after."""

        by: int

    def __init__(self) -> None:
        super().__init__(
            id="prompt",
            compact=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            placeholder="Write to the agent",
        )

    def write(self, text: str) -> None:
        """Put `text` in place of what is written; undo brings that back."""
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

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


_STREAMS = (Operation.STREAM, Operation.RESUBSCRIBE)


class RawBody(TextArea):
    """Enter begins a new line here; undo reaches back to the body as it was composed."""

    cursor_blink: Reactive[bool] = reactive(False, init=False)

    def __init__(self) -> None:
        super().__init__(id="raw-body", compact=True, show_line_numbers=True, tab_behavior="focus")
        self._written = ("", b"")

    def write(self, body: bytes) -> None:
        """Show `body`; what is not UTF-8, and other line ends, only approximately."""
        self.replace(body.decode(errors="replace"), (0, 0), self.document.end)
        self.move_cursor((0, 0))
        self._written = (self.text, body)

    @property
    def body(self) -> bytes:
        """The bytes as they were given as long as nobody has edited them, else the text's."""
        text, body = self._written
        return body if self.text == text else self.text.encode(errors="replace")


def body_of(turn: Turn, id: str, message_id: str, dialect: Dialect) -> bytes:
    """Return the request body of `turn`, indented for reading."""
    if turn.raw is not None:
        return turn.raw
    ask = compose(turn, message_id)
    body = dialect.encode(operation_of(turn), ask, url="", request_id=id).body
    parsed = parse_json(body)
    # what was read as text would go out as text
    if parsed.warning:
        return body
    return json.dumps(parsed.value, indent=2, ensure_ascii=False).encode()


def follow_of(body: bytes, otherwise: FollowMode, dialect: Dialect) -> FollowMode:
    """Return how a raw body is followed: by what it asks for, where it says so."""
    request = dialect.read_request(body)
    if request.method is None:
        return otherwise
    if request.operation in _STREAMS:
        return FollowMode.STREAM
    return FollowMode.BLOCKING if otherwise is FollowMode.STREAM else otherwise


def fields_of(body: bytes, dialect: Dialect) -> Turn | None:
    """Return the turn that `body` is, whatever its layout; None where fields cannot say it."""
    request = dialect.read_request(body)
    purposes = {Operation.SEND: Purpose.SEND, Operation.STREAM: Purpose.STREAM}
    purpose = purposes.get(request.operation) if request.operation is not None else None
    if purpose is None:
        return None
    endpoint = Endpoint("", dialect.version, dialect.binding)
    sent = RequestSent(0, 0, 0, purpose, "POST", "", (), dialect.compact(body), endpoint)
    turn = read_sent_turn(sent)
    return None if turn.raw is not None else turn


class History:
    """Turns in the order of sending; those that were never sent come last.

    The log masks secrets and does not record which other ways followed a task; of a turn composed
    in this session both are remembered.
    """

    def __init__(self) -> None:
        self._composed: list[Turn] = []
        self._unsent: list[Turn] = []
        self._at: int | None = None
        self._draft: Turn | None = None

    @property
    def is_recalling(self) -> bool:
        """Whether an earlier turn is shown in place of the draft."""
        return self._at is not None

    def remember(self, turn: Turn) -> None:
        self._composed.append(turn)
        self._at = None

    def keep_unsent(self, turn: Turn) -> None:
        self._unsent.append(turn)

    def step(self, exchanges: Sequence[Exchange], by: int, written: Turn) -> Turn | None:
        """Return the turn `by` steps from the one recalled last; at the oldest that one again.

        Beyond the newest comes back what was `written` when the first was recalled.
        """
        requests = [one for one in sent_requests(exchanges) if not one.is_masked]
        count = len(requests) + len(self._unsent)
        if self._at is None:
            self._draft = written
        start = count if self._at is None else self._at
        at = max(start + by, 0)
        if at >= count:
            draft = None if self._at is None else self._draft
            self._at = None
            return draft
        self._at = at
        if self._at >= len(requests):
            return self._unsent[self._at - len(requests)]
        return self.read(requests[self._at])

    def read(self, request: RequestSent, *, is_masked: bool = False) -> Turn:
        """Return the turn of `request`, with the headers and ways that its writer gave it."""
        sent = read_sent_turn(request, as_sent=not is_masked or not request.is_masked)
        turn = read_sent_turn(request) if is_masked else sent
        for composed in reversed(self._composed):
            if _is_same(composed, sent):
                return replace(turn, headers=composed.headers, also=composed.also)
        return turn


def sent_requests(exchanges: Sequence[Exchange]) -> list[RequestSent]:
    """Return the requests that carried the user's turns."""
    return [
        one.request
        for one in exchanges
        if isinstance(one.request, RequestSent)
        and one.purpose in TURNS
        and not one.is_replay
        and not one.is_redirect
    ]


def _is_same(composed: Turn, sent: Turn) -> bool:
    """Say whether `sent` is `composed` but for what the wire adds or does not show."""
    if composed.raw is not None or sent.raw is not None:
        return composed.raw == sent.raw
    return _ask(composed) == _ask(sent)


def _ask(turn: Turn) -> Json:
    """What `turn` asks, however it is sent and followed."""
    ask = compose(replace(turn, message_id=None))
    return parse_json(DEFAULT.encode(Operation.SEND, ask, url="", request_id="").body).value


class Composer(VerticalGroup):
    """Holds the next turn to `target`; the border above its text says what is outstanding.

    `project` is the folder whose domain names slots, `dialect` the one that is spoken with the
    agent by now. `new_id` makes the ids of bodies that are shown before they are sent, `now_ms` is
    on the session's clock.
    """

    options: reactive[TurnOptions] = reactive(TurnOptions)
    waiting: reactive[str] = reactive("")

    def __init__(
        self,
        target: str,
        project: Path | None,
        *,
        dialect: Callable[[], Dialect],
        new_id: Callable[[], str],
        now_ms: Callable[[], float],
    ) -> None:
        super().__init__(id="compose")
        self._dialect = dialect
        self.history = History()
        self._view = LogView()
        self._target = target
        self._project = project
        self._new_id = new_id
        self._now_ms = now_ms
        self._clock: Timer | None = None
        self._raw_message_id = ""
        self._draft_options = TurnOptions()
        self._fields_as_raw: bytes | None = None
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
        self.query_one("#options", Static).auto_links = False
        self._clock = self.set_interval(_CLOCK_SECONDS, self._show_waiting, pause=True)
        self.call_after_refresh(self.watch_waiting)
        self.call_after_refresh(self._update)

    def show_view(self, view: LogView) -> None:
        """Offer the buttons of the last message, and stay in the context spoken in last."""
        before, self._view = self._view, view
        if view.views is not before.views:
            self.options = self.options.in_context(view.context_id, view.waiting)
            self._show_waiting()
            if view.offers != before.offers:
                self._update()

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
            follow = follow_of(self.raw.body, self.options.follow, self._dialect())
            also = self.options.also
            return Turn("", follow=follow, also=also, headers=headers, raw=self.raw.body)
        text = self.prompt.text.strip()
        chosen = next((o.payload for o in self._view.offers if text == str(o.number)), text)
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

    def selected_turn(self) -> Turn | None:
        """Return the selected turn in the context that it was answered in, its message id kept.

        Where there is none, or it cannot be sent again, a notice says so.
        """
        try:
            turn, exchange = self.turn_as_sent(), self._view.turn_exchange
        except UsageError as error:
            self._notice(str(error))
            return None
        if turn is None or exchange is None:
            self._notice(NOTHING_SENT)
            return None
        return replace(turn, context_id=turn.context_id or exchange.progress.context_id)

    def turn_as_sent(self, *, is_masked: bool = False) -> Turn | None:
        """Return the selected turn as it went out, or masked as the log is."""
        exchange = self._view.turn_exchange
        if exchange is None or not isinstance(exchange.request, RequestSent):
            return None
        return self.history.read(exchange.request, is_masked=is_masked)

    def open_page(self, page: str) -> None:
        """Open the drawer at `page`."""
        self.close_raw()
        self.drawer.slots.know(self._hints())
        self.drawer.open(page)
        self._update()

    def _hints(self) -> Mapping[str, Hint]:
        """Return the slots of the project's domain and those that the agent last reported.

        Without a domain that can be read, the agent's slots serve alone.
        """
        domain: Mapping[str, DomainSlot] = {}
        try:
            domain = read_domain(self._project, self._target)
        except UsageError as error:
            self._notice(str(error))
        return hints(domain, self._view.slots)

    def close_drawer(self) -> None:
        self.drawer.close()
        self.field.focus()

    def open_raw(self, turn: Turn) -> None:
        """Show the whole body of `turn` as text, to be edited and sent byte for byte."""
        self._raw_message_id = turn.message_id or self._new_id()
        self.raw.write(body_of(turn, self._new_id(), self._raw_message_id, self._dialect()))
        self._fields_as_raw = None
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
        if self.raw.body == self._fields_as_raw:
            self.close_raw()
            return True
        turn = fields_of(self.raw.body, self._dialect())
        if turn is None:
            if self._is_drop_asked:
                self.close_raw()
            self._is_drop_asked = not self._is_drop_asked
            return not self.is_raw
        given = None if turn.message_id == self._raw_message_id else turn.message_id
        kept = self.turn()
        await self.write(replace(turn, message_id=given, headers=kept.headers, also=kept.also))
        # what the body leaves out is left out, too
        is_new = turn.context_id is None
        self.options = replace(self.options, is_new_context=is_new, continues=False)
        return True

    # What keys do

    async def action_send(self) -> None:
        await self.settle()
        await self.send()

    def action_write(self) -> None:
        self.field.focus()

    async def action_edit(self) -> None:
        """Write the selected turn back, all it carried with it, as a new message of its context.

        Whether it continues a task is decided anew: the one that it was sent to may be over.
        """
        if (turn := self.selected_turn()) is not None:
            await self.write(replace(turn, message_id=None, task_id=None))

    def action_page(self, name: str) -> None:
        """Open the drawer's page `name`, or close the drawer there."""
        if self.drawer.is_open and self.drawer.page == name and not self.is_raw:
            self.close_drawer()
        else:
            self.open_page(name)

    def action_shape(self) -> None:
        self.options = self.options.next_shape()

    def action_follow(self) -> None:
        self.options = self.options.next_follow()

    def action_context(self) -> None:
        self.options = self.options.toggled_context()

    def action_task(self) -> None:
        """Answer the task that waits in this context, or begin another one there."""
        if self.options.waiting_task is None:
            self._notice("no task of this context waits for an answer")
        else:
            self.options = self.options.continuing(not self.options.is_continuing)

    async def action_raw(self) -> None:
        """Show the turn as its JSON-RPC body, or take that body back into the fields."""
        await self.settle()
        if not self.is_raw:
            self.open_raw(self.turn())
            self._fields_as_raw = self.raw.body
        elif not await self.leave_raw():
            self._notice("the fields cannot hold this body: F5 sends it, F6 again drops it")

    async def action_editor(self) -> None:
        """Edit the text, or the raw body, in the user's own editor."""
        from inspector.tui.external_programs import edit_outside, editor_of

        await self.settle()
        before = self.raw.body if self.is_raw else self.prompt.text.encode()
        suffix = ".json" if self.is_raw else ".md"
        try:
            after = await edit_outside(app_of(self), before, suffix, editor_of(os.environ))
        except UsageError as error:
            self._notice(str(error))
            return
        if self.is_raw:
            self.raw.write(after)
        else:
            self.prompt.write(after.decode(errors="replace").rstrip("\n"))

    async def action_snippets(self) -> None:
        """Take up a turn or slots kept for this target, or keep what is written."""
        from inspector.core.saved.targets import targets_file
        from inspector.tui.composing.snippets import Snippet, SnippetsScreen

        await self.settle()

        async def take(chosen: Snippet | None) -> None:
            if chosen is None:
                return
            if chosen.is_new:
                self._notice(f"kept as {safe_line(chosen.name)}")
            elif chosen.turn is not None:
                await self.write(replace(chosen.turn, context_id=self.options.context_id))
            else:
                await self.drawer.slots.set_pairs(chosen.slots or {})
                self.action_page("slots")

        screen = SnippetsScreen(targets_file(), self._target, self.turn())
        app_of(self).push_screen(screen, take)

    def _notice(self, text: str) -> None:
        self.post_message(Notice(text))

    # What its parts report

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
        turn = self.history.step(self._view.exchanges, event.by, written)
        if turn is None:
            return
        await self.write(
            replace(turn, context_id=self.options.context_id, message_id=None, task_id=None)
        )
        if not self.history.is_recalling:
            now = self.options
            self.options = self._draft_options.in_context(now.context_id, now.waiting)

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

    def _show_waiting(self) -> None:
        """Say what is outstanding and since when; the clock runs only then."""
        running = self._view.running
        self.waiting = waiting_text(running[-1], self._now_ms()) if running else ""
        if self._clock is not None:
            (self._clock.resume if running else self._clock.pause)()

    def watch_waiting(self) -> None:
        if self.is_mounted:
            waiting = Content.styled(self.waiting, styles.WARN)
            self.query_one("#writing").border_title = waiting if waiting else Content("5 Compose")

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
