"""The push receiver as a screen: what it got, how it answers, a key for each failure."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from inspector.core.decoding import read_push, read_sent
from inspector.core.entries import PushReceived, PushVerdict, RequestSent, size_of
from inspector.core.push_receiver import RESENT_HEADER, Injection, Receiver
from inspector.errors import UsageError
from inspector.net.events import find_header
from inspector.tui.ask_line import AskLine
from inspector.tui.drawing import styles
from inspector.tui.drawing.block_list import Block, BlockList, Line
from inspector.tui.drawing.safe_text import duration, safe_line, size, wall_clock
from inspector.tui.drawing.styles import state_text
from inspector.tui.key_line import QUIT, KeyLine
from inspector.tui.log_view import LogView
from inspector.tui.messages import Place
from inspector.tui.timeline_panel import SHORT_ID, finding_lines
from inspector.views.channels import MissingPush, missing_pushes
from inspector.views.exchanges import Exchange
from inspector.views.problems import remedy_of_missing_push
from inspector.views.reads import STARTS_TASK
from inspector.wire.json_values import at, parse_json

KEYS = (
    "Esc back  {quit} quit  o open, close  n port  u public URL  w forward  t turns  r resend\n"
    "Enter wire  answer: 0 normal  5 500  3 302  d 2 s late  h hang  x drop"
)
# What a silence is worth a word after; a notification shortly behind the stream is usual.
MISSING_AFTER_MS = 1000.0
_REFRESH_SECONDS = 1.0
# How the receiver answers, by key.
_INJECTIONS = {
    "0": Injection(),
    "5": Injection(500),
    "3": Injection(302),
    "d": Injection(delay_seconds=2),
    "h": Injection(is_hanging=True),
    "x": Injection(is_dropping=True),
}
_FIELDS = {
    "port": "port (0: any free one)",
    "public": "public URL (empty: none)",
    "forward": "forward to (empty: nowhere)",
}
_LABEL_WIDTH = 12
_VERDICT_WIDTH = 13
_STATE_WIDTH = 17
_FINDING_INDENT = 10


class PushScreen(Screen[Place | None]):
    """Dismisses with the place of a notification to be shown on the wire.

    `registers` says whether following turns register the receiver, `set_registers` changes it.
    """

    CSS_PATH = "list_screens.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,P", "dismiss(None)", "Back", show=False),
        Binding("o", "switch", "Open or close", show=False),
        Binding("n", "edit('port')", "Port", show=False),
        Binding("u", "edit('public')", "Public URL", show=False),
        Binding("w", "edit('forward')", "Forward", show=False),
        Binding("t", "toggle_turns", "Turns register", show=False),
        Binding("r", "resend", "Resend", show=False),
        *(Binding(key, f"inject('{key}')", show=False) for key in _INJECTIONS),
        Binding("enter", "on_wire", "Show on the wire", show=False),
        QUIT,
    ]

    def __init__(
        self,
        receiver: Receiver | None,
        view: LogView,
        *,
        started: datetime,
        now_ms: Callable[[], float],
        registers: bool,
        set_registers: Callable[[bool], None],
    ) -> None:
        super().__init__()
        self._receiver = receiver
        self._view = view
        self._started = started
        self._now_ms = now_ms
        self._registers = registers
        self._set_registers = set_registers
        self._field = ""
        self._blocks: list[Block] = []
        self._taken = 0

    def compose(self) -> ComposeResult:
        yield Static("", id="receiver", markup=False)
        yield BlockList(wraps=True, id="pushes")
        yield AskLine(id="push-line")
        yield Static("", id="push-note", markup=False)
        yield KeyLine(KEYS)

    def on_mount(self) -> None:
        self.query_one("#pushes", BlockList).border_title = "Notifications"
        self.query_one(BlockList).focus()
        self.set_interval(_REFRESH_SECONDS, self._fill)
        if self._receiver is not None and not self._receiver.is_open:
            self.action_switch()
        self._fill()

    def show_view(self, view: LogView) -> None:
        self._view = view
        if self.is_mounted:
            self._fill()

    def action_switch(self) -> None:
        """Open the receiver, or close it; turns then do not register it."""
        receiver = self._receiver
        if receiver is None:
            return
        if receiver.is_open:
            self._set_registers_to(False)
            self.run_worker(self._close(receiver), group="receiver")
        else:
            self.run_worker(self._open(receiver, 0), group="receiver")

    def action_toggle_turns(self) -> None:
        self._set_registers_to(not self._registers)
        self._fill()

    def action_inject(self, key: str) -> None:
        if self._receiver is not None:
            self._receiver.injection = _INJECTIONS[key]
            self._fill()

    def action_edit(self, field: str) -> None:
        receiver = self._receiver
        if receiver is None:
            return
        before = {
            "port": str(receiver.port),
            "public": receiver.options.public_url or "",
            "forward": receiver.forward_url or "",
        }
        self._field = field
        self.query_one(AskLine).ask(_FIELDS[field], before[field])

    def action_resend(self) -> None:
        place, receiver = self._selected, self._receiver
        if place is not None and receiver is not None:
            self.run_worker(self._resend(receiver, place.exchange), group="receiver")

    def action_on_wire(self) -> None:
        if self._selected is not None:
            self.dismiss(self._selected)

    @on(AskLine.Taken)
    async def take_line(self, event: AskLine.Taken) -> None:
        if self._receiver is None:
            return
        try:
            await self._apply(self._receiver, event.text)
        except UsageError as error:
            self._note(str(error))
            return
        self.query_one(AskLine).close()
        self.leave_line()
        self._fill()

    @on(AskLine.Dropped)
    def leave_line(self) -> None:
        self._note("")

    async def _apply(self, receiver: Receiver, text: str) -> None:
        """Take the new value of the field that is edited.

        Raises:
            UsageError: it cannot be used.
        """
        match self._field:
            case "port":
                if not text.isdecimal():
                    raise UsageError(f"{text!r} is not a port")
                await receiver.start(int(text))
            case "public":
                options = replace(receiver.options, public_url=text or None)
                await receiver.start(receiver.port, options)
            case _:
                receiver.forward_url = text or None

    @property
    def _selected(self) -> Place | None:
        block = self.query_one(BlockList).current
        return None if block is None else block.place

    async def _open(self, receiver: Receiver, port: int) -> None:
        try:
            await receiver.start(port)
        except UsageError as error:
            self._note(str(error))
        self._fill()

    async def _close(self, receiver: Receiver) -> None:
        await receiver.stop()
        self._fill()

    async def _resend(self, receiver: Receiver, exchange: int) -> None:
        if not await receiver.resend(exchange):
            self._note("this is not a notification, or it is too old to resend")

    def _set_registers_to(self, registers: bool) -> None:
        self._registers = registers
        self._set_registers(registers)

    def _note(self, text: str) -> None:
        self.query_one("#push-note", Static).update(Content(safe_line(text)))

    def _fill(self) -> None:
        """Draw what is new; what was due and is missing stands below."""
        words = turns_words(self._view, registers=self._registers)
        lines = receiver_lines(self._receiver, words)
        self.query_one("#receiver", Static).update(lines)
        self._take_new()
        reports, now_ms = self._view.views.readings.reports, self._now_ms()
        missing = [missing_block(one) for one in missing_pushes(reports, now_ms, MISSING_AFTER_MS)]
        blocks = [*self._blocks, *missing]
        if not self._blocks:
            url = self._receiver.url if self._receiver is not None else ""
            empty = empty_words(self._view, url, registers=self._registers)
            blocks += [Block(None, (Line(Content.styled(text, style)),)) for text, style in empty]
        self.query_one("#pushes", BlockList).show(blocks)

    def _take_new(self) -> None:
        exchanges = self._view.exchanges
        for place in range(self._taken, len(exchanges)):
            exchange = exchanges[place]
            if exchange.push is not None:
                block = push_block(exchange, exchange.push, self._started)
                self._blocks.append(block)
        self._taken = len(exchanges)


def turns_words(view: LogView, *, registers: bool) -> str:
    """Return whether turns register the receiver, and what an agent without push makes of that."""
    if not registers:
        return "do not register it; t: let them"
    card = view.card.card if view.card is not None else None
    if card is None or at(card, "capabilities", "pushNotifications") is True:
        return "register it"
    return "register it, but the card offers no push: the agent may refuse them"


def receiver_lines(receiver: Receiver | None, turns: str) -> Content:
    """Return how the receiver stands, a setting a line; `turns` says whether they register it."""
    rows = [("turns", turns)]
    if receiver is None or not receiver.is_open:
        state = Content.styled("○ closed", styles.DIM)
    else:
        port = (f"  port {receiver.port}", styles.DIM)
        state = Content.assemble(("● listening", styles.GOOD), f"  {safe_line(receiver.url)}", port)
    if receiver is not None:
        public = receiver.options.public_url
        rows += [
            ("public URL", safe_line(public) if public else "none: agents get the URL above"),
            ("forwards to", safe_line(receiver.forward_url or "nobody")),
            ("answers", injection_words(receiver.injection)),
        ]
    lines = [state]
    lines += [Content.assemble((name.ljust(_LABEL_WIDTH), styles.DIM), text) for name, text in rows]
    return Content("\n").join(lines)


def injection_words(injection: Injection) -> str:
    words = "normally"
    if injection.status is not None:
        words = str(injection.status)
    if injection.is_hanging or injection.is_dropping:
        words = "never: it hangs" if injection.is_hanging else "never: it drops the connection"
    late = f", {injection.delay_seconds:g} s late" if injection.delay_seconds else ""
    return words + late


def push_block(exchange: Exchange, push: PushReceived, started: datetime) -> Block:
    """Return one notification: verdict, state and task, and what is odd about it."""
    is_good = push.verdict is PushVerdict.ACCEPTED
    sign = styles.DONE if is_good else styles.FAILED
    verdict = f"{sign} {push.verdict.value}".ljust(_VERDICT_WIDTH + 2)
    result = read_push(push).result
    task = "" if result is None else safe_line(result.task_id or "")[:SHORT_ID]
    first = Content.assemble(
        (f"{wall_clock(started, push.at_ms)}  ", styles.DIM),
        (verdict, styles.GOOD if is_good else styles.BAD),
        _state(result.state if result is not None else None),
        (f"  {task}", styles.ACCENT),
        ("  resent" if find_header(push.headers, RESENT_HEADER) else "", styles.DIM),
    )
    answered = "dropped" if push.status is None else str(push.status)
    lines = [Line(first, tail=Content.styled(f"{size(size_of(push))}  {answered}", styles.DIM))]
    lines += finding_lines(tuple(exchange.findings), _FINDING_INDENT)
    return Block(Place(exchange.id, push.seq), tuple(lines))


def missing_block(missing: MissingPush) -> Block:
    """Return a notification that was due and did not come."""
    text = Content.assemble(
        (f"{styles.WARNING} missing  ", styles.BAD),
        f"{safe_line(missing.channel.value)} reported ",
        _state(missing.state),
        (f"  {safe_line(missing.task_id)[:SHORT_ID]}", styles.ACCENT),
        (f"  {duration(missing.since_ms)} ago", styles.DIM),
    )
    return Block(Place(missing.exchange, 0), (Line(text),))


def empty_words(view: LogView, callback_url: str, *, registers: bool) -> Sequence[tuple[str, str]]:
    """Return why nothing came, each line with its style."""
    turn = last_turn(view)
    if turn is None or not _registers(turn):
        step = "Send a turn: it registers" if registers else "Press t, and turns register"
        return [(f"Nothing received yet. {step} this receiver.", styles.DIM)]
    if turn.is_running:
        return [("Nothing received yet; the turn is under way.", styles.DIM)]
    reply = turn.last_reply
    lines = [("The last turn registered, and no notification came.", styles.WARN)]
    if turn.is_refused and reply is not None and reply.error is not None:
        said = safe_line(reply.error.text)
        lines = [(f"The agent refused the turn that registered: {said}", styles.BAD)]
    card = parse_json(view.card.raw).value if view.card is not None else None
    agent_url = view.card.url if view.card is not None else ""
    silence = remedy_of_missing_push(card, agent_url, callback_url)
    return [
        *lines,
        (f"likely  {silence.cause}", styles.PLAIN),
        (f"try     {silence.hint}", styles.KEY),
    ]


def last_turn(view: LogView) -> Exchange | None:
    """Return the newest turn; those before it do not matter."""
    return next((one for one in view.exchanges.up_to(None) if one.purpose in STARTS_TASK), None)


def _registers(turn: Exchange) -> bool:
    """Say whether the turn asked for notifications."""
    request = turn.request
    return isinstance(request, RequestSent) and read_sent(request).ask.callback is not None


def _state(state: str | None) -> Content:
    return Content(" " * _STATE_WIDTH) if state is None else state_text(state, _STATE_WIDTH)
