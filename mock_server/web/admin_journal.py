"""`/__admin/requests`: what was received, its outcome, and near misses of what a test expected."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, Field, JsonValue
from starlette.requests import Request
from starlette.responses import Response

from mock_server.dialogue.model import Json
from mock_server.faults.effects import STRICT
from mock_server.faults.fault import ArmedFaults
from mock_server.faults.matching import Match, Miss, misses, reaches
from mock_server.tasks.json_text import parse_json
from mock_server.tasks.task import TaskState
from mock_server.web.admin_operations import (
    NOT_FOUND,
    Refused,
    answer,
    as_model,
    query_as,
    read_json,
)
from mock_server.web.journal import Exchange, Journal

HIDDEN = "[hidden]"
SECRET_HEADERS = frozenset(
    {"authorization", "cookie", "proxy-authorization", "x-a2a-notification-token"}
)
SECRET_KEYS = frozenset({"token", "credentials", "secret", "password"})
NEAR_MISSES = 10


class Criteria(BaseModel):
    """All that is given must hold; `*` stands for any text in `method` and `path`."""

    model_config = STRICT
    method: str | None = Field(default=None, description="JSON-RPC method")
    path: str | None = Field(default=None, description="path of the URL")
    context: str | None = Field(default=None, description="of the request or of its answer")
    task: str | None = Field(default=None, description="of the answer, else of the request")
    message: str | None = Field(default=None, description="`messageId`")
    text: str | None = Field(default=None, description="regular expression in the user's text")
    state: TaskState | None = Field(default=None, description="the task's, in the answer")
    status: int | None = Field(default=None, description="HTTP status of the answer")
    fault: str | None = Field(default=None, description="a fault that hit the request")


class Listing(Criteria):
    """Criteria of a list: the last `limit` that meet them, those after number `after` only."""

    limit: int = Field(default=100, ge=1, le=1000)
    after: int = Field(default=0, ge=0)


class NearMissQuery(Criteria):
    """Criteria that were expected to hold, or the id of a fault that was expected to hit."""

    unfired: str | None = Field(default=None, description="id of a fault that did not hit")


@dataclass(frozen=True, slots=True)
class Received:
    """A request and its outcome; null is what it did not say, or what has not happened yet.

    `events` counts the pieces of the answer's body: a stream's events, comments included.
    """

    number: int
    at: datetime
    verb: str
    path: str
    method: str | None
    context: str | None
    task: str | None
    message: str | None
    text: str | None
    status: int | None
    state: str | None
    error: int | None
    events: int
    faults: tuple[str, ...]
    seconds: float | None


@dataclass(frozen=True, slots=True)
class ReceivedList:
    requests: tuple[Received, ...]


@dataclass(frozen=True, slots=True)
class Detail:
    """A request with what was sent; `answer` is a stream's last event."""

    request: Received
    headers: dict[str, str]
    body: JsonValue
    answer: JsonValue


@dataclass(frozen=True, slots=True)
class Count:
    count: int


@dataclass(frozen=True, slots=True)
class NearMiss:
    request: Received
    misses: tuple[Miss, ...]


@dataclass(frozen=True, slots=True)
class NearMissList:
    """The nearest first."""

    near_misses: tuple[NearMiss, ...]


@dataclass(frozen=True, slots=True)
class JournalHandlers:
    """The routes below `requests`."""

    journal: Journal
    faults: ArmedFaults

    async def list(self, request: Request) -> Response:
        listing = query_as(Listing, request)
        found = [e for e in self._meeting(listing) if e.number > listing.after]
        return answer(ReceivedList(tuple(_received(e) for e in found[-listing.limit :])))

    async def show(self, request: Request) -> Response:
        number = request.path_params["number"]
        for exchange in self.journal:
            if exchange.number == number:
                return answer(_detail(exchange))
        raise Refused(NOT_FOUND, f"request {number} is not in the journal")

    async def clear(self, _: Request) -> Response:
        self.journal.clear()
        return answer(Count(0))

    async def count(self, request: Request) -> Response:
        criteria = as_model(Criteria, await read_json(request))
        return answer(Count(sum(1 for _ in self._meeting(criteria))))

    async def near_misses(self, request: Request) -> Response:
        query = query_as(NearMissQuery, request)
        missed = [
            NearMiss(_received(exchange), found)
            for exchange in self.journal
            if (found := self._missed(query, exchange))
        ]
        missed.sort(key=lambda miss: (len(miss.misses), -miss.request.number))
        return answer(NearMissList(tuple(missed[:NEAR_MISSES])))

    def _meeting(self, criteria: Criteria) -> Iterator[Exchange]:
        return (e for e in self.journal if not _criteria_missed(criteria, e))

    def _missed(self, query: NearMissQuery, exchange: Exchange) -> tuple[Miss, ...]:
        if query.unfired is None:
            return _criteria_missed(query, exchange)
        armed = self.faults.by_id.get(query.unfired)
        if armed is None:
            raise Refused(NOT_FOUND, f"no fault {query.unfired!r} is armed")
        request = exchange.asked()
        found = misses(armed.fault.match, request)
        if not reaches(armed.fault.effect, request):
            effect = armed.fault.effect
            found = (Miss("reach", effect.reach.value, request.method), *found)
        return found


def _criteria_missed(criteria: Criteria, exchange: Exchange) -> tuple[Miss, ...]:
    request, outcome = exchange.request(), exchange.outcome()
    match = Match(
        method=criteria.method,
        path=criteria.path,
        context=criteria.context,
        task=criteria.task,
        message=criteria.message,
        text=criteria.text,
    )
    wanted = (
        ("state", criteria.state, outcome.state),
        ("status", criteria.status, exchange.status),
    )
    others = [
        Miss(name, str(expected), None if found is None else str(found))
        for name, expected, found in wanted
        if expected is not None and expected != found
    ]
    if criteria.fault is not None and criteria.fault not in exchange.faults:
        others.append(Miss("fault", criteria.fault, ", ".join(exchange.faults) or None))
    return (*misses(match, request), *others)


def _received(exchange: Exchange) -> Received:
    request, outcome = exchange.request(), exchange.outcome()
    return Received(
        number=exchange.number,
        at=exchange.at,
        verb=exchange.verb,
        path=exchange.path,
        method=request.method,
        context=request.context_id,
        task=request.task_id,
        message=request.message_id,
        text=request.text,
        status=exchange.status,
        state=outcome.state,
        error=outcome.error,
        events=exchange.bodies,
        faults=exchange.faults,
        seconds=exchange.seconds,
    )


def _detail(exchange: Exchange) -> Detail:
    headers = exchange.asked().headers
    shown = {name: HIDDEN if name in SECRET_HEADERS else value for name, value in headers.items()}
    return Detail(
        _received(exchange),
        shown,
        _shown(exchange.body),
        _shown(exchange.answer_document()),
    )


def _shown(document: bytes) -> JsonValue:
    """JSON as a value without its secrets; all else as text, which may have been cut short."""
    try:
        return _without_secrets(parse_json(document))
    except ValueError:
        return document.decode("utf-8", "replace")


def _without_secrets(value: Json) -> JsonValue:
    match value:
        case dict():
            return {
                key: HIDDEN if key in SECRET_KEYS and inner else _without_secrets(inner)
                for key, inner in value.items()
            }
        case list():
            return [_without_secrets(inner) for inner in value]
        case _:
            return value
