"""Why a turn went as it did, as the mock explains it: rules, commands, flow, state."""

from collections.abc import Iterable
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message

from inspector.tui.drawing import ink
from inspector.tui.drawing.block import Block, Line
from inspector.tui.drawing.safe_text import safe_line
from inspector.tui.drawing.symbols import Symbols
from inspector.views.mock import MockView
from inspector.wire.mock_admin import Move, Rule, Trace

_NAME_WIDTH = 16
_BAD_MOVES = frozenset({"Warned", "FlowCancelled", "FlowInterrupted"})
_FLOW_MOVES = frozenset({"Step", "FlowStarted", "FlowCompleted", "FlowResumed"})


@dataclass
class TraceWanted(Message):
    """The trace of the turn that is shown has not been fetched yet."""

    trace_id: str


def explanation(exchange: int | None, mock: MockView) -> Trace | str | None:
    """Return the trace of a turn, or why there is none; None while it is still to come."""
    if exchange is None:
        return None
    trace_id = mock.trace_ids.get(exchange)
    if exchange in mock.untold:
        return "The turn is under way: it is explained at its end."
    if trace_id is None and mock.model is None:
        return "Only a mock explains its turns, and none is connected."
    if trace_id is None:
        return "This turn has no trace: it was sent before the mock was known, or began no turn."
    if trace_id in mock.lost_traces:
        return f"The mock has no {safe_line(trace_id)}: it keeps the newest traces only."
    return mock.traces.get(trace_id)


def trace_blocks(found: Trace | str | None, symbols: Symbols) -> list[Block]:
    """Return the blocks of an explanation; a trace's tell what happened, one after the other."""
    if found is None:
        return []
    if isinstance(found, str):
        return [_block(Line(Content.styled(found, ink.DIM)))]
    trace = found
    return [
        *_section("Understanding", (_rule(rule, symbols) for rule in trace.rules)),
        *_section("Commands", (*map(_command, trace.commands), *map(_dropped, trace.dropped))),
        *_section("Flow", (_move(move) for move in trace.moves)),
        *_section("State", (_rule(rule, symbols) for rule in trace.states)),
    ]


def _section(title: str, lines: Iterable[Line]) -> list[Block]:
    found = list(lines) or [Line(Content.styled("nothing", ink.DIM), 2)]
    heading = _block(Line(Content.styled(title, "bold")))
    return [heading, *map(_block, found), _block(Line(Content("")))]


def _rule(rule: Rule, symbols: Symbols) -> Line:
    """Return a rule that was tried; the one that fired is told by sign and ink."""
    name, reason = safe_line(rule.name).ljust(_NAME_WIDTH), safe_line(rule.reason)
    if rule.has_fired:
        sign = symbols.states["completed"]
        return Line(Content.assemble((f"{sign} {name}", ink.GOOD), f" {reason}"), 2, hang=2)
    return Line(Content.styled(f"· {name} {reason}", ink.DIM), 2, hang=2)


def _command(command: str) -> Line:
    return Line(Content.styled(safe_line(command), ink.ACCENT), 2)


def _dropped(dropped: tuple[str, str]) -> Line:
    command, reason = dropped
    text = Content.assemble((safe_line(command), ink.WARN), (f"  dropped: {reason}", ink.DIM))
    return Line(text, 2)


def _move(move: Move) -> Line:
    style = ink.WARN if move.name in _BAD_MOVES else ink.PLAIN
    style = ink.ACCENT if move.name in _FLOW_MOVES else style
    name = safe_line(move.name).ljust(_NAME_WIDTH)
    return Line(Content.assemble((f"{name}  ", style), safe_line(move.about)), 2, hang=2)


def _block(line: Line) -> Block:
    return Block(None, (line,))
