"""Turns and tasks as text for people."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from inspector.core.entries import Channel
from inspector.headless.terminal import BOLD, CHANGES, DIM, RED, YELLOW, Ink, milliseconds
from inspector.views.chat import Said, read_offers
from inspector.views.data import ArtifactRow, SlotRow, TurnData
from inspector.views.exchanges import Exchange
from inspector.views.text import plain, plain_line
from inspector.views.timeline import TaskRow, Update
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import Json

TEXT_WIDTH = 60
NAME_WIDTH = 20


def tell_update(ink: Ink, row: TaskRow, update: Update) -> str:
    """One line of the timeline: when, what, by which channel."""
    when = milliseconds(update.at_ms - row.started_ms)
    line = f"{when:>8}  {_what(ink, update)}"
    if update.is_final:
        line += " ■"
    if update.channel is not Channel.SSE:
        line += ink(f"  {update.channel}", DIM)
    return line


def _what(ink: Ink, update: Update) -> str:
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


def tell_answer(
    ink: Ink, exchange: Exchange, said: Sequence[Said], turn: TurnData | None
) -> Iterator[str]:
    """What the agent said, offered and told, and where to go on."""
    if not said and not exchange.is_stream and exchange.progress.state:
        yield ink.state(exchange.progress.state)
    for one in said:
        # a stream's timeline has just shown the state
        yield from tell_said(ink, replace(one, state=None) if exchange.is_stream else one)
    if turn is not None:
        yield from tell_data(ink, turn, turn.slots)
    progress = exchange.progress
    ids = (("context", progress.context_id), ("task", progress.task_id))
    shown = "   ".join(f"{name} {plain_line(value)}" for name, value in ids if value)
    yield ink(f"{milliseconds(exchange.total_ms or 0)}   {shown}", DIM)


def tell_said(ink: Ink, said: Said) -> Iterator[str]:
    if said.state:
        yield ink.state(plain_line(said.state))
    for line in plain(said.text).splitlines():
        yield f"  {line}"
    for offer in said.offers:
        payload = f"  {ink(plain_line(offer.payload), DIM)}" if offer.payload != offer.title else ""
        yield f"  [{offer.number}] {plain_line(offer.title)}{payload}"


def tell_data(ink: Ink, turn: TurnData, slots: Sequence[SlotRow]) -> Iterator[str]:
    if turn.active_flow:
        yield f"  flow {ink(plain_line(turn.active_flow), BOLD)}"
    for row in slots:
        yield f"    {tell_slot(ink, row)}"
    for name, value in turn.persisted_slots.items():
        kept = f"{plain_line(name):<{NAME_WIDTH}} {value_text(value)}"
        yield f"    {ink('=', BOLD)} {kept}  {ink('persisted', DIM)}"
    told = (("reason", turn.reason), ("error", turn.error_type))
    for name, text in told:
        if text:
            yield f"    {name} {ink(plain_line(text), YELLOW)}"
    if turn.error_info:
        yield f"    info {value_text(turn.error_info)}"
    for artifact in turn.artifacts:
        yield tell_artifact(ink, artifact)


def tell_slot(ink: Ink, row: SlotRow) -> str:
    """`~ vip  false → true`, with how the value came where the message brought it."""
    sign, style = CHANGES[row.change]
    value = value_text(row.value)
    if row.change == "changed":
        value = f"{value_text(row.previous)} → {value}"
    elif row.change == "cleared":
        value = f"{value_text(row.previous)} → {value_text(None)}"
    seeded = ink("  seeded", DIM) if row.is_seeded else ""
    return f"{ink(sign, style)} {plain_line(row.name):<{NAME_WIDTH}} {value}{seeded}"


def tell_artifact(ink: Ink, artifact: ArtifactRow) -> str:
    name = plain_line(artifact.name or artifact.artifact_id)
    pieces = ink(f"  in {artifact.chunks} pieces", DIM) if artifact.chunks > 1 else ""
    return f"  ▤ {ink(name, BOLD)}  {plain_line(artifact.text, TEXT_WIDTH)}{pieces}"


def tell_finding(ink: Ink, finding: Finding) -> str:
    styles = {Severity.ERROR: RED, Severity.WARNING: YELLOW, Severity.HINT: DIM}
    severity = ink(f"{finding.severity:<7}", styles[finding.severity])
    where = plain_line(finding.path)
    return f"{severity}  {where}  {plain_line(finding.message)}  {ink(finding.section, DIM)}"


def value_text(value: Json) -> str:
    """A value as a person would type it: text bare, everything else as JSON."""
    if value is None:
        return "\N{EN DASH}"
    return plain_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
