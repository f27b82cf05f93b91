"""What the push screen says: how the receiver stands, what came, and why nothing did."""

from collections.abc import Sequence
from datetime import datetime

from textual.content import Content

from inspector.core.commands import Json
from inspector.core.entries import PushReceived, PushVerdict
from inspector.core.push_receiver import RESENT_HEADER, Injection, Receiver
from inspector.net.events import find_header
from inspector.tui.board import Board
from inspector.tui.drawing import ink
from inspector.tui.drawing.block import Block, Line
from inspector.tui.drawing.quantities import duration, size, wall_clock
from inspector.tui.drawing.safe_text import safe_line
from inspector.tui.drawing.symbols import Symbols, state_ink, state_name, state_sign
from inspector.tui.messages import Place
from inspector.views.channels import MissingPush, explain_silence
from inspector.views.exchanges import Exchange
from inspector.views.reads import STARTS_TASK
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import parse_json
from inspector.wire.v0_3 import asks_for_notifications, read_notification, read_request

SHORT_ID = 6
_LABEL_WIDTH = 12
_VERDICT_WIDTH = 13
_STATE_WIDTH = 17


def receiver_lines(receiver: Receiver | None, *, registers: bool) -> Content:
    """Return how the receiver stands, a setting a line."""
    rows = [("turns", "register it" if registers else "do not register it: t")]
    if receiver is None or not receiver.is_open:
        state = Content.styled("○ closed", ink.DIM)
    else:
        port = (f"  port {receiver.port}", ink.DIM)
        state = Content.assemble(("● listening", ink.GOOD), f"  {safe_line(receiver.url)}", port)
    if receiver is not None:
        public = receiver.options.public_url
        rows += [
            ("public URL", safe_line(public) if public else "none: agents get the URL above"),
            ("hands on to", safe_line(receiver.forward_url or "nobody")),
            ("answers", injection_words(receiver.injection)),
        ]
    lines = [state]
    lines += [Content.assemble((name.ljust(_LABEL_WIDTH), ink.DIM), text) for name, text in rows]
    return Content("\n").join(lines)


def injection_words(injection: Injection) -> str:
    words = "as it should"
    if injection.status is not None:
        words = str(injection.status)
    if injection.is_hanging or injection.is_dropping:
        words = "never: it hangs" if injection.is_hanging else "never: it drops the connection"
    late = f", {injection.delay_seconds:g} s late" if injection.delay_seconds else ""
    return words + late


def push_block(
    exchange: Exchange, push: PushReceived, started: datetime, symbols: Symbols
) -> Block:
    """Return one notification: verdict, what it tells of which task, and what is odd about it."""
    is_good = push.verdict is PushVerdict.ACCEPTED
    sign = symbols.states["completed" if is_good else "failed"]
    verdict = f"{sign} {push.verdict.value}".ljust(_VERDICT_WIDTH + 2)
    result = read_notification(push.body).result
    task = "" if result is None else safe_line(result.task_id or "")[:SHORT_ID]
    first = Content.assemble(
        (f"{wall_clock(started, push.at_ms)}  ", ink.DIM),
        (verdict, ink.GOOD if is_good else ink.BAD),
        _state(result.state if result is not None else None, symbols),
        (f"  {task}", ink.ACCENT),
        ("  resent" if find_header(push.headers, RESENT_HEADER) else "", ink.DIM),
    )
    answered = "dropped" if push.status is None else str(push.status)
    lines = [Line(first, tail=Content.styled(f"{size(len(push.body))}  {answered}", ink.DIM))]
    lines += [_finding(finding, symbols) for finding in exchange.findings]
    return Block(Place(exchange.id, push.seq), tuple(lines))


def missing_block(missing: MissingPush, symbols: Symbols) -> Block:
    """Return a notification that was due and did not come."""
    text = Content.assemble(
        (f"{symbols.warning} missing  ", ink.BAD),
        f"{safe_line(missing.channel.value)} told ",
        _state(missing.state, symbols),
        (f"  {safe_line(missing.task_id)[:SHORT_ID]}", ink.ACCENT),
        (f"  {duration(missing.since_ms)} ago", ink.DIM),
    )
    return Block(Place(missing.exchange, 0), (Line(text),))


def empty_words(board: Board, callback_url: str) -> Sequence[tuple[str, str]]:
    """Return why nothing came, each line with its ink."""
    turn = last_turn(board)
    if turn is None or not asks_for_notifications(_params(turn)):
        return [("Nothing received yet. Send a turn: it registers this receiver.", ink.DIM)]
    if turn.is_running:
        return [("Nothing received yet; the turn is under way.", ink.DIM)]
    reply = turn.last_reply
    lines = [("The last turn registered, and no notification came.", ink.WARN)]
    if turn.is_refused and reply is not None and reply.error is not None:
        said = f"{reply.error.code} {safe_line(reply.error.message)}"
        lines = [(f"The agent refused the turn that registered: {said}", ink.BAD)]
    card = parse_json(board.card.raw).value if board.card is not None else None
    agent_url = board.card.url if board.card is not None else ""
    silence = explain_silence(card, agent_url, callback_url)
    return [*lines, (f"likely  {silence.cause}", ink.PLAIN), (f"try     {silence.hint}", ink.KEY)]


def last_turn(board: Board) -> Exchange | None:
    """Return the newest turn; those before it do not matter."""
    return next((one for one in reversed(board.exchanges) if one.purpose in STARTS_TASK), None)


def _params(turn: Exchange) -> dict[str, Json]:
    return read_request(turn.request.body).params


def _state(state: str | None, symbols: Symbols) -> Content:
    if state is None:
        return Content("".ljust(_STATE_WIDTH))
    text = f"{state_sign(symbols, state)} {state_name(state)}".ljust(_STATE_WIDTH)
    return Content.styled(text, state_ink(state))


def _finding(finding: Finding, symbols: Symbols) -> Line:
    style = ink.BAD if finding.severity is Severity.ERROR else ink.WARN
    style = ink.DIM if finding.severity is Severity.HINT else style
    text = Content.styled(f"{symbols.warning} {safe_line(finding.message)}", style)
    return Line(text, 10, Content.styled(finding.section, ink.DIM))
