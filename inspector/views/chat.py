"""The conversation: what was said by whom, and with which slots."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from inspector.core.commands import Json
from inspector.core.entries import (
    ASIDE,
    Entry,
    Failed,
    FrameReceived,
    Purpose,
    PushReceived,
    RequestSent,
    ResponseEnded,
    ResponseStarted,
)
from inspector.views import exchanges
from inspector.views.exchanges import Exchange, Exchanges, find, reply_of
from inspector.views.problems import problem_of
from inspector.views.series import Series
from inspector.wire.jsonrpc import read_request
from inspector.wire.results import Result, read_result, texts
from inspector.wire.slots import read_slots, strip_markers
from inspector.wire.states import is_resting, parse_state
from inspector.wire.tree import list_at

# Rasa's base channel prints a button so (server.md OUT-2a); the payload may be missing.
# More lines than this at a text's end are no row of buttons.
MAX_OFFERS = 50
_OFFER = re.compile(r"([0-9]{1,3}): (.*?)(?: \((.*)\))?")


@dataclass(frozen=True, slots=True)
class Offer:
    """A button that the agent printed: `1: title (payload)`."""

    number: int
    title: str
    payload: str


@dataclass(frozen=True, slots=True)
class Said:
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
    """`said` in order; `running` holds the exchanges under way, `told` what each task last said."""

    said: Series[Said] = field(default_factory=Series[Said])
    running: Exchanges = field(default_factory=Series[Exchange])
    streamed: Mapping[int, str] = field(default_factory=dict[int, str])
    told: Mapping[str, Said] = field(default_factory=dict[str, Said])


EMPTY = Chat()


def step(view: Chat, entry: Entry) -> Chat:
    """Add what `entry` brings to the conversation: a turn, an answer or a problem."""
    if isinstance(entry, RequestSent) and entry.purpose in ASIDE:
        return view
    view = replace(view, running=exchanges.step(view.running, entry))
    exchange = find(view.running, entry.exchange)
    if exchange is None:
        return view
    match entry:
        case RequestSent():
            return _ask(view, entry)
        case ResponseStarted() | PushReceived():
            return view
        case FrameReceived():
            return _answer(view, entry)
        case ResponseEnded() | Failed():
            return _close(view, exchange, entry)
        case _ as never:
            assert_never(never)


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


def _ask(view: Chat, request: RequestSent) -> Chat:
    if request.purpose not in (Purpose.SEND, Purpose.STREAM):
        return view
    params = read_request(request.body).params
    slots, shapes = read_slots(params)
    text = "\n".join(texts(tuple(list_at(params, "message", "parts"))))
    said = Said(
        seq=request.seq,
        at_ms=request.at_ms,
        exchange=request.exchange,
        speaker="you",
        text=strip_markers(text),
        slots=slots,
        slot_shapes=shapes,
    )
    return replace(view, said=view.said.append(said))


def _answer(view: Chat, frame: FrameReceived) -> Chat:
    reply = reply_of(frame)
    if reply is None or reply.problem or reply.error is not None:
        return view
    result = read_result(reply.result)
    if result.kind == "artifact-update":
        streamed = view.streamed.get(frame.exchange, "") + _artifact_text(result)
        return replace(view, streamed={**view.streamed, frame.exchange: streamed})
    text = "\n\n".join(texts(result.parts))
    if not text and not is_resting(parse_state(result.state or "")):
        return view if result.kind != "message" else _tell(view, frame, result, text)
    text = text or _artifact_text(result) or view.streamed.get(frame.exchange, "")
    return _tell(view, frame, result, text)


def _tell(view: Chat, frame: FrameReceived, result: Result, text: str) -> Chat:
    """Add the agent's words, unless the task has already said just this."""
    text, offers = read_offers(text)
    said = Said(
        seq=frame.seq,
        at_ms=frame.at_ms,
        exchange=frame.exchange,
        speaker="agent",
        text=text,
        state=result.state,
        offers=offers,
    )
    key = result.task_id
    if key is not None:
        before = view.told.get(key)
        if before is not None and (before.text, before.state) == (said.text, said.state):
            return view
        view = replace(view, told={**view.told, key: said})
    return replace(view, said=view.said.append(said))


def _artifact_text(result: Result) -> str:
    return "".join(text for artifact in result.artifacts for text in texts(artifact.parts))


def _close(view: Chat, exchange: Exchange, entry: ResponseEnded | Failed) -> Chat:
    """Forget the exchange; where it failed, say so in the conversation."""
    others = Series(one for one in view.running if one.id != exchange.id)
    streamed = {key: text for key, text in view.streamed.items() if key != exchange.id}
    view = replace(view, running=others, streamed=streamed)
    problem = problem_of(exchange)
    if problem is None:
        return view
    lines = [problem.what, *(f"{name}: {text}" for name, text in problem.details)]
    said = Said(
        seq=entry.seq,
        at_ms=entry.at_ms,
        exchange=entry.exchange,
        speaker="agent",
        text="",
        problem="\n".join(lines),
    )
    return replace(view, said=view.said.append(said))
