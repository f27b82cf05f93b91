"""What each turn came to, in short: its task's states, words, slots and flow."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import assert_never

from inspector.core.commands import Json
from inspector.core.entries import Entry, Failed, RequestSent
from inspector.views.persistent import Index, Series
from inspector.views.reading import STARTS_TASK, read_log
from inspector.views.reads import Asked, Began, Ended, Pushed, Read, Received
from inspector.wire.dialect import Result, ResultKind, data_parts, texts
from inspector.wire.json_values import at, object_at, text_at
from inspector.wire.slots import strip_markers
from inspector.wire.states import is_resting

# What differs from run to run although nothing was changed: ids and times.
_UUID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_TIMESTAMP = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
MASK = "…"
ARROW = " → "
# More than this of a text is not compared.
MOST_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """`states` in the order reported, each once in a row; `problem` is why there was no answer."""

    exchange: int
    title: str
    context_id: str | None
    task_id: str | None = None
    message_id: str | None = None
    states: tuple[str, ...] = ()
    text: str = ""
    streamed: str = ""
    slots: Mapping[str, Json] = field(default_factory=dict[str, Json])
    active_flow: str | None = None
    problem: str = ""
    has_result: bool = False
    is_over: bool = False

    @property
    def state(self) -> str | None:
        return self.states[-1] if self.states else None

    @property
    def said(self) -> str:
        """The agent's words; those of its artifacts where it said nothing else."""
        return self.text or self.streamed


@dataclass(frozen=True, slots=True)
class Outcomes:
    """`by_exchange` has every turn, `turns` the exchanges of each context in order."""

    by_exchange: Index[int, Outcome] = field(default_factory=Index[int, Outcome])
    turns: Index[str, Series[int]] = field(default_factory=Index[str, Series[int]])
    by_task: Index[str, int] = field(default_factory=Index[str, int])


EMPTY = Outcomes()


def step(view: Outcomes, read: Read) -> Outcomes:
    """Take what `read` reports of a turn."""
    match read:
        case Asked(call=call) if call.purpose in STARTS_TASK:
            before = view.by_exchange.get(call.redirected_from or 0)
            return _begin(view, read) if before is None else _go_on(view, before, call.exchange)
        case Received(result=result, call=call) if result is not None:
            return _learn(view, call.exchange, result)
        case Received(reply=reply, call=call) if reply is not None and call.purpose in STARTS_TASK:
            error = reply.error.text if reply.error else reply.problem
            status = f"HTTP {call.status}: " if reply.problem else ""
            return _fail(view, call.exchange, status + error)
        case Ended(entry=entry, call=call) if call.purpose in STARTS_TASK and not read.is_redirect:
            view = _end(view, call.exchange)
            if isinstance(entry, Failed):
                return _fail(view, call.exchange, f"{entry.kind}: {entry.message}")
            return view
        case Asked() | Began() | Received() | Ended() | Pushed():
            return view
        case _ as never:
            assert_never(never)


def _begin(view: Outcomes, asked: Asked) -> Outcomes:
    parts = asked.ask.message.parts if asked.ask.message else ()
    call = asked.call
    outcome = Outcome(
        exchange=call.exchange,
        title=asked.raw_body or strip_markers(" ".join(texts(parts))),
        context_id=call.context_id,
        message_id=call.message_id,
    )
    view = replace(view, by_exchange=view.by_exchange.set(call.exchange, outcome))
    return view if call.context_id is None else _file(view, call.context_id, call.exchange)


def _go_on(view: Outcomes, before: Outcome, exchange: int) -> Outcomes:
    """A redirect goes on with the turn of the exchange that was redirected."""
    by_exchange = view.by_exchange.without(before.exchange)
    view = _put(replace(view, by_exchange=by_exchange), replace(before, exchange=exchange))
    if before.context_id is None:
        return view
    turns = view.turns.get(before.context_id, Series())
    moved = Series(exchange if one == before.exchange else one for one in turns)
    return replace(view, turns=view.turns.set(before.context_id, moved))


def _file(view: Outcomes, context_id: str, exchange: int) -> Outcomes:
    turns = view.turns.get(context_id, Series()).append(exchange)
    return replace(view, turns=view.turns.set(context_id, turns))


def _learn(view: Outcomes, exchange: int, result: Result) -> Outcomes:
    """A poll or another stream adds to the turn that began its task, until that rests."""
    outcome = view.by_exchange.get(exchange)
    if outcome is None and result.task_id is not None:
        outcome = view.by_exchange.get(view.by_task.get(result.task_id, 0))
        outcome = None if outcome is None or is_resting(outcome.state) else outcome
    if outcome is None:
        return view
    if outcome.context_id is None and result.context_id is not None:
        view = _file(view, result.context_id, outcome.exchange)
    if outcome.task_id is None and result.task_id is not None:
        view = replace(view, by_task=view.by_task.set(result.task_id, outcome.exchange))
    return _put(view, _add(outcome, result))


def _add(outcome: Outcome, result: Result) -> Outcome:
    state = result.state
    is_new = state is not None and state != outcome.state
    contents = data_parts(result.parts)
    slots = next((object_at(one, "slots") for one in contents if at(one, "slots")), None)
    flow = next((text_at(one, "active_flow") for one in contents if at(one, "state")), None)
    streamed = "".join(text for one in result.artifacts for text in texts(one.parts))
    is_chunk = result.kind == ResultKind.ARTIFACT_UPDATE
    return replace(
        outcome,
        context_id=outcome.context_id or result.context_id,
        task_id=outcome.task_id or result.task_id,
        states=(*outcome.states, state) if is_new and state is not None else outcome.states,
        text="\n\n".join(texts(result.parts))[:MOST_CHARACTERS] or outcome.text,
        streamed=((outcome.streamed if is_chunk else "") + streamed)[:MOST_CHARACTERS]
        or outcome.streamed,
        slots=outcome.slots if slots is None else slots,
        active_flow=flow if contents else outcome.active_flow,
        has_result=True,
    )


def _fail(view: Outcomes, exchange: int, problem: str) -> Outcomes:
    outcome = view.by_exchange[exchange]
    return _put(view, replace(outcome, problem=outcome.problem or problem))


def _end(view: Outcomes, exchange: int) -> Outcomes:
    return _put(view, replace(view.by_exchange[exchange], is_over=True))


def _put(view: Outcomes, outcome: Outcome) -> Outcomes:
    return replace(view, by_exchange=view.by_exchange.set(outcome.exchange, outcome))


@dataclass(frozen=True, slots=True)
class Change:
    """`what` is state, text, flow, transitions, answer, or a slot's name after `slot `."""

    what: str
    old: str
    new: str


def compare(old: Outcome, new: Outcome) -> tuple[Change, ...]:
    """What changed in `new`, ids and times masked; nothing while it is not over."""
    if not new.is_over:
        return ()
    if old.problem or new.problem:
        return _change("answer", old.problem or "came", new.problem or "came")
    return (
        *_change("state", old.state or "none", new.state or "none"),
        *_change("flow", old.active_flow or "none", new.active_flow or "none"),
        *_change("text", _masked(old.said, old), _masked(new.said, new)),
        *_slots(old.slots, new.slots),
        *_change("transitions", ARROW.join(old.states[:-1]), ARROW.join(new.states[:-1])),
    )


def _change(what: str, old: str, new: str) -> tuple[Change, ...]:
    return () if old == new else (Change(what, old, new),)


def _slots(old: Mapping[str, Json], new: Mapping[str, Json]) -> tuple[Change, ...]:
    names = dict.fromkeys((*old, *new))
    return tuple(
        change
        for name in names
        for change in _change(f"slot {name}", _spell(old.get(name)), _spell(new.get(name)))
    )


def _spell(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "none" if value is None else _TIMESTAMP.sub(MASK, _UUID.sub(MASK, text))


def _masked(text: str, outcome: Outcome) -> str:
    text = _TIMESTAMP.sub(MASK, _UUID.sub(MASK, text))
    ids = (outcome.context_id, outcome.task_id, outcome.message_id)
    names = "|".join(re.escape(one) for one in ids if one)
    # an id that a user chose may be a word, or stand inside one
    return re.sub(rf"(?<![\w-])(?:{names})(?![\w-])", MASK, text) if names else text


@dataclass(frozen=True, slots=True)
class TurnPair:
    """A turn and the one in its place; None where one of the sessions is shorter."""

    old: Outcome | None
    new: Outcome | None
    changes: tuple[Change, ...]


def turns_of(entries: Sequence[Entry]) -> tuple[Outcome, ...]:
    """What each turn came to, in the order in which they were sent; replays are left out."""
    view = EMPTY
    for read in read_log(entries):
        view = step(view, read)
    sent = (one for one in entries if isinstance(one, RequestSent) and not one.is_replay)
    turns = (one.exchange for one in sent if one.purpose in STARTS_TASK)
    # a turn that was redirected has the number of its last exchange
    return tuple(view.by_exchange[one] for one in turns if one in view.by_exchange)


def compare_sessions(before: Sequence[Outcome], after: Sequence[Outcome]) -> tuple[TurnPair, ...]:
    """Turn by turn what changed in `after`; ids and times are masked."""
    return tuple(TurnPair(old, new, _changes(old, new)) for old, new in zip_longest(before, after))


def _changes(old: Outcome | None, new: Outcome | None) -> tuple[Change, ...]:
    if old is None or new is None:
        return (Change("turn", "none" if old is None else old.title, new.title if new else "none"),)
    said = () if old.title == new.title else (Change("said", old.title, new.title),)
    return (*said, *compare(old, new))
