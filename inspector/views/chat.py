"""The conversation: what was said by whom, and with which slots."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from inspector.core.commands import Json
from inspector.core.decoding import Source
from inspector.views.exchanges import Exchange, begin, extend
from inspector.views.persistent import Index, Series
from inspector.views.problems import problem_of
from inspector.views.reads import STARTS_TASK, Asked, Began, Ended, Pushed, Read, Received
from inspector.views.text import short_digest
from inspector.wire.dialect import Result, ResultKind, texts
from inspector.wire.slots import read_slots, strip_markers
from inspector.wire.states import is_resting

# Rasa's base channel prints a button so (server.md OUT-2a); the payload may be missing.
# More lines than this at a text's end are not a row of buttons.
MAX_OFFERS = 50
_OFFER = re.compile(r"([0-9]{1,3}): (.*?)(?: \((.*)\))?")


@dataclass(frozen=True, slots=True)
class Offer:
    """A button that the agent printed: `1: title (payload)`."""

    number: int
    title: str
    payload: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of the conversation. `seq` names the entry it came from.

    `speaker` is "you" or "agent"; `problem` is set where the exchange failed: what happened, the
    likely cause and what to try.
    """

    seq: int
    at_ms: float
    exchange: int
    speaker: str
    text: str
    state: str | None = None
    slots: Mapping[str, Json] = field(default_factory=dict[str, Json])
    slot_shapes: tuple[str, ...] = ()
    offers: tuple[Offer, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Chat:
    """`said` in order; `running` are the exchanges under way, `streamed` their artifacts' text.

    `known` has what each task has said, and `turns` how often it was spoken to, so that
    what several channels bring is said once, and what is said again in a later turn is said again.
    """

    said: Series[ChatMessage] = field(default_factory=Series[ChatMessage])
    running: Mapping[int, Exchange] = field(default_factory=dict[int, Exchange])
    streamed: Mapping[int, Series[str]] = field(default_factory=dict[int, Series[str]])
    known: Index[tuple[str, str], bool] = field(default_factory=Index[tuple[str, str], bool])
    turns: Index[str, int] = field(default_factory=Index[str, int])


EMPTY = Chat()


def step(view: Chat, read: Read) -> Chat:
    """Add what `read` brings to the conversation: a turn, an answer or a problem."""
    if isinstance(read, Pushed):
        if read.result is None or not read.is_news:
            return view
        return _answer(view, read.source, read.result)
    if read.call.is_aside:
        return view
    if isinstance(read, Asked):
        running = {**view.running, read.entry.exchange: begin(read)}
        return _ask(replace(view, running=running), read)
    exchange = extend(view.running[read.entry.exchange], read)
    match read:
        case Began():
            return _with_running(view, exchange)
        case Received(result=result):
            view = _with_running(view, exchange)
            return view if result is None else _answer(view, read.source, result)
        case Ended():
            return _close(view, exchange, read)
        case _ as never:
            assert_never(never)


def _with_running(view: Chat, exchange: Exchange) -> Chat:
    return replace(view, running={**view.running, exchange.id: exchange})


def read_offers(text: str) -> tuple[str, tuple[Offer, ...]]:
    """Cut the buttons off the end of `text`: lines numbered from 1 on, nothing after them."""
    lines = text.split("\n")
    for start in range(max(0, len(lines) - MAX_OFFERS), len(lines)):
        offers = [_read_offer(line) for line in lines[start:]]
        found = tuple(offer for offer in offers if offer is not None)
        numbers = [offer.number for offer in found]
        if len(found) == len(offers) and numbers == list(range(1, len(found) + 1)):
            return "\n".join(lines[:start]), found
    return text, ()


def _read_offer(line: str) -> Offer | None:
    match = _OFFER.fullmatch(line)
    if match is None:
        return None
    title = match[2]
    return Offer(int(match[1]), title, match[3] if match[3] is not None else title)


def _ask(view: Chat, asked: Asked) -> Chat:
    if asked.call.purpose not in STARTS_TASK:
        return view
    request, message = asked.entry, asked.ask.message
    slots, shapes = read_slots(asked.ask)
    text = "\n".join(texts(message.parts if message else ()))
    said = ChatMessage(
        seq=request.seq,
        at_ms=request.at_ms,
        exchange=request.exchange,
        speaker="you",
        text=asked.raw_body or strip_markers(text),
        slots=slots,
        slot_shapes=shapes,
    )
    task_id = asked.call.task_id
    if task_id is not None:
        view = replace(view, turns=view.turns.set(task_id, view.turns.get(task_id, 0) + 1))
    return replace(view, said=view.said.append(said))


def _answer(view: Chat, source: Source, result: Result) -> Chat:
    if result.kind == ResultKind.ARTIFACT_UPDATE:
        return _stream(view, source, result)
    text = "\n\n".join(texts(result.parts))
    if not text and not is_resting(result.state):
        return view if result.kind != ResultKind.MESSAGE else _tell(view, source, result, text)
    text = text or _artifact_text(result) or "".join(view.streamed.get(source.exchange, ()))
    return _tell(view, source, result, text)


def _stream(view: Chat, source: Source, result: Result) -> Chat:
    """Keep a chunk's text until the task ends, should the end be silent."""
    if source.exchange not in view.running:
        return view
    before = view.streamed.get(source.exchange) or Series()
    streamed = before.append(_artifact_text(result))
    return replace(view, streamed={**view.streamed, source.exchange: streamed})


def _tell(view: Chat, source: Source, result: Result, text: str) -> Chat:
    """Add the agent's words, unless the task has said just this in this turn."""
    text, offers = read_offers(text)
    if result.task_id is not None:
        turn = view.turns.get(result.task_id, 0)
        digest = short_digest(f"{turn} {result.state} {text}".encode(errors="replace"))
        key = (result.task_id, digest)
        if key in view.known:
            return view
        view = replace(view, known=view.known.set(key, True))
    said = ChatMessage(
        seq=source.seq,
        at_ms=source.at_ms,
        exchange=source.exchange,
        speaker="agent",
        text=text,
        state=result.state,
        offers=offers,
    )
    return replace(view, said=view.said.append(said))


def _artifact_text(result: Result) -> str:
    return "".join(text for artifact in result.artifacts for text in texts(artifact.parts))


def _close(view: Chat, exchange: Exchange, ended: Ended) -> Chat:
    """Forget the exchange; where it failed, say so in the conversation."""
    running = {key: one for key, one in view.running.items() if key != exchange.id}
    streamed = {key: text for key, text in view.streamed.items() if key != exchange.id}
    view = replace(view, running=running, streamed=streamed)
    problem = problem_of(exchange)
    if problem is None:
        return view
    lines = [problem.what, *(f"{name}: {text}" for name, text in problem.details)]
    said = ChatMessage(
        seq=ended.entry.seq,
        at_ms=ended.entry.at_ms,
        exchange=exchange.id,
        speaker="agent",
        text="",
        problem="\n".join(lines),
    )
    return replace(view, said=view.said.append(said))
