"""Turns and tasks as the commands print them: lines for people, JSON in the shapes of `cli.md`."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace

from inspector.core.decoding import Source, read_push, read_sent
from inspector.core.entries import Channel, FrameReceived, PushReceived, PushVerdict, RequestSent
from inspector.headless.terminal import (
    BOLD,
    DIM,
    GREEN,
    RED,
    YELLOW,
    Ink,
    Written,
    milliseconds,
)
from inspector.views.chat import ChatMessage, read_offers
from inspector.views.data import ArtifactRow, SlotChange, SlotRow, TurnData
from inspector.views.exchanges import Exchange
from inspector.views.text import lines_of, plain_line
from inspector.views.timeline import TaskRow, Update
from inspector.wire.dialect import Reply, Result, texts
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import Json

TEXT_WIDTH = 60
NAME_WIDTH = 20
_CHANGES = {
    SlotChange.SAME: (" ", ""),
    SlotChange.ADDED: ("+", GREEN),
    SlotChange.CHANGED: ("~", YELLOW),
    SlotChange.CLEARED: ("\N{MINUS SIGN}", RED),
}


# Lines


def update_line(ink: Ink, row: TaskRow, update: Update) -> str:
    """One line of the timeline: when, what, by which channel."""
    when = milliseconds(update.at_ms - row.started_ms)
    line = f"{when:>8}  {_update_text(ink, update)}"
    if update.is_final:
        line += " ■"
    if update.channel is not Channel.SSE:
        line += ink(f"  {update.channel}", DIM)
    return line


def _update_text(ink: Ink, update: Update) -> str:
    text = plain_line(read_offers(update.text)[0], TEXT_WIDTH)
    match update.kind:
        case "error":
            return ink(f"✗ {plain_line(update.text)}", RED)
        case "artifact-update":
            return f"▤ artifact  {ink(text, DIM)}"
        case "message":
            return f"  message  {ink(text, DIM)}"
        case _:
            state = ink.state(plain_line(update.state or ""))
            return f"{state}  {ink(text, DIM)}" if text and not update.is_final else state


def answer_lines(
    ink: Ink, exchange: Exchange, said: Sequence[ChatMessage], turn: TurnData | None
) -> Iterator[str]:
    """What the agent said and offered, its data, and where to go on."""
    if not said and not exchange.is_stream and exchange.progress.state:
        yield ink.state(exchange.progress.state)
    for one in said:
        # a stream's timeline has just shown the state
        yield from said_lines(ink, replace(one, state=None) if exchange.is_stream else one)
    if turn is not None:
        yield from data_lines(ink, turn, turn.slots)
    progress = exchange.progress
    yield ids_line(ink, exchange.total_ms or 0, progress.context_id, progress.task_id)


def ids_line(ink: Ink, elapsed_ms: float, context_id: str | None, task_id: str | None) -> str:
    ids = (("context", context_id), ("task", task_id))
    shown = "   ".join(f"{name} {plain_line(value)}" for name, value in ids if value)
    return ink(f"{milliseconds(elapsed_ms)}   {shown}", DIM)


def said_lines(ink: Ink, said: ChatMessage) -> Iterator[str]:
    if said.state:
        yield ink.state(plain_line(said.state))
    for line in lines_of(said.pieces()):
        yield f"  {line}"
    for offer in said.offers:
        payload = f"  {ink(plain_line(offer.payload), DIM)}" if offer.payload != offer.title else ""
        yield f"  [{offer.number}] {plain_line(offer.title)}{payload}"


def data_lines(ink: Ink, turn: TurnData, slots: Sequence[SlotRow]) -> Iterator[str]:
    if turn.active_flow:
        yield f"  flow {ink(plain_line(turn.active_flow), BOLD)}"
    for row in slots:
        yield f"    {slot_line(ink, row)}"
    for name, value in turn.persisted_slots.items():
        kept = f"{plain_line(name):<{NAME_WIDTH}} {value_text(value)}"
        yield f"    {ink('=', BOLD)} {kept}  {ink('persisted', DIM)}"
    reasons = (("reason", turn.reason), ("error", turn.error_type))
    for name, text in reasons:
        if text:
            yield f"    {name} {ink(plain_line(text), YELLOW)}"
    if turn.error_info:
        yield f"    info {value_text(turn.error_info)}"
    for artifact in turn.artifacts.rows:
        yield artifact_line(ink, artifact)


def slot_line(ink: Ink, row: SlotRow) -> str:
    """`~ vip  false → true`, with how the value came where the message brought it."""
    sign, style = _CHANGES[row.change]
    value = value_text(row.value)
    if row.change == "changed":
        value = f"{value_text(row.previous)} → {value}"
    elif row.change == "cleared":
        value = f"{value_text(row.previous)} → {value_text(None)}"
    seeded = ink("  seeded", DIM) if row.is_seeded else ""
    return f"{ink(sign, style)} {plain_line(row.name):<{NAME_WIDTH}} {value}{seeded}"


def artifact_line(ink: Ink, artifact: ArtifactRow) -> str:
    name = plain_line(artifact.name or artifact.artifact_id)
    pieces = ink(f"  in {artifact.chunks} pieces", DIM) if artifact.chunks > 1 else ""
    return f"  ▤ {ink(name, BOLD)}  {plain_line(artifact.pieces.start, TEXT_WIDTH)}{pieces}"


def finding_line(ink: Ink, finding: Finding) -> str:
    styles = {Severity.ERROR: RED, Severity.WARNING: YELLOW, Severity.HINT: DIM}
    severity = ink(f"{finding.severity:<7}", styles[finding.severity])
    where = plain_line(finding.path)
    return f"{severity}  {where}  {plain_line(finding.message)}  {ink(finding.section, DIM)}"


def value_text(value: Json) -> str:
    """A value as a person would type it: text bare, everything else as JSON."""
    if value is None:
        return "\N{EN DASH}"
    return plain_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


# JSON


def answer_json(
    exchange: Exchange, turn: TurnData | None, findings: Iterable[Finding]
) -> dict[str, Written]:
    """One object for the whole exchange; `task` is the last result as received.

    Artifacts are read as they are written, each part by itself.
    """
    reply = exchange.last_reply
    asked = exchange.request
    message = read_sent(asked).ask.message if isinstance(asked, RequestSent) else None
    dialect = exchange.reader.dialect
    error = _error_json(reply)
    answer: dict[str, Written] = {
        "contextId": exchange.progress.context_id,
        "taskId": exchange.progress.task_id,
        "messageId": message.message_id if message is not None else None,
        "state": state_of(exchange),
        "text": list(_texts_said(exchange)),
        "data": list(turn.parts) if turn else [],
        "artifacts": (_artifact_json(row) for row in turn.artifacts.rows) if turn else [],
        "transport": dialect.binding.flag,
        "protocol": dialect.version,
        "elapsed_ms": round(exchange.total_ms or 0, 1),
        "findings": [finding_json(finding) for finding in findings],
        "task": reply.payload if reply else None,
    }
    return answer if error is None else {**answer, "error": error}


def frame_json(source: Source, began_ms: float) -> dict[str, Json] | None:
    """One update as it came, its time since `began_ms`; None for an event without data."""
    frame, reply = source.entry, source.reply
    if reply is None or not isinstance(frame, FrameReceived):
        return None
    result = reply.result
    return {
        "at_ms": round(frame.at_ms - began_ms, 1),
        "channel": frame.channel.value,
        "kind": result.kind if result is not None else "error",
        "state": result.spelling if result is not None else None,
        "final": result.is_final if result is not None else True,
        "raw": frame.raw.decode(errors="replace") if reply.problem else reply.envelope,
    }


def push_update_json(entry: PushReceived, began_ms: float) -> dict[str, Json]:
    """A notification as one update among those of the other channels."""
    notification = read_push(entry)
    result = notification.result if entry.verdict is PushVerdict.ACCEPTED else None
    text = entry.body.decode(errors="replace")
    return {
        "at_ms": round(entry.at_ms - began_ms, 1),
        "channel": "push",
        "kind": result.kind if result else "error",
        "state": result.spelling if result else None,
        "final": result.is_final if result else False,
        "raw": text if notification.value is None else notification.value,
    }


def finding_json(finding: Finding) -> dict[str, Json]:
    return asdict(finding)


def state_of(exchange: Exchange) -> str | None:
    """The last state of the exchange, in the wire's spelling."""
    spellings = (result.spelling for result in _results(exchange))
    return next((spelling for spelling in spellings if spelling is not None), None)


def _results(exchange: Exchange) -> Iterator[Result]:
    """The results of the exchange, the last first."""
    for frame in reversed(exchange.frames):
        reply = exchange.read(frame)
        if reply is not None and reply.result is not None:
            yield reply.result


def _error_json(reply: Reply | None) -> Json:
    if reply is None or reply.error is None:
        return None
    return {"code": reply.error.code, "message": reply.error.message, "data": reply.error.data}


def _texts_said(exchange: Exchange) -> tuple[str, ...]:
    """The texts of the last message; a stream's artifact chunks are not a message."""
    return next((said for one in _results(exchange) if (said := texts(one.parts))), ())


def _artifact_json(row: ArtifactRow) -> dict[str, Written]:
    parts = (part.raw for part in row.parts)
    return {"artifactId": row.artifact_id, "name": row.name, "parts": parts}
