"""The structured output: Rasa's DataPart field by field, every DataPart and artifact as a tree."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from inspector.core.commands import Json
from inspector.core.entries import Channel, RequestSent
from inspector.views.artifacts import Artifacts, take
from inspector.views.index import Index
from inspector.views.reads import (
    STARTS_TASK,
    Asked,
    Began,
    Call,
    Heard,
    Over,
    Pushed,
    Read,
    Source,
    result_of,
)
from inspector.views.series import Series
from inspector.views.slots import SlotRow, compare
from inspector.wire.jsonrpc import read_request
from inspector.wire.results import PUSH_CONFIG, Result, data_parts
from inspector.wire.slots import read_slots
from inspector.wire.tree import at


@dataclass(frozen=True, slots=True)
class TurnData:
    """What one turn brought, read from the entries that hold it when somebody looks.

    `seq` names the newest entry; `told` holds the DataParts that count and `told_slots` those with
    slots; `before` held the slots of the context before the turn. `is_continued`: the
    conversation was under way before the log began, so a missing `before` says nothing.
    """

    seq: int
    exchange: int
    context_id: str | None = None
    state: str | None = None
    told: Source | None = None
    told_slots: Source | None = None
    before: Source | None = None
    asked: RequestSent | None = None
    is_continued: bool = False
    artifacts: Artifacts = field(default_factory=Artifacts)

    @property
    def parts(self) -> tuple[Json, ...]:
        """The contents of the DataParts."""
        return _contents(self.told)

    @property
    def slots(self) -> tuple[SlotRow, ...]:
        """The slots, with what changed since the turn before."""
        before = _slots_of(self.before)
        if before is None and not self.is_continued:
            before = {}
        after = _slots_of(self.told_slots)
        params = read_request(self.asked.body).params if self.asked is not None else None
        seeded, _ = read_slots(params)
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
    """`turns` in order; `slots` is where each context's agent told its slots last."""

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
        case Heard(entry, call, _, result):
            opened = view.running.get(entry.exchange)
            if opened is None or result is None or result.kind == PUSH_CONFIG:
                return view
            return _hear(view, opened, read, result)
        case Over(entry):
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
            return _learn(view, place, entry, Channel.PUSH, result)
        case Began():
            return view
        case _ as never:
            assert_never(never)


def _hear(view: DataView, opened: OpenTurn, heard: Heard, result: Result) -> DataView:
    """Open the turn at its first result, then let each result that is news add to it."""
    entry, place = heard.entry, opened.place
    if place is None and heard.call.purpose not in STARTS_TASK:
        place = view.turn_of_task.get(_task_of(heard.call, result))
    if place is None:
        view, place = _place_of(view, opened, entry.seq, result)
    elif opened.place is None:
        view = _with_place(view, opened, place)
    return _learn(view, place, entry, entry.channel, result) if heard.is_news else view


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


def _learn(view: DataView, place: int, entry: Source, channel: Channel, result: Result) -> DataView:
    turn = view.turns[place]
    contents = data_parts(result.parts)
    has_slots = isinstance(_last(contents, "slots"), dict)
    turn = replace(
        turn,
        seq=entry.seq,
        context_id=turn.context_id or result.context_id,
        state=result.state or turn.state,
        told=entry if contents else turn.told,
        told_slots=entry if has_slots else turn.told_slots,
        artifacts=take(turn.artifacts, result, entry, channel, is_open=view.running.__contains__),
    )
    view = replace(view, turns=view.turns.set(place, turn))
    if view.turn_of_exchange.get(entry.exchange) != place:
        found = view.turn_of_exchange.set(entry.exchange, place)
        view = replace(view, turn_of_exchange=found)
    if has_slots:
        view = replace(view, slots=view.slots.set(turn.context_id, entry))
    if result.task_id is not None and view.turn_of_task.get(result.task_id) != place:
        view = replace(view, turn_of_task=view.turn_of_task.set(result.task_id, place))
    return view


def _contents(source: Source | None) -> tuple[Json, ...]:
    result = None if source is None else result_of(source)
    return () if result is None else data_parts(result.parts)


def _slots_of(source: Source | None) -> dict[str, Json] | None:
    slots = _last(_contents(source), "slots")
    return slots if isinstance(slots, dict) else None


def _last(contents: tuple[Json, ...], name: str) -> Json:
    """The value of `name` in the last DataPart that has one."""
    return next((one for part in reversed(contents) if (one := at(part, name)) is not None), None)


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
