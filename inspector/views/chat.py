"""The conversation: what was said by whom, and with which slots."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from inspector.core.commands import Json
from inspector.core.decoding import Source
from inspector.views.excerpts import MOST_SAID
from inspector.views.exchanges import Exchange, begin, extend
from inspector.views.persistent import Index, Series
from inspector.views.problems import Problem, problem_of
from inspector.views.reads import STARTS_TASK, Asked, Began, Call, Ended, Pushed, Read, Received
from inspector.views.text import short_digest
from inspector.wire.dialect import Result, ResultKind, texts
from inspector.wire.slots import read_slots, strip_markers
from inspector.wire.states import is_resting

# Rasa's base channel prints a button so (server.md OUT-2a); the payload may be missing.
# More lines than this at a text's end are not a row of buttons.
MAX_OFFERS = 50
# A longer line is no button; to find where its payload begins would cost the square of this.
LONGEST_OFFER = 2000
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

    `speaker` is "you" or "agent"; `problem` is set where the exchange failed. `context_id` is None
    as long as the agent has named none; `is_apart` says that the message before it belongs to
    another context. Of a long text only the start is in `text`: `more_characters` follow, which the
    `sources` hold.
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
    problem: Problem | None = None
    context_id: str | None = None
    is_apart: bool = False
    more_characters: int = 0
    sources: Sequence[Source] = ()

    def pieces(self) -> Iterator[str]:
        """The whole text, piece by piece; one of which only the start is here is read again."""
        if not self.more_characters:
            yield self.text
            return
        for source in self.sources:
            if (result := source.result) is not None:
                yield text_of(result)


@dataclass(frozen=True, slots=True)
class Words:
    """A text that grows: its start, its length, and the entries that hold all of it."""

    start: str = ""
    characters: int = 0
    sources: Series[Source] = field(default_factory=Series[Source])

    def extend(self, text: str, source: Source) -> "Words":
        return Words(
            (self.start + text[:MOST_SAID])[:MOST_SAID],
            self.characters + len(text),
            self.sources.append(source),
        )


@dataclass(frozen=True, slots=True)
class TaskTurns:
    """The exchanges of the first and the newest turn of a task."""

    first: int
    newest: int


@dataclass(frozen=True, slots=True)
class Chat:
    """`said` in order; `running` are the exchanges under way, `streamed` their artifacts' text.

    `known` has what each task has said in which of its `turns`, so that what several channels
    bring is said once, and what is said again in another turn is said again. `asked` are the
    places of the user's messages under way, `contexts` those in which each message was answered.
    """

    said: Series[ChatMessage] = field(default_factory=Series[ChatMessage])
    running: Mapping[int, Exchange] = field(default_factory=dict[int, Exchange])
    streamed: Mapping[int, Words] = field(default_factory=dict[int, Words])
    known: Index[tuple[str, str], bool] = field(default_factory=Index[tuple[str, str], bool])
    turns: Index[str, TaskTurns] = field(default_factory=Index[str, TaskTurns])
    asked: Mapping[int, int] = field(default_factory=dict[int, int])
    contexts: Index[str, str] = field(default_factory=Index[str, str])


EMPTY = Chat()


def step(view: Chat, read: Read) -> Chat:
    """Add what `read` brings to the conversation: a turn, an answer or a problem."""
    if isinstance(read, Pushed):
        if read.result is None or not read.is_news:
            return view
        return _answer(view, read.source, read.result, read.turn)
    if read.call.is_aside:
        return view
    if isinstance(read, Asked):
        running = {**view.running, read.entry.exchange: begin(read)}
        view = replace(view, running=running)
        return _ask(view, read) if read.call.redirected_from is None else _go_on(view, read)
    exchange = extend(view.running[read.entry.exchange], read)
    match read:
        case Began():
            return _with_running(view, exchange)
        case Received(result=result):
            view = _with_running(view, exchange)
            if result is None:
                return view
            turn = exchange.id if read.call.purpose in STARTS_TASK else None
            return _answer(_settle_context(view, read.call, result), read.source, result, turn)
        case Ended():
            return view if read.is_redirect else _close(view, exchange, read)
        case _ as never:
            assert_never(never)


def divide(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return `messages`, each marked where the one before it belongs to another context."""
    divided: list[ChatMessage] = []
    for said in messages:
        divided.append(_after(divided[-1] if divided else None, said))
    return divided


def _after(before: ChatMessage | None, said: ChatMessage) -> ChatMessage:
    is_apart = before is not None and before.context_id != said.context_id
    return said if said.is_apart is is_apart else replace(said, is_apart=is_apart)


def _say(view: Chat, said: ChatMessage) -> Chat:
    before = view.said[-1] if view.said else None
    return replace(view, said=view.said.append(_after(before, said)))


def _settle_context(view: Chat, call: Call, result: Result) -> Chat:
    """Put a message that named no context into the one in which the agent answers it."""
    place = view.asked.get(call.exchange)
    context_id = result.context_id
    if place is None or call.context_id is not None or context_id is None:
        return view
    if call.message_id is not None and view.contexts.get(call.message_id) != context_id:
        view = replace(view, contexts=view.contexts.set(call.message_id, context_id))
    if view.said[place].context_id == context_id:
        return view
    said = view.said.set(place, replace(view.said[place], context_id=context_id))
    for index in range(place, min(place + 2, len(said))):
        said = said.set(index, _after(said[index - 1] if index else None, said[index]))
    return replace(view, said=said)


def _context_of(view: Chat, exchange: int, named: str | None) -> str | None:
    """The context of an answer; one that names none stays where it was asked for."""
    if named is not None or not view.said:
        return named
    return view.said[view.asked.get(exchange, len(view.said) - 1)].context_id


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
    match = _OFFER.fullmatch(line) if len(line) <= LONGEST_OFFER else None
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
        context_id=asked.call.context_id or view.contexts.get(asked.call.message_id or ""),
    )
    view = _with_turn(view, asked.call.task_id, request.exchange)
    asked_at = {**view.asked, request.exchange: len(view.said)}
    return _say(replace(view, asked=asked_at), said)


def _go_on(view: Chat, asked: Asked) -> Chat:
    """A redirect goes on with what was said in the exchange that was redirected."""
    before, entry = asked.call.redirected_from, asked.entry
    running = {key: one for key, one in view.running.items() if key != before}
    place = view.asked.get(before or 0)
    if place is None:
        is_known = before in view.running
        return replace(view, running=running) if is_known else _ask(view, asked)
    others = {key: one for key, one in view.asked.items() if key != before}
    said = replace(view.said[place], exchange=entry.exchange, seq=entry.seq)
    view = replace(view, running=running, said=view.said.set(place, said))
    view = _with_turn(view, asked.call.task_id, entry.exchange)
    return replace(view, asked={**others, entry.exchange: place})


def _with_turn(view: Chat, task_id: str | None, exchange: int) -> Chat:
    """Note that the turn of `exchange` is about the task."""
    if task_id is None:
        return view
    before = view.turns.get(task_id)
    if before is not None and exchange <= before.newest:
        return view
    turns = TaskTurns(before.first if before is not None else exchange, exchange)
    return replace(view, turns=view.turns.set(task_id, turns))


def _turn_of(view: Chat, task_id: str, turn: int | None) -> int:
    """The exchange of the turn that an answer belongs to; 0 for the task's first.

    A notification may come before the reply that tells which turn made its task.
    """
    turns = view.turns.get(task_id)
    if turns is None:
        return 0
    turn = turns.newest if turn is None else turn
    return 0 if turn == turns.first else turn


def _answer(view: Chat, source: Source, result: Result, turn: int | None) -> Chat:
    """Add what `result` says; `turn` is the exchange of its turn, None for the newest."""
    if turn is not None:
        view = _with_turn(view, result.task_id, turn)
    if result.kind == ResultKind.ARTIFACT_UPDATE:
        return _stream(view, source, result)
    said = "\n\n".join(texts(result.parts))
    if not said and not is_resting(result.state):
        is_message = result.kind == ResultKind.MESSAGE
        return _tell(view, source, result, Words(), turn) if is_message else view
    words = Words().extend(said or _artifact_text(result), source)
    if not words.characters:
        words = view.streamed.get(source.exchange, words)
    return _tell(view, source, result, words, turn)


def _stream(view: Chat, source: Source, result: Result) -> Chat:
    """Keep where a chunk's text is until the task ends, should the end be silent."""
    if source.exchange not in view.running:
        return view
    before = view.streamed.get(source.exchange) or Words()
    streamed = before.extend(_artifact_text(result), source)
    return replace(view, streamed={**view.streamed, source.exchange: streamed})


def _tell(view: Chat, source: Source, result: Result, words: Words, turn: int | None) -> Chat:
    """Add the agent's words, unless the task has said just this in this turn."""
    text, more = words.start, words.characters - len(words.start)
    # buttons stand at the end, which a long text has elsewhere
    text, offers = (text, ()) if more else read_offers(text)
    if result.task_id is not None:
        number = _turn_of(view, result.task_id, turn)
        content = f"{number} {result.state} {more} {text}"
        key = (result.task_id, short_digest(content.encode(errors="replace")))
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
        context_id=_context_of(view, source.exchange, result.context_id),
        more_characters=more,
        sources=words.sources if more else (),
    )
    return _say(view, said)


def text_of(result: Result) -> str:
    """What a result says: the words of its message, else the text of its artifacts."""
    return "\n\n".join(texts(result.parts)) or _artifact_text(result)


def _artifact_text(result: Result) -> str:
    return "".join(text for artifact in result.artifacts for text in texts(artifact.parts))


def _close(view: Chat, exchange: Exchange, ended: Ended) -> Chat:
    """Forget the exchange; where it failed, say so in the conversation."""
    running = {key: one for key, one in view.running.items() if key != exchange.id}
    streamed = {key: text for key, text in view.streamed.items() if key != exchange.id}
    asked = {key: place for key, place in view.asked.items() if key != exchange.id}
    context_id = _context_of(view, exchange.id, exchange.context_id)
    view = replace(view, running=running, streamed=streamed, asked=asked)
    problem = problem_of(exchange)
    if problem is None:
        return view
    said = ChatMessage(
        seq=ended.entry.seq,
        at_ms=ended.entry.at_ms,
        exchange=exchange.id,
        speaker="agent",
        text="",
        problem=problem,
        context_id=context_id,
    )
    return _say(view, said)
