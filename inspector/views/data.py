"""The structured output: Rasa's DataPart field by field, every DataPart and artifact as a tree."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from inspector.core.commands import Json
from inspector.core.entries import (
    ASIDE,
    Entry,
    Failed,
    FrameReceived,
    PushReceived,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.views.exchanges import reply_of
from inspector.views.series import Series
from inspector.views.slots import SlotRow, compare
from inspector.wire.jsonrpc import read_request
from inspector.wire.results import ArtifactChunk, Result, data_parts, read_result, texts
from inspector.wire.slots import read_slots
from inspector.wire.tree import at, text_at


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    """An artifact as assembled so far from `chunks` updates; `is_complete` after its last."""

    artifact_id: str
    name: str
    text: str
    parts: tuple[Json, ...]
    chunks: int
    is_complete: bool


@dataclass(frozen=True, slots=True)
class TurnData:
    """What one turn brought. `seq` names the entry; `parts` are the contents of its DataParts."""

    seq: int
    exchange: int
    context_id: str | None
    state: str | None
    active_flow: str | None
    slots: tuple[SlotRow, ...]
    persisted_slots: Mapping[str, Json] = field(default_factory=dict[str, Json])
    reason: str | None = None
    error_type: str | None = None
    error_info: Json = None
    parts: tuple[Json, ...] = ()
    artifacts: tuple[ArtifactRow, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn that may still learn more: its place, what it seeded, what the context knew before.

    `before` is None in a conversation that was under way before the log began.
    """

    seeded: Mapping[str, Json]
    is_continued: bool
    place: int | None = None
    before: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class DataView:
    """`turns` in order; `slots` is what each context's agent told last."""

    turns: Series[TurnData] = field(default_factory=Series[TurnData])
    slots: Mapping[str | None, Mapping[str, Json]] = field(
        default_factory=dict[str | None, Mapping[str, Json]]
    )
    running: Mapping[int, OpenTurn] = field(default_factory=dict[int, OpenTurn])


EMPTY = DataView()


def step(view: DataView, entry: Entry) -> DataView:
    """Add the data of a reply to the turn of its exchange."""
    match entry:
        case RequestSent():
            if entry.purpose in ASIDE:
                return view
            params = read_request(entry.body).params
            seeded, _ = read_slots(params)
            opened = OpenTurn(seeded, text_at(params, "message", "contextId") is not None)
            return replace(view, running={**view.running, entry.exchange: opened})
        case ResponseStarted() | PushReceived():
            return view
        case FrameReceived():
            reply = reply_of(entry) if entry.exchange in view.running else None
            if reply is None or reply.problem or reply.error is not None:
                return view
            return _learn(view, entry, read_result(reply.result))
        case ResponseEnded() | Failed():
            others = {key: one for key, one in view.running.items() if key != entry.exchange}
            return replace(view, running=others)
        case _ as never:
            assert_never(never)


def _learn(view: DataView, frame: FrameReceived, result: Result) -> DataView:
    """Open the turn at its first result, then let each result add to it."""
    running = view.running[frame.exchange]
    if running.place is None:
        before = view.slots.get(result.context_id)
        if before is None and not running.is_continued:
            before = {}
        running = replace(running, place=len(view.turns), before=before)
        turn = TurnData(frame.seq, frame.exchange, None, None, None, ())
        view = replace(
            view,
            turns=view.turns.append(turn),
            running={**view.running, frame.exchange: running},
        )
    place = running.place or 0
    contents = data_parts(result.parts)
    told = _slots_told(contents)
    after = (running.before or {}) if told is None else told
    turn = _add(view.turns[place], frame, result, contents)
    if told is not None or not turn.slots:
        turn = replace(turn, slots=compare(running.before, after, running.seeded))
    if told is not None:
        view = replace(view, slots={**view.slots, turn.context_id: told})
    return replace(view, turns=view.turns.set(place, turn))


def _add(
    turn: TurnData, frame: FrameReceived, result: Result, contents: tuple[Json, ...]
) -> TurnData:
    turn = replace(
        turn,
        seq=frame.seq,
        context_id=turn.context_id or result.context_id,
        state=result.state or turn.state,
        artifacts=assemble(turn.artifacts, result.artifacts),
    )
    if not contents:
        return turn
    return replace(
        turn,
        parts=contents,
        active_flow=_last_text(contents, "active_flow"),
        persisted_slots=_last_object(contents, "persisted_slots"),
        reason=_last_text(contents, "reason"),
        error_type=_last_text(contents, "error_type"),
        error_info=_last(contents, "error_info"),
    )


def assemble(
    rows: tuple[ArtifactRow, ...], chunks: Iterable[ArtifactChunk]
) -> tuple[ArtifactRow, ...]:
    """`rows` with `chunks` appended to their artifacts, or replacing them."""
    by_id = {row.artifact_id: row for row in rows}
    for chunk in chunks:
        before = by_id.get(chunk.artifact_id) if chunk.is_append else None
        text = "".join(texts(chunk.parts))
        by_id[chunk.artifact_id] = ArtifactRow(
            artifact_id=chunk.artifact_id,
            name=chunk.name or (before.name if before else ""),
            text=before.text + text if before else text,
            parts=before.parts + chunk.parts if before else chunk.parts,
            chunks=before.chunks + 1 if before else 1,
            is_complete=chunk.is_last,
        )
    return tuple(by_id.values())


def _slots_told(contents: tuple[Json, ...]) -> dict[str, Json] | None:
    slots = _last(contents, "slots")
    return slots if isinstance(slots, dict) else None


def _last(contents: tuple[Json, ...], name: str) -> Json:
    """The value of `name` in the last DataPart that has one."""
    return next((one for part in reversed(contents) if (one := at(part, name)) is not None), None)


def _last_text(contents: tuple[Json, ...], name: str) -> str | None:
    value = _last(contents, name)
    return value if isinstance(value, str) else None


def _last_object(contents: tuple[Json, ...], name: str) -> dict[str, Json]:
    value = _last(contents, name)
    return value if isinstance(value, dict) else {}
