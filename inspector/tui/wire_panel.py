"""What went over the wire: every exchange in a list, the selected one byte for byte beside it."""

from bisect import bisect_right
from itertools import islice
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content

from inspector.core.entries import (
    FrameReceived,
    PushReceived,
    PushVerdict,
    RequestSent,
    ResponseStarted,
)
from inspector.tui.drawing import styles
from inspector.tui.drawing.block_list import Block, BlockList, Drawn, Line, ListPile, redraw
from inspector.tui.drawing.json_lines import body_lines
from inspector.tui.drawing.safe_text import duration, safe_line, size
from inspector.tui.drawing.styles import UNICODE
from inspector.tui.messages import Place
from inspector.views.exchanges import Exchange
from inspector.views.persistent import Series
from inspector.wire.findings import Severity

_FIRST_REFUSAL = 400
# A stream may have a hundred thousand frames; two pages of them are laid out at a time.
PAGE = 20
MOST_FINDINGS = 100


class WirePanel(Horizontal):
    """Exchanges on the left, the bytes of the selected one on the right."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "pretty", "Pretty or raw", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="wire")
        self.border_title = "4 Wire"
        self.symbols = UNICODE
        self.is_pretty = True
        self._exchanges: Series[Exchange] = Series()
        self._rows = ListPile(self._row, lambda exchange: exchange.id)
        self._place: Place | None = None
        self._drawn_parts: Drawn[RequestSent | PushReceived | ResponseStarted] = Drawn()
        self._drawn_frames: Drawn[FrameReceived] = Drawn()
        self._shown: Exchange | None = None

    def compose(self) -> ComposeResult:
        listing = BlockList(wraps=False, id="exchanges", empty="Nothing sent yet.")
        listing.pile = self._rows
        yield listing
        yield BlockList(wraps=True, follows=False, id="bytes")

    def on_show(self) -> None:
        """Draw what came while there was nothing to see."""
        self.show_exchanges(self._exchanges, self._place)

    @property
    def selected(self) -> Exchange | None:
        return self._exchange_at(self._place)

    def show_exchanges(self, exchanges: Series[Exchange], place: Place | None) -> None:
        """Draw the list, and the exchange of `place` (None: the newest) with its frame marked."""
        self._exchanges, self._place = exchanges, place
        if not self.display:
            return
        listing = self.query_one("#exchanges", BlockList)
        listing.refill(lambda: self._rows.take(exchanges))
        listing.mark(place)
        self._show_bytes(self._exchange_at(place))

    def redraw_all(self) -> None:
        self._shown = None
        self.query_one("#exchanges", BlockList).refill(self._rows.clear)
        self.show_exchanges(self._exchanges, self._place)

    def action_pretty(self) -> None:
        self.is_pretty = not self.is_pretty
        self.redraw_all()

    def _exchange_at(self, place: Place | None) -> Exchange | None:
        if place is None:
            return self._exchanges[-1] if self._exchanges else None
        index = bisect_right(self._exchanges, place.exchange, key=lambda one: one.id) - 1
        return self._exchanges[max(0, index)] if self._exchanges else None

    def _show_bytes(self, exchange: Exchange | None) -> None:
        pane = self.query_one("#bytes", BlockList)
        before = None if self._shown is None else self._shown.id
        is_same = exchange is not None and exchange.id == before
        if not is_same:
            self._drawn_parts, self._drawn_frames = Drawn(), Drawn()
        self._shown = exchange
        (pane.show if is_same else pane.open_at_start)(self._detail(exchange))
        if self._place is not None:
            pane.mark(self._place)
        self.border_subtitle = Content("p raw" if self.is_pretty else "p pretty")

    def _detail(self, exchange: Exchange | None) -> list[Block]:
        """Return request, response, each frame and the end; only what is new is drawn."""
        if exchange is None:
            return []
        parts = [one for one in (exchange.request, exchange.response) if one is not None]
        self._drawn_parts = redraw(
            self._drawn_parts, parts, lambda part: self._part(exchange, part)
        )
        first = self._first_frame(exchange)
        self._drawn_frames = redraw(
            self._drawn_frames,
            exchange.frames[first : first + 2 * PAGE],
            lambda frame: _frame(exchange, frame, is_pretty=self.is_pretty),
        )
        skipped = [_skipped(first)] if first else []
        return [*self._drawn_parts.blocks, *skipped, *self._drawn_frames.blocks, *_end(exchange)]

    def _first_frame(self, exchange: Exchange) -> int:
        """Return where the two pages of frames begin of which the selected one is in the second."""
        frames = exchange.frames
        index = len(frames) - 1
        if self._place is not None and self._place.exchange == exchange.id:
            index = bisect_right(frames, self._place.seq, key=lambda frame: frame.seq) - 1
        return max(0, index // PAGE - 1) * PAGE

    def _part(
        self, exchange: Exchange, part: RequestSent | PushReceived | ResponseStarted
    ) -> Block:
        if isinstance(part, ResponseStarted):
            return _response(exchange, part)
        return _request(exchange, is_pretty=self.is_pretty)

    def _row(self, exchange: Exchange) -> Block:
        request = exchange.request
        name = exchange.rpc_method or exchange.purpose or "push"
        text = Content.assemble((f"{exchange.id:>3} ", styles.DIM), safe_line(name))
        tail = Content.assemble(_outcome(exchange), *_marks(exchange, self.symbols.warning))
        return Block(Place(exchange.id, request.seq), (Line(text, tail=tail),))


def _outcome(exchange: Exchange) -> Content:
    if exchange.failure is not None:
        return Content.styled(exchange.failure.kind.value, styles.BAD)
    if exchange.push is not None:
        return _answered(exchange.push)
    if exchange.response is None:
        return Content.styled("waiting…", styles.WARN)
    style = styles.BAD if exchange.response.status >= _FIRST_REFUSAL else styles.GOOD
    elapsed = "open" if exchange.total_ms is None else duration(exchange.total_ms)
    return Content.assemble((str(exchange.response.status), style), (f" {elapsed:>7}", styles.DIM))


def _answered(push: PushReceived) -> Content:
    is_accepted = push.verdict is PushVerdict.ACCEPTED
    status = "dropped" if push.status is None else str(push.status)
    style = styles.GOOD if is_accepted else styles.BAD
    return Content.assemble((status, style), (f" {push.verdict}", styles.DIM))


def _marks(exchange: Exchange, warning: str) -> list[tuple[str, str]]:
    worst = exchange.worst
    if worst is None or worst is Severity.HINT:
        return [("  ", styles.PLAIN)]
    return [(f" {warning}", styles.BAD if worst is Severity.ERROR else styles.WARN)]


def _skipped(count: int) -> Block:
    text = f"… {count} frames before these: select an update in the timeline to see its own"
    return Block(None, (Line(Content.styled(text, styles.DIM)),))


def _request(exchange: Exchange, *, is_pretty: bool) -> Block:
    request = exchange.request
    arrow = "→" if exchange.push is None else "←"
    first = Content.assemble(
        (f"{arrow} {request.method} ", "bold"), (safe_line(request.url), "bold")
    )
    lines = [Line(first, tail=_size(len(request.body)))]
    lines += _headers(request.headers)
    lines += [Line(text, 2) for text in body_lines(request.body, is_pretty=is_pretty)]
    return Block(Place(exchange.id, request.seq), (*lines, Line(Content(""))))


def _response(exchange: Exchange, response: ResponseStarted) -> Block:
    first_byte = "" if exchange.first_byte_ms is None else duration(exchange.first_byte_ms)
    style = styles.BAD if response.status >= _FIRST_REFUSAL else styles.GOOD
    first = Content.assemble(
        ("← ", "bold"), (str(response.status), f"{style} bold"), f" {response.http_version}"
    )
    tail = Content.styled(f"first byte {first_byte}", styles.DIM)
    lines = [Line(first, tail=tail), *_headers(response.headers)]
    return Block(Place(exchange.id, response.seq), tuple(lines))


def _frame(exchange: Exchange, frame: FrameReceived, *, is_pretty: bool) -> Block:
    when = duration(frame.at_ms - exchange.request.at_ms)
    first = Content.assemble((f"← {frame.channel.value}", "bold"), (f"  after {when}", styles.DIM))
    lines = [Line(first, tail=_size(len(frame.raw)))]
    lines += [Line(text, 2) for text in body_lines(frame.raw, is_pretty=is_pretty)]
    return Block(Place(exchange.id, frame.seq), tuple(lines))


def _end(exchange: Exchange) -> list[Block]:
    lines: list[Line] = []
    if exchange.failure is not None:
        text = f"✗ {exchange.failure.kind.value}: {safe_line(exchange.failure.message)}"
        lines.append(Line(Content.styled(text, styles.BAD)))
    elif exchange.push is not None:
        lines.append(Line(Content.assemble("answered ", _answered(exchange.push))))
    elif exchange.total_ms is not None:
        total = f"ended after {duration(exchange.total_ms)}, {size(exchange.size_bytes)}"
        lines.append(Line(Content.styled(total, styles.DIM)))
    for finding in islice(exchange.findings, MOST_FINDINGS):
        style = styles.BAD if finding.severity is Severity.ERROR else styles.WARN
        text = Content.assemble(
            (f"{finding.severity.value} ", style),
            safe_line(finding.message),
            (f"  {safe_line(finding.path)}", styles.DIM),
        )
        lines.append(Line(text, tail=Content.styled(finding.section, styles.DIM)))
    if len(exchange.findings) > MOST_FINDINGS:
        more = f"… {len(exchange.findings) - MOST_FINDINGS} more findings"
        lines.append(Line(Content.styled(more, styles.DIM)))
    seq = exchange.failure.seq if exchange.failure is not None else exchange.request.seq
    return [Block(Place(exchange.id, seq), tuple(lines))] if lines else []


def _headers(headers: tuple[tuple[str, str], ...]) -> list[Line]:
    return [
        Line(Content.assemble((f"{safe_line(name)}: ", styles.DIM), safe_line(value)), 2)
        for name, value in headers
    ]


def _size(size_bytes: int) -> Content:
    return Content.styled(size(size_bytes) if size_bytes else "", styles.DIM)
