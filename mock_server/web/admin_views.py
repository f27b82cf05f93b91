"""What the admin API reads and answers, made of what the server knows."""

from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import BaseModel, Field, JsonValue, field_validator
from pydantic_core import PydanticCustomError

from mock_server.faults.effects import STRICT
from mock_server.faults.fault import Armed
from mock_server.faults.matching import Miss, RequestCriteria, misses
from mock_server.service.conversation import Conversation
from mock_server.service.events import DROPPED, KINDS
from mock_server.service.service import Service
from mock_server.tasks.mapper import active_flow, visible_slots
from mock_server.tasks.task import TaskState
from mock_server.web.journal import Exchange
from mock_server.web.redaction import HIDDEN, hide_in_document, hide_in_headers, is_secret


class Criteria(RequestCriteria):
    """All that is given must hold."""

    context: str | None = Field(default=None, description="of the request or of its answer")
    task: str | None = Field(default=None, description="of the answer, else of the request")
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
    """A request and its outcome; null is what it leaves out, or what has not happened yet.

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


def criteria_missed(criteria: Criteria, exchange: Exchange) -> tuple[Miss, ...]:
    request, outcome = exchange.request(), exchange.outcome()
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
    return (*misses(criteria, request), *others)


def miss_without_secrets(miss: Miss) -> Miss:
    of_headers, _, name = miss.criterion.partition(".")
    is_shown = miss.found is None or of_headers != "headers" or not is_secret(name)
    return miss if is_shown else replace(miss, found=HIDDEN)


def received(exchange: Exchange) -> Received:
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


def detail(exchange: Exchange) -> Detail:
    return Detail(
        received(exchange),
        hide_in_headers(exchange.asked().headers),
        hide_in_document(exchange.body),
        hide_in_document(exchange.answer_document()),
    )


class ContextQuery(BaseModel):
    """The first `limit` contexts after the first `offset`."""

    model_config = STRICT
    limit: int = Field(default=100, ge=1, le=10_000)
    offset: int = Field(default=0, ge=0)


@dataclass(frozen=True, slots=True)
class ContextView:
    """`task` waits for the user in `state`; `unfinished` turns run or wait in the queue."""

    context: str
    active_flow: str | None
    slots: dict[str, JsonValue]
    task: str | None
    state: str | None
    unfinished: int


@dataclass(frozen=True, slots=True)
class ContextList:
    """`total` counts those that are not in the list, too."""

    total: int
    contexts: tuple[ContextView, ...]


@dataclass(frozen=True, slots=True)
class FrameView:
    flow: str
    step: str
    type: str


@dataclass(frozen=True, slots=True)
class ContextDetail:
    """The stack from its bottom to its top, and the `events` of the last turns, oldest first.

    An event is written as `a2a-mock talk --json` prints it.
    """

    context: ContextView
    stack: tuple[FrameView, ...]
    events: list[dict[str, JsonValue]]


@dataclass(frozen=True, slots=True)
class TraceView:
    """`turn` is the object that `a2a-mock talk --json` prints."""

    id: str
    task: str
    context: str
    turn: dict[str, JsonValue]
    commands: list[JsonValue]
    dropped_commands: list[JsonValue]
    state_candidates: list[JsonValue]


def context_view(conversation: Conversation, service: Service) -> ContextView:
    state, resting = conversation.state, service.store.open_task(conversation)
    return ContextView(
        context=conversation.id,
        active_flow=active_flow(state.stack),
        slots={**visible_slots(service.assistant, state.slots)},
        task=resting.task_id if resting else None,
        state=resting.state.value if resting else None,
        unfinished=conversation.unfinished,
    )


@dataclass(frozen=True, slots=True)
class ArmedView:
    """A fault, how often it `fired`, and how often it still may; null is without end."""

    id: str
    match: dict[str, JsonValue]
    effect: dict[str, JsonValue]
    probability: float
    count: int | None
    fired: int
    remaining: int | None


@dataclass(frozen=True, slots=True)
class ArmedList:
    """In the order in which they take effect."""

    faults: tuple[ArmedView, ...]


def armed_view(armed: Armed) -> ArmedView:
    fault = armed.fault
    dumped = fault.model_dump(mode="json", exclude_none=True)
    return ArmedView(
        id=armed.id,
        match={name: value for name, value in dumped["match"].items() if value},
        effect=dumped["effect"],
        probability=fault.probability,
        count=fault.count,
        fired=armed.fired,
        remaining=None if fault.count is None else fault.count - armed.fired,
    )


class EventQuery(BaseModel):
    """All events, or those of some kinds alone."""

    model_config = STRICT
    kinds: str | None = Field(
        default=None,
        description=f"of {', '.join(KINDS)} those wanted, with commas",
    )

    @field_validator("kinds")
    @classmethod
    def _is_known(cls, kinds: str | None) -> str | None:
        unknown = () if kinds is None else sorted({*kinds.split(",")} - {*KINDS})
        if unknown:
            raise PydanticCustomError(
                "kinds",
                "unknown kind of event {unknown}; expected some of {kinds}, with commas",
                {"unknown": repr(unknown[0]), "kinds": ", ".join(KINDS)},
            )
        return kinds

    @property
    def wanted(self) -> frozenset[str] | None:
        """None for all; the count of dropped events is always wanted."""
        return None if self.kinds is None else frozenset({*self.kinds.split(","), DROPPED})


@dataclass(frozen=True, slots=True)
class ModelView:
    """`flows` counts the project's own, those of the version that serves now."""

    is_loaded: bool
    flows: int


@dataclass(frozen=True, slots=True)
class ResetView:
    """The state after a reset: the faults of `mock.yml` and a loaded model."""

    faults: tuple[str, ...]
    is_loaded: bool
