"""What the selected turn brought: Rasa's fields, the slots and their changes, every DataPart."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, TypeVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from inspector.errors import UsageError
from inspector.tui.drawing import styles
from inspector.tui.drawing.block_list import Block, BlockList, Line, passing
from inspector.tui.drawing.json_lines import MOST_LINES, MOST_TOGETHER, Fold, folded, tree
from inspector.tui.drawing.safe_text import safe_line, size, value_text
from inspector.tui.drawing.styles import state_text
from inspector.tui.layout import PANEL_BY_ID
from inspector.tui.log_view import LogView
from inspector.tui.messages import PanelWanted, Place
from inspector.tui.panel import Payload, received_payload
from inspector.views.data import (
    ArtifactRow,
    SlotChange,
    SlotRow,
    TurnData,
)
from inspector.views.exchanges import Exchange, find
from inspector.views.mock import MockView
from inspector.wire.dialect import File, files
from inspector.wire.json_values import Json
from inspector.wire.mock_admin import Move, Rule, Trace
from inspector.wire.states import is_resting, parse_state

T = TypeVar("T")
MOST_PARTS = 50
NO_DATA_YET = "No data yet."
NO_DATA = "This turn brought no data."
NEWEST_CHARACTERS = 1500
_NAME_WIDTH = 18
_CHANGE_STYLES = {
    SlotChange.SAME: styles.PLAIN,
    SlotChange.ADDED: styles.GOOD,
    SlotChange.CHANGED: styles.WARN,
    SlotChange.CLEARED: styles.BAD,
}
_RULE_WIDTH = 16
_BAD_MOVES = frozenset({"Warned", "FlowCancelled", "FlowInterrupted"})
_FLOW_MOVES = frozenset({"Step", "FlowStarted", "FlowCompleted", "FlowResumed"})


@dataclass
class TraceWanted(Message):
    """The trace of the turn that is shown has not been fetched yet."""

    trace_id: str


class DataPanel(BlockList):
    """One turn at a time; Space opens and closes a branch of a tree."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "fold", "Open or close the branch", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(wraps=True, follows=False, id="data", empty=NO_DATA_YET)
        self.title = PANEL_BY_ID["data"].heading
        self._view = LogView()
        self._turn: TurnData | None = None
        self._explains = False
        self._wanted = ""
        self._toggled: set[str] = set()
        self._files: dict[str, File] = {}
        # how many lines of trees may still be drawn
        self._room = MOST_LINES
        self.filter = ""
        self.count: tuple[int, int] | None = None

    def show_view(self, view: LogView) -> None:
        """Show the selected turn; from its start if it or its explanation changed."""
        before, self._view = explanation(self._exchange, self._view.mock), view
        is_explained = self._explains and explanation(self._exchange, view.mock) != before
        shown, self._turn = self._turn, view.turn
        self.empty = NO_DATA if self._turn is None and view.turns else NO_DATA_YET
        is_other = shown is None or self._turn is None or shown.exchange != self._turn.exchange
        if is_explained or (is_other and shown is not self._turn):
            self.open_at_start(self._filling())
        elif shown is not self._turn:
            self.show(self._filling())

    def shows_trouble_at(self, place: Place) -> bool:
        return False

    def pointed_exchange(self) -> Exchange | None:
        return self._view.turn_exchange

    def payload(self) -> Payload | None:
        turn = self._view.turn
        return None if turn is None else Payload("parts.json", lambda: _pretty(turn.parts))

    def saved(self) -> Payload | None:
        """Return the file under the cursor, else the first there is, else what came."""
        block = self.current
        at_cursor = self._files.get(block.name) if block is not None else None
        file = at_cursor or next(iter(self._files.values()), None)
        if file is None:
            return received_payload(self._view.exchange)
        if not file.encoded:
            raise UsageError(f"{file.safe_name} was not sent along, only where it is")
        return Payload(file.safe_name, file.content)

    def action_fold(self) -> None:
        block = self.current
        if block is not None and block.name and block.name not in self._files:
            self._toggled ^= {block.name}
            cursor = self.cursor
            self.show(self._filling())
            self.cursor = min(cursor, len(self.source) - 1)

    def filter_by(self, text: str) -> None:
        """Show only the lines that hold all words of `text`, and what they stand below."""
        self.filter = text
        self.open_at_start(self._filling())

    def action_rules(self) -> None:
        """Show why the turn went as it did in place of what it brought, or the other way."""
        is_seen = bool(self.region)
        if is_seen or not self._explains:
            self._explains = not self._explains
            entry = PANEL_BY_ID["data"]
            self.title = f"{entry.number} Rules" if self._explains else entry.heading
            self.border_title = self.title
            self.open_at_start(self._filling())
        if not is_seen:
            self.post_message(PanelWanted(self.id or ""))

    @property
    def _exchange(self) -> int | None:
        return None if self._turn is None else self._turn.exchange

    def _filling(self) -> list[Block]:
        blocks = self._all_blocks()
        shown = passing(blocks, self.filter)
        self.count = (len(shown), len(blocks)) if self.filter.strip() else None
        return shown

    def _all_blocks(self) -> list[Block]:
        """Return the turn's blocks; a trace that is wanted and not there is asked for."""
        self._files.clear()
        if not self._explains:
            return [] if self._turn is None else self._blocks(self._turn)
        mock = self._view.mock
        found = explanation(self._exchange, mock)
        trace_id = mock.trace_ids.get(self._exchange or 0, "")
        if found is None and trace_id not in ("", self._wanted):
            self._wanted = trace_id
            self.post_message(TraceWanted(trace_id))
        return trace_blocks(found)

    def _blocks(self, turn: TurnData) -> list[Block]:
        self._room = MOST_LINES
        slots, parts, artifacts = turn.slots, turn.parts, turn.artifacts.rows
        blocks = [_block(self._heading(turn))]
        width = min(_NAME_WIDTH, max((cell_len(slot.name) for slot in slots), default=0))
        blocks += self._many("slots", slots, lambda _, one: [_block(self._slot(one, width))])
        blocks += [_block(line) for line in _notes(turn)]
        blocks.append(_block(Line(Content(""))))
        if persisted := turn.persisted_slots:
            blocks += self._tree("persisted slots", dict(persisted))
        label = "DataPart" if len(parts) == 1 else "DataPart {}"
        blocks += self._many(
            "DataParts", parts, lambda number, one: self._tree(label.format(number), one)
        )
        spoken = find(self._view.exchanges, turn.exchange)
        result = spoken.answer.result if spoken is not None and spoken.answer is not None else None
        found = files(result.parts if result is not None else ())
        blocks += self._many("files", found, lambda _, one: [self._file(one)])
        is_over = is_resting(parse_state(turn.state or ""))
        blocks += self._many("artifacts", artifacts, lambda _, one: self._artifact(one, is_over))
        return blocks

    def _many(
        self, name: str, items: Sequence[T], draw: Callable[[int, T], list[Block]]
    ) -> list[Block]:
        """Return the blocks of `items`, numbered from 1; of many, ranges that open.

        Under a filter those that it may hold for, as far as somebody can read them.
        """
        words = self.filter.lower().split()
        if words and len(items) > MOST_TOGETHER:
            return self._found(name, items, draw, words)
        blocks: list[Block] = []
        for one in folded(len(items), name, self._toggled):
            if isinstance(one, Fold):
                blocks.append(Block(None, (Line(one.text(name), 2 * one.depth),), one.name))
            else:
                blocks += draw(one + 1, items[one])
        return blocks

    def _found(
        self,
        name: str,
        items: Sequence[T],
        draw: Callable[[int, T], list[Block]],
        words: Sequence[str],
    ) -> list[Block]:
        found = (
            (number, one)
            for number, one in enumerate(items, 1)
            if all(word in _searched(one) for word in words)
        )
        blocks = [
            block for number, one in islice(found, MOST_TOGETHER) for block in draw(number, one)
        ]
        if more := sum(1 for _ in found):
            text = f"… {self.filter}: in {more:,} more {name}"
            blocks.append(_block(Line(Content.styled(safe_line(text), styles.DIM))))
        return blocks

    def _heading(self, turn: TurnData) -> Line:
        flow = safe_line(turn.active_flow) if turn.active_flow else "no active flow"
        text = Content.styled(flow, "bold" if turn.active_flow else styles.DIM)
        return Line(text, tail=None if turn.state is None else state_text(turn.state))

    def _slot(self, slot: SlotRow, width: int) -> Line:
        """Return name, value and change; a value that went shows what it was."""
        style = _CHANGE_STYLES[slot.change]
        sign = styles.CHANGE_SIGNS[slot.change]
        name = safe_line(slot.name).ljust(width)
        match slot.change:
            case SlotChange.CHANGED:
                shown = f"{value_text(slot.previous)} → {value_text(slot.value)}"
            case SlotChange.CLEARED:
                shown = f"{styles.NONE}  (was {value_text(slot.previous)})"
            case SlotChange.SAME | SlotChange.ADDED:
                shown = styles.NONE if slot.value is None else value_text(slot.value)
        words = ["new"] if slot.change is SlotChange.ADDED else []
        words += ["seeded"] if slot.is_seeded else []
        return Line(
            Content.assemble((f"{sign} ", style), f"{name}  ", (shown, style)),
            tail=Content.styled(" ".join(words), styles.DIM),
        )

    def _tree(self, label: str, value: Json) -> list[Block]:
        lines = [*tree(label, value, path=label, toggled=self._toggled, most=max(1, self._room))]
        self._room -= len(lines)
        return [
            Block(None, (Line(line.text, 2 * line.depth),), line.path if line.is_branch else "")
            for line in lines
        ]

    def _artifact(self, artifact: ArtifactRow, is_over: bool) -> list[Block]:
        chunks = f"{artifact.chunks} chunk{'' if artifact.chunks == 1 else 's'}"
        progress = chunks if artifact.is_complete or is_over else f"{chunks}, more to come"
        title = Content.assemble(
            (f"{styles.ARTIFACT} ", styles.ACCENT),
            safe_line(artifact.name or artifact.artifact_id),
        )
        blocks = [_block(Line(title, tail=Content.styled(progress, styles.DIM)))]
        if artifact.pieces:
            blocks.append(_block(Line(Content(_newest(artifact)), 2)))
        # the text parts are drawn above as the one text that they make
        for number, part in enumerate(artifact.other_parts(MOST_PARTS), 1):
            if part.file is not None:
                blocks.append(self._file(part.file))
            else:
                blocks += self._tree(f"{safe_line(artifact.artifact_id)} part {number}", part.raw)
        return blocks

    def _file(self, file: File) -> Block:
        """Return name, type and size, or where it lies; nothing of it is opened or fetched."""
        name = f"file {len(self._files) + 1}"
        self._files[name] = file
        text = file_title(file)
        if file.encoded:
            tail = Content.assemble(
                (size(file.size_bytes), styles.DIM), ("  W", styles.KEY), " saves"
            )
            return Block(None, (Line(text, tail=tail),), name)
        where = Content.styled(safe_line(file.uri or "") or "no content", styles.DIM)
        return Block(None, (Line(text), Line(where, 2)), name)


def file_title(file: File) -> Content:
    return Content.assemble(
        (f"{styles.ARTIFACT} ", styles.ACCENT),
        safe_line(file.name or "unnamed"),
        (f"  {safe_line(file.media_type or 'type unknown')}", styles.DIM),
    )


def _searched(item: object) -> str:
    """Return all words of a slot, a DataPart, a file or an artifact, in small letters."""
    match item:
        case ArtifactRow():
            others = (part.raw for part in item.other_parts(MOST_PARTS))
            said: list[object] = [item.name, item.artifact_id, item.text, *others]
        case SlotRow():
            said = [item.name, item.value, item.previous]
        case File():
            said = [item.name, item.media_type, item.uri]
        case _:
            said = [item]
    return json.dumps(said, ensure_ascii=False).lower()


def _pretty(value: object) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode(errors="replace")


def _newest(artifact: ArtifactRow) -> str:
    """Return the end of a text that grows: what is new is there."""
    text, is_all = artifact.newest(NEWEST_CHARACTERS)
    cut = len(text) - NEWEST_CHARACTERS
    return safe_line(text) if is_all and cut <= 0 else f"… {safe_line(text[max(0, cut) :])}"


def _block(line: Line) -> Block:
    return Block(None, (line,))


def _notes(turn: TurnData) -> list[Line]:
    notes = [("reason", turn.reason), ("error type", turn.error_type)]
    lines = [
        Line(Content.assemble(f"{name.ljust(_NAME_WIDTH)}  ", (safe_line(value), styles.BAD)), 1)
        for name, value in notes
        if value
    ]
    if turn.error_info is not None:
        shown = value_text(turn.error_info)
        lines.append(Line(Content.assemble(f"{'error info'.ljust(_NAME_WIDTH)}  ", shown), 1))
    return lines


def explanation(exchange: int | None, mock: MockView) -> Trace | str | None:
    """Return the trace of a turn, or why there is none; None while it is still to come."""
    if exchange is None:
        return None
    trace_id = mock.trace_ids.get(exchange)
    if exchange in mock.untold:
        return "The turn is still running. It is explained once it ends."
    if trace_id is None and mock.model is None:
        return "Only a mock explains its turns, and none is connected."
    if trace_id is None:
        return (
            "This turn has no trace: it was sent before the mock was connected, or started no turn."
        )
    if trace_id in mock.lost_traces:
        return f"The mock no longer has {safe_line(trace_id)}: it keeps only the newest traces."
    return mock.traces.get(trace_id)


def trace_blocks(found: Trace | str | None) -> list[Block]:
    """Return the blocks of an explanation; those of a trace say what happened, in order."""
    if found is None:
        return []
    if isinstance(found, str):
        return [_block(Line(Content.styled(found, styles.DIM)))]
    trace = found
    return [
        *_section("Understanding", (_rule(rule) for rule in trace.rules)),
        *_section("Commands", (*map(_command, trace.commands), *map(_dropped, trace.dropped))),
        *_section("Flow", (_move(move) for move in trace.moves)),
        *_section("State", (_rule(rule) for rule in trace.states)),
    ]


def _section(title: str, lines: Iterable[Line]) -> list[Block]:
    found = list(lines) or [Line(Content.styled("nothing", styles.DIM), 2)]
    heading = _block(Line(Content.styled(title, "bold")))
    return [heading, *map(_block, found), _block(Line(Content("")))]


def _rule(rule: Rule) -> Line:
    """Return a rule that was tried; the one that fired has its own sign and style."""
    name, reason = safe_line(rule.name).ljust(_RULE_WIDTH), safe_line(rule.reason)
    if rule.has_fired:
        return Line(
            Content.assemble((f"{styles.DONE} {name}", styles.GOOD), f" {reason}"), 2, hang=2
        )
    return Line(Content.styled(f"· {name} {reason}", styles.DIM), 2, hang=2)


def _command(command: str) -> Line:
    return Line(Content.styled(safe_line(command), styles.ACCENT), 2)


def _dropped(dropped: tuple[str, str]) -> Line:
    command, reason = dropped
    text = Content.assemble((safe_line(command), styles.WARN), (f"  dropped: {reason}", styles.DIM))
    return Line(text, 2)


def _move(move: Move) -> Line:
    style = styles.WARN if move.name in _BAD_MOVES else styles.PLAIN
    style = styles.ACCENT if move.name in _FLOW_MOVES else style
    name = safe_line(move.name).ljust(_RULE_WIDTH)
    return Line(Content.assemble((f"{name}  ", style), safe_line(move.about)), 2, hang=2)
