"""The structured output: Rasa's DataPart field by field, every DataPart and artifact as a tree."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count, islice
from typing import assert_never

from inspector.core.commands import Json
from inspector.core.decoding import ChunkSource, Source, read_sent
from inspector.core.entries import Channel, RequestSent
from inspector.views.excerpts import NOTHING, Excerpt
from inspector.views.persistent import Index, Series
from inspector.views.reads import STARTS_TASK, Asked, Began, Call, Ended, Pushed, Read, Received
from inspector.wire.dialect import (
    ArtifactChunk,
    Ask,
    Part,
    Result,
    ResultKind,
    data_parts,
    texts,
)
from inspector.wire.json_values import at
from inspector.wire.slots import read_slots


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    """An artifact as assembled so far from `chunks` updates; `is_complete` after its last.

    `pieces` are its texts in short, `sources` the entries that hold its parts, `others` those of
    them that hold more than text. `exchange` and `channel` brought the last chunk.
    """

    artifact_id: str
    name: str
    exchange: int
    channel: Channel
    pieces: Excerpt = NOTHING
    sources: Series[ChunkSource] = field(default_factory=Series[ChunkSource])
    others: Series[ChunkSource] = field(default_factory=Series[ChunkSource])
    chunks: int = 0
    is_complete: bool = False

    @property
    def text(self) -> str:
        """All of its text, read from the bytes again."""
        return "".join(texts(tuple(self.parts)))

    def newest(self, characters: int) -> tuple[str, bool]:
        """The end of the text, up to so many characters of it; whether that is all."""
        return self.pieces.newest(characters)

    @property
    def parts(self) -> Iterator[Part]:
        """Every part as received, each read from the bytes again."""
        return (part for source in self.sources for part in _parts_in(source))

    def other_parts(self, most: int) -> tuple[Part, ...]:
        """The first parts that are not text."""
        parts = (part for source in self.others for part in _parts_in(source))
        return tuple(islice((part for part in parts if part.text is None), most))


def _parts_in(source: ChunkSource) -> Sequence[Part]:
    chunk = source.read()
    return () if chunk is None else chunk.parts


@dataclass(frozen=True, slots=True)
class Artifacts:
    """The artifacts of a turn; `rows` in the order in which they began."""

    rows: Series[ArtifactRow] = field(default_factory=Series[ArtifactRow])
    places: Index[str, int] = field(default_factory=Index[str, int], compare=False)


class SlotChange(StrEnum):
    SAME = "same"
    ADDED = "added"
    CHANGED = "changed"
    CLEARED = "cleared"


@dataclass(frozen=True, slots=True)
class SlotRow:
    """`is_seeded`: this turn's message carried the slot with this value."""

    name: str
    value: Json
    previous: Json
    change: SlotChange
    is_seeded: bool = False


@dataclass(frozen=True, slots=True)
class TurnData:
    """What one turn brought, read from the entries that hold it when somebody looks.

    `seq` names the newest entry; `latest` holds the DataParts that count, `latest_slots` those
    with slots, and `before` the slots of the context before the turn. `is_continued`: the
    conversation was under way before the log began, so a missing `before` means nothing.
    """

    seq: int
    exchange: int
    context_id: str | None = None
    state: str | None = None
    latest: Source | None = None
    latest_slots: Source | None = None
    before: Source | None = None
    asked: RequestSent | None = None
    is_continued: bool = False
    artifacts: Artifacts = field(default_factory=Artifacts)

    @property
    def parts(self) -> tuple[Json, ...]:
        """The contents of the DataParts."""
        return _contents(self.latest)

    @property
    def slots(self) -> tuple[SlotRow, ...]:
        """The slots, with what changed since the turn before."""
        before = _slots_of(self.before)
        if before is None and not self.is_continued:
            before = {}
        after = _slots_of(self.latest_slots)
        ask = read_sent(self.asked).ask if self.asked is not None else Ask()
        seeded, _ = read_slots(ask)
        return compare(before, (before or {}) if after is None else after, seeded)

    @property
    def active_flow(self) -> str | None:
        return _text(_last(self.parts, "active_flow"))

    @property
    def persisted_slots(self) -> Mapping[str, Json]:
        value = _last(self.parts, "persisted_slots")
        return value if isinstance(value, dict) else {}

    @property
    def reason(self) -> str | None:
        return _text(_last(self.parts, "reason"))

    @property
    def error_type(self) -> str | None:
        return _text(_last(self.parts, "error_type"))

    @property
    def error_info(self) -> Json:
        return _last(self.parts, "error_info")


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """An exchange whose replies add to a turn: to the one at `place`, once there is one."""

    asked: RequestSent
    is_continued: bool
    place: int | None = None


@dataclass(frozen=True, slots=True)
class DataView:
    """`turns` in order; `slots` is where each context's agent last reported its slots."""

    turns: Series[TurnData] = field(default_factory=Series[TurnData])
    slots: Index[str | None, Source] = field(default_factory=Index[str | None, Source])
    turn_of_task: Index[str, int] = field(default_factory=Index[str, int])
    turn_of_exchange: Index[int, int] = field(default_factory=Index[int, int])
    running: Mapping[int, OpenTurn] = field(default_factory=dict[int, OpenTurn])


EMPTY = DataView()


def step(view: DataView, read: Read) -> DataView:
    """Add the data of a reply or notification to its turn."""
    match read:
        case Asked(entry, call):
            if call.is_aside:
                return view
            opened = OpenTurn(entry, call.context_id is not None)
            return replace(view, running={**view.running, entry.exchange: opened})
        case Received(entry, call, _, result):
            opened = view.running.get(entry.exchange)
            if opened is None or result is None or result.kind == ResultKind.PUSH_CONFIG:
                return view
            return _receive(view, opened, read, result)
        case Ended(entry):
            if entry.exchange not in view.running:
                return view
            others = {key: one for key, one in view.running.items() if key != entry.exchange}
            return replace(view, running=others)
        case Pushed(entry, result):
            if result is None or not read.is_news:
                return view
            place = view.turn_of_task.get(result.task_id or "")
            opened = None if read.turn is None else view.running.get(read.turn)
            if place is None and opened is not None:
                view, place = _place_of(view, opened, entry.seq, result)
            elif place is None:
                view, place = _open(view, result, TurnData(entry.seq, entry.exchange))
            return _learn(view, place, read.source, Channel.PUSH, result)
        case Began():
            return view
        case _ as never:
            assert_never(never)


def _receive(view: DataView, opened: OpenTurn, received: Received, result: Result) -> DataView:
    """Open the turn at its first result, then let each result that is news add to it."""
    entry, place = received.entry, opened.place
    if place is None and received.call.purpose not in STARTS_TASK:
        place = view.turn_of_task.get(_task_of(received.call, result))
    if place is None:
        view, place = _place_of(view, opened, entry.seq, result)
    elif opened.place is None:
        view = _with_place(view, opened, place)
    return _learn(view, place, received.source, entry.channel, result) if received.is_news else view


def _place_of(view: DataView, opened: OpenTurn, seq: int, result: Result) -> tuple[DataView, int]:
    """The place of the turn that `opened` is about, which is a new one if it has none yet."""
    if opened.place is not None:
        return view, opened.place
    asked = opened.asked
    turn = TurnData(seq, asked.exchange, asked=asked, is_continued=opened.is_continued)
    view, place = _open(view, result, turn)
    return _with_place(view, opened, place), place


def _with_place(view: DataView, opened: OpenTurn, place: int) -> DataView:
    opened = replace(opened, place=place)
    return replace(view, running={**view.running, opened.asked.exchange: opened})


def _task_of(call: Call, result: Result) -> str:
    return result.task_id or call.task_id or ""


def _open(view: DataView, result: Result, turn: TurnData) -> tuple[DataView, int]:
    place = len(view.turns)
    turn = replace(turn, before=view.slots.get(result.context_id))
    return replace(view, turns=view.turns.append(turn)), place


def _learn(
    view: DataView, place: int, source: Source, channel: Channel, result: Result
) -> DataView:
    turn = view.turns[place]
    contents = data_parts(result.parts)
    has_slots = isinstance(_last(contents, "slots"), dict)
    turn = replace(
        turn,
        seq=source.seq,
        context_id=turn.context_id or result.context_id,
        state=result.state or turn.state,
        latest=source if contents else turn.latest,
        latest_slots=source if has_slots else turn.latest_slots,
        artifacts=take(turn.artifacts, result, source, channel, is_open=view.running.__contains__),
    )
    view = replace(view, turns=view.turns.set(place, turn))
    if view.turn_of_exchange.get(source.exchange) != place:
        found = view.turn_of_exchange.set(source.exchange, place)
        view = replace(view, turn_of_exchange=found)
    if has_slots:
        view = replace(view, slots=view.slots.set(turn.context_id, source))
    if result.task_id is not None and view.turn_of_task.get(result.task_id) != place:
        view = replace(view, turn_of_task=view.turn_of_task.set(result.task_id, place))
    return view


def _contents(source: Source | None) -> tuple[Json, ...]:
    result = None if source is None else source.result
    return () if result is None else data_parts(result.parts)


def _slots_of(source: Source | None) -> dict[str, Json] | None:
    slots = _last(_contents(source), "slots")
    return slots if isinstance(slots, dict) else None


def _last(contents: tuple[Json, ...], name: str) -> Json:
    """The value of `name` in the last DataPart that has one."""
    return next((one for part in reversed(contents) if (one := at(part, name)) is not None), None)


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def take(
    artifacts: Artifacts,
    result: Result,
    source: Source,
    channel: Channel,
    *,
    is_open: Callable[[int], bool],
) -> Artifacts:
    """`artifacts` with those of `result` begun, grown or replaced.

    An open exchange that brings an artifact chunk by chunk has precedence over other channels.
    """
    begun: dict[str, ArtifactRow] = {}
    for number, chunk in enumerate(result.artifacts):
        chunk_source = ChunkSource(source, number)
        if (twin := begun.get(chunk.artifact_id)) is not None:
            begun[chunk.artifact_id] = _next(twin, chunk, chunk_source, channel)
            continue
        place = artifacts.places.get(chunk.artifact_id)
        if place is None:
            begun[chunk.artifact_id] = _begin(chunk, chunk_source, channel)
            continue
        before = artifacts.rows[place]
        if before.exchange != source.exchange and is_open(before.exchange):
            continue
        row = _next(before, chunk, chunk_source, channel)
        artifacts = replace(artifacts, rows=artifacts.rows.set(place, row))
    places = zip(begun, count(len(artifacts.rows)), strict=False)
    return Artifacts(artifacts.rows.extend(begun.values()), artifacts.places.union(places))


def _next(
    before: ArtifactRow, chunk: ArtifactChunk, source: ChunkSource, channel: Channel
) -> ArtifactRow:
    if chunk.is_append:
        # a chunk that two channels bring is one chunk
        is_twin = channel is not before.channel and Channel.PUSH in (channel, before.channel)
        return before if is_twin else _grow(before, chunk, source)
    row = _begin(chunk, source, channel)
    if not before.others and row.pieces == before.pieces:
        return replace(before, is_complete=chunk.is_last, exchange=source.source.exchange)
    return row


_NONE: Series[ChunkSource] = Series()


def _begin(chunk: ArtifactChunk, source: ChunkSource, channel: Channel) -> ArtifactRow:
    return ArtifactRow(
        chunk.artifact_id,
        chunk.name,
        source.source.exchange,
        channel,
        pieces=NOTHING.extend(texts(chunk.parts)),
        sources=Series((source,)),
        others=Series((source,)) if _has_others(chunk) else _NONE,
        chunks=1,
        is_complete=chunk.is_last,
    )


def _grow(row: ArtifactRow, chunk: ArtifactChunk, source: ChunkSource) -> ArtifactRow:
    return replace(
        row,
        name=chunk.name or row.name,
        exchange=source.source.exchange,
        pieces=row.pieces.extend(texts(chunk.parts)),
        sources=row.sources.append(source),
        others=row.others.append(source) if _has_others(chunk) else row.others,
        chunks=row.chunks + 1,
        is_complete=chunk.is_last,
    )


def _has_others(chunk: ArtifactChunk) -> bool:
    return any(part.text is None for part in chunk.parts)


def compare(
    before: Mapping[str, Json] | None, after: Mapping[str, Json], seeded: Mapping[str, Json]
) -> tuple[SlotRow, ...]:
    """The slots of `after` in their order, then those that only `before` had, as cleared.

    `before` is None if the slots of the turn before are unknown: then nothing is a change.
    """
    if before is None:
        before = after
    rows = [
        SlotRow(
            name=name,
            value=value,
            previous=before.get(name),
            change=_change(before, name, value),
            is_seeded=name in seeded and seeded[name] == value,
        )
        for name, value in after.items()
    ]
    rows += [
        SlotRow(name, None, previous, SlotChange.CLEARED)
        for name, previous in before.items()
        if name not in after and previous is not None
    ]
    return tuple(rows)


def _change(before: Mapping[str, Json], name: str, value: Json) -> SlotChange:
    previous = before.get(name)
    if previous == value and isinstance(previous, bool) == isinstance(value, bool):
        return SlotChange.SAME
    if value is None:
        return SlotChange.CLEARED
    return SlotChange.ADDED if previous is None else SlotChange.CHANGED
