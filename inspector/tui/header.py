"""The first line: the agent, the connection, the context and its state."""

from dataclasses import dataclass
from enum import StrEnum

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from inspector.net.events import FailureKind
from inspector.tui.credentials import Words
from inspector.tui.drawing import styles
from inspector.tui.drawing.safe_text import fault_words, safe_line
from inspector.tui.drawing.styles import state_name, state_sign, state_style
from inspector.tui.log_view import LogView
from inspector.tui.timeline_panel import SHORT_ID
from inspector.views import mock
from inspector.views.card import CardView
from inspector.views.exchanges import Exchange
from inspector.views.mock import MockView
from inspector.views.problems import refusal_of
from inspector.wire.urls import parts_of


class ConnectionState(StrEnum):
    CONNECTING = "connecting"
    REOPENED = "reopened"
    CONNECTED = "connected"
    REFUSED = "refused"
    FAILED = "not connected"


_UNREACHED = (FailureKind.CONNECT, FailureKind.TLS)
_SIGNS = {
    ConnectionState.CONNECTING: (" ○ ", styles.DIM),
    ConnectionState.REOPENED: (" ○ ", styles.DIM),
    ConnectionState.CONNECTED: (" ● ", styles.GOOD),
    ConnectionState.REFUSED: (" ! ", styles.WARN),
    ConnectionState.FAILED: (" ✗ ", styles.BAD),
}


@dataclass(frozen=True, slots=True)
class HeaderView:
    target: str
    connection: ConnectionState = ConnectionState.CONNECTING
    card: CardView | None = None
    context_id: str | None = None
    state: str | None = None
    mock: MockView = mock.EMPTY


def header_view(target: str, view: LogView, reopened_to: int = 0) -> HeaderView:
    """Return what the header says; up to the entry `reopened_to` all is from an earlier run."""
    task = view.last_task
    state = task.state if task is not None else None
    connection = _connection(view, reopened_to)
    return HeaderView(target, connection, view.card, view.context_id, state, view.mock)


def _connection(view: LogView, reopened_to: int) -> ConnectionState:
    last = view.exchanges[-1] if view.exchanges else None
    if last is not None and last.request.seq <= reopened_to:
        return ConnectionState.REOPENED
    if _is_unreached(last, view.mock) or _is_gone(last, view.mock):
        return ConnectionState.FAILED
    if view.card is not None:
        return ConnectionState.CONNECTED
    if last is not None and refusal_of(last) is not None:
        return ConnectionState.REFUSED
    is_over = bool(view.exchanges) and not view.running
    return ConnectionState.FAILED if is_over else ConnectionState.CONNECTING


def _is_unreached(last: Exchange | None, mock: MockView) -> bool:
    """Say whether the last attempt failed, and the agent's events did not come since."""
    if last is None or last.failure is None or last.failure.kind not in _UNREACHED:
        return False
    return not (mock.is_listening and mock.heard_seq > last.failure.seq)


def _is_gone(last: Exchange | None, mock: MockView) -> bool:
    """Say whether the agent's events have ended, and nothing else came from it since."""
    if mock.is_listening or not mock.heard_seq:
        return False
    sign = last and (last.push or last.response)
    return sign is None or sign.seq < mock.heard_seq


class Header(Widget):
    view: reactive[HeaderView] = reactive(HeaderView(""))
    is_live: reactive[bool] = reactive(False)
    credentials: reactive[Words] = reactive(Words())

    def __init__(self, target: str, reopened_to: int = 0) -> None:
        super().__init__()
        self._target = target
        self._reopened_to = reopened_to
        self.view = HeaderView(target)

    def show_view(self, view: LogView) -> None:
        self.view = header_view(self._target, view, self._reopened_to)

    def render(self) -> Content:
        width = self.content_size.width
        right = self._conversation()
        if right.cell_length > width // 2:
            right = self._conversation(is_short=True)
        left = self._agent().truncate(max(1, width - right.cell_length - 1), ellipsis=True)
        gap = max(1, width - left.cell_length - right.cell_length)
        return left + " " * gap + right

    def _agent(self) -> Content:
        view = self.view
        sign = _SIGNS[view.connection]
        if view.card is None:
            return Content.assemble(
                ("a2a-inspect", "bold"),
                sign,
                safe_line(view.target),
                ("  ", ""),
                (view.connection.value, styles.DIM),
                *self._credentials(),
            )
        host = parts_of(view.card.url).netloc or view.card.url
        is_lost = view.connection is ConnectionState.FAILED
        shows_state = is_lost or view.connection is ConnectionState.REOPENED
        how = view.connection.value if shows_state else self._how(view.card)
        return Content.assemble(
            (safe_line(view.card.name), "bold"),
            sign,
            safe_line(host),
            *self._credentials(),
            "   ",
            (how, styles.BAD if is_lost else styles.DIM),
        )

    def _how(self, card: CardView) -> str:
        """Return how the agent is talked to: version, transport and credentials."""
        version = safe_line(card.protocol_version) or "?"
        transport = safe_line(card.transports[0][0]) if card.transports else "JSONRPC"
        names = {"JSONRPC": "JSON-RPC", "HTTP+JSON": "HTTP+JSON", "GRPC": "gRPC"}
        unasked = "sends credentials" if self.credentials.are_sent else "no auth"
        security = ", ".join(safe_line(scheme) for scheme in card.security) or unasked
        return f"A2A {version} · {names.get(transport, transport)} · {security}"

    def _credentials(self) -> tuple[tuple[str, str], ...]:
        """Return how long the token is valid, to stand before what may be cut off."""
        words = self.credentials
        return ((f"   {words.text}", words.style),) if words.text else ()

    def _conversation(self, *, is_short: bool = False) -> Content:
        beside = mock_words(self.view.mock, self.view.connection, is_short=is_short)
        if self.is_live:
            words = styles.LIVE if is_short else f"{styles.LIVE} live"
            beside += Content.styled(f"{words}  ", styles.GOOD)
        if self.view.context_id is None:
            return beside + Content.styled("no context yet", styles.DIM)
        parts = [("ctx ", styles.DIM), (safe_line(self.view.context_id)[:SHORT_ID], styles.ACCENT)]
        if self.view.state is not None:
            sign = state_sign(self.view.state)
            name = state_name(self.view.state)
            parts.append((f" {sign} {name}", state_style(self.view.state)))
        return beside + Content.assemble(*parts)


def mock_words(mock: MockView, connection: ConnectionState, *, is_short: bool) -> Content:
    """Return what a connected mock serves, how its last save went, and what is armed in it."""
    if mock.model is None:
        return Content("")
    flows = f"{mock.model.flows} flow{'' if mock.model.flows == 1 else 's'}"
    said = ("mock" if is_short else f"mock, {flows}", styles.DIM)
    if mock.reload is not None:
        said = (flows if is_short else f"reloaded, {flows}", styles.GOOD)
    if mock.reload is not None and mock.reload.problems:
        said = ("not reloaded", styles.BAD)
    if mock.heard_seq and not mock.is_listening:
        answers = connection is ConnectionState.CONNECTED
        said = ("mock without events", styles.WARN) if answers else ("mock gone", styles.BAD)
    armed = mock.live_faults
    faults = f"{len(armed)} fault{'' if len(armed) == 1 else 's'}"
    if len(armed) == 1 and not is_short:
        faults = fault_words(armed[0])
    warning = (f"  {styles.WARNING} {faults}" if armed else "", styles.WARN)
    return Content.assemble(said, warning, "  " if is_short else "   ")
