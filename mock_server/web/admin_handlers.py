"""The handlers of the admin API: contexts, traces, faults, events, the model and the reset."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import asdict, dataclass

from pydantic import BaseModel, Field, JsonValue, field_validator
from pydantic_core import PydanticCustomError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.model import Json
from mock_server.faults.effects import STRICT
from mock_server.faults.fault import Armed, ArmedFaults, Fault, FaultProblem, read_fault
from mock_server.service.conversation import Conversation
from mock_server.service.events import DROPPED, KINDS, EventBus, ServerEvent
from mock_server.service.service import Service
from mock_server.tasks.json_text import encode_json
from mock_server.tasks.mapper import active_flow, visible_slots
from mock_server.tasks.trace import encode_decisions, encode_turn
from mock_server.web import asgi
from mock_server.web.admin_operations import (
    NOT_FOUND,
    UNPROCESSABLE,
    Problem,
    Refused,
    answer,
    query_as,
    read_json,
)
from mock_server.web.journal import Journal


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
    """The stack from its bottom to its top."""

    context: ContextView
    stack: tuple[FrameView, ...]


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


@dataclass(frozen=True, slots=True)
class ContextHandlers:
    """The routes below `contexts` and `traces`."""

    service: Service

    async def list(self, request: Request) -> Response:
        query = query_as(ContextQuery, request)
        known = [*self.service.store.conversations()]
        shown = known[query.offset : query.offset + query.limit]
        views = tuple(_context_view(conversation, self.service) for conversation in shown)
        return answer(ContextList(len(known), views))

    async def show(self, request: Request) -> Response:
        context_id = request.path_params["id"]
        conversation = self.service.store.conversation(context_id)
        if conversation is None:
            raise Refused(NOT_FOUND, f"unknown context {context_id!r}")
        frames = tuple(
            FrameView(frame.flow_id, frame.step_id, frame.type.value)
            for frame in conversation.state.stack
        )
        return answer(ContextDetail(_context_view(conversation, self.service), frames))

    async def trace(self, request: Request) -> Response:
        trace_id = request.path_params["id"]
        trace = self.service.store.trace(trace_id)
        if trace is None:
            raise Refused(NOT_FOUND, f"unknown trace {trace_id!r}")
        if trace.turn is None:
            raise Refused(NOT_FOUND, f"the turn of trace {trace_id!r} still runs")
        named = {"id": trace_id, "task": trace.task_id, "context": trace.context_id}
        encoded = encode_turn(trace.turn, trace.assistant)
        return answer({**named, "turn": encoded, **encode_decisions(trace.turn)})


def _context_view(conversation: Conversation, service: Service) -> ContextView:
    state, resting = conversation.state, service.store.open_task(conversation)
    return ContextView(
        context=conversation.id,
        active_flow=active_flow(state.stack),
        slots=_known_slots(service.assistant, state.slots),
        task=resting.task_id if resting else None,
        state=resting.state.value if resting else None,
        unfinished=conversation.unfinished,
    )


def _known_slots(assistant: Assistant, slots: Mapping[str, Json]) -> dict[str, JsonValue]:
    """Those that the assistant has: a reload may have taken some away."""
    known = {name: value for name, value in slots.items() if name in assistant.slots}
    return {**visible_slots(assistant, known)}


CREATED = 201


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


@dataclass(frozen=True, slots=True)
class FaultHandlers:
    """The routes below `faults`; each change publishes on `events` what is armed after it."""

    faults: ArmedFaults
    events: EventBus

    async def list(self, _: Request) -> Response:
        return answer(ArmedList(tuple(_armed_view(armed) for armed in self.faults.by_id.values())))

    async def show(self, request: Request) -> Response:
        armed = self.faults.by_id.get(request.path_params["id"])
        if armed is None:
            raise _unknown_fault(request)
        return answer(_armed_view(armed))

    async def arm(self, request: Request) -> Response:
        """Arm a fault, or all of a list of them or none."""
        sent = await read_json(request)
        faults = _read_faults(sent)
        armed = tuple(_armed_view(self.faults.arm(fault)) for fault in faults)
        self._publish()
        return answer(ArmedList(armed), CREATED)

    async def disarm(self, request: Request) -> Response:
        if not self.faults.disarm(request.path_params["id"]):
            raise _unknown_fault(request)
        self._publish()
        return await self.list(request)

    async def clear(self, request: Request) -> Response:
        self.faults.clear()
        self._publish()
        return await self.list(request)

    def _publish(self) -> None:
        views = map(_armed_view, self.faults.by_id.values())
        self.events.publish("faults", lambda: {"faults": [asdict(view) for view in views]})


def _unknown_fault(request: Request) -> Refused:
    return Refused(NOT_FOUND, f"no fault {request.path_params['id']!r} is armed")


def _read_faults(sent: Json) -> tuple[Fault, ...]:
    items = sent if isinstance(sent, list) else [sent]
    faults: list[Fault] = []
    problems: list[Problem] = []
    for index, item in enumerate(items):
        found = read_fault(item)
        if isinstance(found, Fault):
            faults.append(found)
        else:
            problems += (_problem(p, index if isinstance(sent, list) else None) for p in found)
    if problems:
        raise Refused(UNPROCESSABLE, "not a fault", tuple(problems))
    return tuple(faults)


def _problem(problem: FaultProblem, index: int | None) -> Problem:
    path = problem.path if index is None else (index, *problem.path)
    return Problem(".".join(map(str, path)), problem.text)


def _armed_view(armed: Armed) -> ArmedView:
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
class EventHandlers:
    """The route `events`."""

    events: EventBus
    ping_seconds: float

    async def stream(self, request: Request) -> Response:
        wanted = query_as(EventQuery, request).wanted
        return StreamingResponse(
            self._frames(wanted), headers=asgi.SSE_HEADERS, media_type=asgi.SSE_MEDIA_TYPE
        )

    async def _frames(self, wanted: frozenset[str] | None) -> AsyncIterator[bytes]:
        """The first comment says that from here on nothing is missed."""
        with self.events.subscribe() as subscriber:
            yield b": listening\r\n\r\n"
            while not self.events.is_closed:
                event = await subscriber.next(self.ping_seconds)
                if event and wanted is not None and event.kind not in wanted:
                    continue
                if event:
                    yield _event_frame(event)
                elif not self.events.is_closed:
                    yield b": ping\r\n\r\n"


def _event_frame(event: ServerEvent) -> bytes:
    kind = event.kind.encode()
    return b"event: " + kind + b"\r\n" + asgi.sse_frame(encode_json(event.detail))


@dataclass(frozen=True, slots=True)
class ModelSwitch:
    """`load` brings back what `unload` took away; either may be called twice."""

    load: Callable[[], None]
    unload: Callable[[], None]


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


@dataclass(frozen=True, slots=True)
class ModelHandlers:
    """The routes `reset` and those below `model`."""

    service: Service
    model: ModelSwitch
    journal: Journal
    faults: ArmedFaults

    async def show(self, _: Request) -> Response:
        return answer(self._view())

    async def load(self, _: Request) -> Response:
        return self._switch(is_loaded=True)

    async def unload(self, _: Request) -> Response:
        return self._switch(is_loaded=False)

    async def reset(self, _: Request) -> Response:
        self.service.reset()
        self.journal.clear()
        self.faults.reset()
        self.model.load()
        self.service.events.publish("reset", lambda: {})
        return answer(ResetView(tuple(self.faults.by_id), is_loaded=True))

    def _switch(self, *, is_loaded: bool) -> Response:
        (self.model.load if is_loaded else self.model.unload)()
        self.service.events.publish("model", lambda: {"is_loaded": is_loaded})
        return answer(self._view())

    def _view(self) -> ModelView:
        flows = self.service.assistant.flows.values()
        return ModelView(self.service.is_loaded, sum(not flow.is_pattern for flow in flows))
