"""What went over the wire: every exchange in a list, the selected one byte for byte beside it."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import ClassVar, TypeAlias

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content

from inspector.core.bodies import WHY_CUT
from inspector.core.decoding import problem_of_cut
from inspector.core.entries import (
    FrameReceived,
    PushReceived,
    PushVerdict,
    RequestSent,
    ResponseStarted,
    WithBody,
    is_cut,
    size_of,
)
from inspector.tui.drawing import styles
from inspector.tui.drawing.block_list import Block, BlockList, ItemBlocks, Line
from inspector.tui.drawing.json_lines import body_lines
from inspector.tui.drawing.safe_text import duration, safe_line, size
from inspector.tui.layout import PANEL_BY_ID
from inspector.tui.log_view import LogView
from inspector.tui.messages import Place
from inspector.tui.panel import Payload, received_payload
from inspector.views.exchanges import Exchange
from inspector.views.exports import curl, exchange_bytes
from inspector.views.persistent import Series
from inspector.wire.findings import Severity

_FIRST_REFUSAL = 400
# What most frames take as indented JSON.
TYPICAL_LINES = 20
MOST_FINDINGS = 100


# What an exchange is shown as; the exchange itself stands for its end.
Part: TypeAlias = RequestSent | PushReceived | ResponseStarted | FrameReceived | Exchange


class WirePanel(Horizontal):
    """Exchanges on the left, the bytes of the selected one on the right."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "pretty", "Pretty or raw", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="wire")
        self.title = PANEL_BY_ID["wire"].heading
        self.count: tuple[int, int] | None = None
        self.is_pretty = True
        self._exchanges: Series[Exchange] = Series()
        self._rows = ItemBlocks(self._row, lambda one: Place(one.id, one.request.seq))
        self._place: Place | None = None
        self._shown: Exchange | None = None
        self._parts: Series[Part] = Series()
        self._drawn: ItemBlocks[Part] = ItemBlocks(
            self._part, _place_of, wraps=True, guess=TYPICAL_LINES
        )

    def compose(self) -> ComposeResult:
        listing = BlockList(wraps=False, id="exchanges", empty="Nothing sent yet.")
        listing.source = self._rows
        yield listing
        pane = BlockList(wraps=True, follows=False, id="bytes")
        pane.source = self._drawn
        yield pane

    def on_show(self) -> None:
        """Draw what came while there was nothing to see."""
        self.show_exchanges(self._exchanges, self._place)

    def show_view(self, view: LogView) -> None:
        exchanges = view.passing.exchanges
        self.count = (len(exchanges), len(view.exchanges)) if view.is_filtered else None
        self.show_exchanges(exchanges, view.place)

    def shows_trouble_at(self, place: Place) -> bool:
        return True

    def copied(self) -> str | None:
        exchange = self.pointed_exchange()
        return None if exchange is None else curl(exchange.request)

    def pointed_exchange(self) -> Exchange | None:
        return self._exchange_at(self._place)

    def payload(self) -> Payload | None:
        exchange = self.pointed_exchange()
        if exchange is None:
            return None
        return Payload(f"exchange-{exchange.id}.http", partial(exchange_bytes, exchange))

    def saved(self) -> Payload | None:
        return received_payload(self.pointed_exchange())

    def show_exchanges(self, exchanges: Series[Exchange], place: Place | None) -> None:
        """Draw the list, and the exchange of `place` with its frame marked.

        None: the newest that is not a replay's.
        """
        self._exchanges, self._place = exchanges, place
        if not self.display:
            return
        listing = self.query_one("#exchanges", BlockList)
        listing.refill(lambda: self._rows.take(exchanges))
        shown = self._exchange_at(place)
        if place is None and shown is not None and shown is not exchanges[-1]:
            place = Place(shown.id, shown.request.seq)
        listing.mark(place)
        self._show_bytes(shown)

    def action_pretty(self) -> None:
        self.is_pretty = not self.is_pretty
        self.query_one("#bytes", BlockList).refill(self._drawn.clear)
        self._show_bytes(self._exchange_at(self._place))

    def _exchange_at(self, place: Place | None) -> Exchange | None:
        if place is None:
            return next((one for one in reversed(self._exchanges) if not one.is_replay), None)
        index = bisect_right(self._exchanges, place.exchange, key=lambda one: one.id) - 1
        return self._exchanges[max(0, index)] if self._exchanges else None

    def _show_bytes(self, exchange: Exchange | None) -> None:
        pane = self.query_one("#bytes", BlockList)
        before, self._shown = self._shown, exchange
        is_other = exchange is None or before is None or exchange.id != before.id
        if is_other:
            self._parts = Series()
        ends: tuple[Part, ...] = ()
        if exchange is not None:
            self._parts = self._parts.extend(_more(exchange, len(self._parts)))
            ends = (exchange,) if _end(exchange) else ()
        pane.refill(lambda: self._drawn.take(self._parts, ends), from_start=is_other)
        if self._place is not None:
            pane.mark(self._place)
        self.border_subtitle = Content("p raw" if self.is_pretty else "p pretty")

    def _part(self, part: Part) -> Block:
        exchange = self._shown
        assert exchange is not None
        match part:
            case Exchange():
                return Block(Place(part.id, part.request.seq), tuple(_end(part)))
            case FrameReceived():
                return _frame(exchange, part, is_pretty=self.is_pretty)
            case ResponseStarted():
                return _response(exchange, part)
            case RequestSent() | PushReceived():
                return _request(exchange, is_pretty=self.is_pretty)

    def _row(self, exchange: Exchange) -> Block:
        request = exchange.request
        name = exchange.rpc_method or exchange.purpose or "push"
        sign = f"{styles.LIVE} " if exchange.is_replay else ""
        before = exchange.redirected_from
        origin = "" if before is None else f"  from {before}"
        text = Content.assemble(
            (f"{exchange.id:>3} {sign}", styles.DIM), safe_line(name), (origin, styles.DIM)
        )
        tail = Content.assemble(_outcome(exchange), *_marks(exchange))
        return Block(Place(exchange.id, request.seq), (Line(text, tail=tail),))


def _place_of(part: Part) -> Place | None:
    if isinstance(part, Exchange):
        return None if part.failure is None else Place(part.id, part.failure.seq)
    return Place(part.exchange, part.seq)


def _more(exchange: Exchange, shown: int) -> Iterator[Part]:
    """Yield request, response and frames of `exchange` beyond the first `shown` of them."""
    parts = [one for one in (exchange.request, exchange.response) if one is not None]
    yield from parts[shown:]
    yield from exchange.frames[max(0, shown - len(parts)) :]


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


def _marks(exchange: Exchange) -> list[tuple[str, str]]:
    worst = exchange.worst
    if worst is None or worst is Severity.HINT:
        return [("  ", styles.PLAIN)]
    return [(f" {styles.WARNING}", styles.BAD if worst is Severity.ERROR else styles.WARN)]


def _request(exchange: Exchange, *, is_pretty: bool) -> Block:
    request = exchange.request
    arrow = "→" if exchange.push is None else "←"
    first = Content.assemble(
        (f"{arrow} {request.method} ", "bold"), (safe_line(request.url), "bold")
    )
    lines = [Line(first, tail=_size(size_of(request)))]
    if exchange.redirected_from is not None:
        words = f"redirected from {exchange.redirected_from}"
        lines.append(Line(Content.styled(words, styles.ACCENT), 2))
    lines += _headers(request.headers)
    lines += [Line(text, 2) for text in body_lines(request.body, is_pretty=is_pretty)]
    lines += _cut(request)
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
    lines = [Line(first, tail=_size(size_of(frame)))]
    lines += [Line(text, 2) for text in body_lines(frame.raw, is_pretty=is_pretty)]
    lines += _cut(frame)
    return Block(Place(exchange.id, frame.seq), tuple(lines))


def _cut(entry: WithBody) -> list[Line]:
    """Return why there is no more of a body; nothing for one that is whole."""
    if not is_cut(entry):
        return []
    return [Line(Content.styled(f"… {problem_of_cut(entry)}: {WHY_CUT}", styles.WARN), 2)]


def _end(exchange: Exchange) -> list[Line]:
    """Return how `exchange` ended and its findings; nothing as long as there is neither."""
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
    return lines


def _headers(headers: tuple[tuple[str, str], ...]) -> list[Line]:
    return [
        Line(Content.assemble((f"{safe_line(name)}: ", styles.DIM), safe_line(value)), 2)
        for name, value in headers
    ]


def _size(size_bytes: int) -> Content:
    return Content.styled(size(size_bytes) if size_bytes else "", styles.DIM)
