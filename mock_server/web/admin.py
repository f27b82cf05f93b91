"""The admin API: how tests look behind the mock and make it misbehave (server.md ADMIN)."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from mock_server.dialogue.model import Json
from mock_server.errors import SearchTooSlow
from mock_server.faults.fault import (
    MAX_ARMED,
    Armed,
    ArmedFaults,
    Fault,
    FaultProblem,
    read_fault,
)
from mock_server.faults.matching import Miss, misses, reaches
from mock_server.service.events import ServerEvent
from mock_server.service.service import Service
from mock_server.tasks.json_text import encode_json
from mock_server.tasks.trace import encode_decisions, encode_events, encode_turn
from mock_server.web import admin_views as views
from mock_server.web import http_server
from mock_server.web.access import UNAUTHORIZED, Restricted, bearer_check
from mock_server.web.admin_routes import (
    EVENT_STREAM,
    NOT_FOUND,
    PREFIX,
    UNPROCESSABLE,
    AdminRoute,
    Complaint,
    Endpoint,
    Problem,
    Refused,
    answer,
    as_model,
    openapi,
    query_as,
    read_json,
)
from mock_server.web.journal import Exchange, Journal

CREATED = 201
CHALLENGE = {"www-authenticate": 'Bearer realm="admin"'}
NEAR_MISSES = 10


@dataclass(frozen=True, slots=True)
class ModelSwitch:
    """`load` brings back what `unload` took away; either may be called twice."""

    load: Callable[[], None]
    unload: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Admin:
    """The handlers of the admin API, and what they show and change."""

    service: Service
    model: ModelSwitch
    journal: Journal
    faults: ArmedFaults
    ping_seconds: float = 15.0

    async def list_requests(self, request: Request) -> Response:
        listing = query_as(views.Listing, request)
        found = [e for e in self._meeting(listing) if e.number > listing.after]
        return answer(views.ReceivedList(tuple(views.received(e) for e in found[-listing.limit :])))

    async def show_request(self, request: Request) -> Response:
        number = request.path_params["number"]
        for exchange in self.journal:
            if exchange.number == number:
                return answer(views.detail(exchange))
        raise Refused(NOT_FOUND, f"request {number} is not in the journal")

    async def clear_requests(self, _: Request) -> Response:
        self.journal.clear()
        return answer(views.Count(0))

    async def count_requests(self, request: Request) -> Response:
        criteria = as_model(views.Criteria, await read_json(request))
        return answer(views.Count(sum(1 for _ in self._meeting(criteria))))

    async def near_misses(self, request: Request) -> Response:
        query = query_as(views.NearMissQuery, request)
        missed = [
            views.NearMiss(views.received(exchange), found)
            for exchange in self.journal
            if (found := self._missed(query, exchange))
        ]
        missed.sort(key=lambda miss: (len(miss.misses), -miss.request.number))
        return answer(views.NearMissList(tuple(missed[:NEAR_MISSES])))

    def _meeting(self, criteria: views.Criteria) -> Iterator[Exchange]:
        return (e for e in self.journal if not views.criteria_missed(criteria, e))

    def _missed(self, query: views.NearMissQuery, exchange: Exchange) -> tuple[Miss, ...]:
        if query.unfired is None:
            return views.criteria_missed(query, exchange)
        fault, request = self._armed(query.unfired).fault, exchange.asked()
        found = tuple(map(views.miss_without_secrets, misses(fault.match, request)))
        if not reaches(fault.effect, request):
            found = (Miss("reach", fault.effect.reach.value, request.method), *found)
        return found

    async def list_faults(self, _: Request) -> Response:
        return answer(self._armed_list())

    async def show_fault(self, request: Request) -> Response:
        return answer(views.armed_view(self._armed(request.path_params["id"])))

    async def arm_faults(self, request: Request) -> Response:
        """Arm a fault, or all of a list of them or none."""
        faults = _read_faults(await read_json(request))
        if not self.faults.has_room_for(faults):
            raise Refused(UNPROCESSABLE, f"expected at most {MAX_ARMED} armed faults")
        armed = tuple(views.armed_view(self.faults.arm(fault)) for fault in faults)
        self._publish_faults()
        return answer(views.ArmedList(armed), CREATED)

    async def disarm_fault(self, request: Request) -> Response:
        self.faults.disarm(self._armed(request.path_params["id"]).id)
        return self._changed_faults()

    async def clear_faults(self, _: Request) -> Response:
        self.faults.clear()
        return self._changed_faults()

    def _changed_faults(self) -> Response:
        self._publish_faults()
        return answer(self._armed_list())

    def _publish_faults(self) -> None:
        armed = self._armed_list()
        self.service.events.publish("faults", lambda: asdict(armed))

    def _armed_list(self) -> views.ArmedList:
        return views.ArmedList(tuple(map(views.armed_view, self.faults.by_id.values())))

    def _armed(self, fault_id: str) -> Armed:
        if fault_id not in self.faults.by_id:
            raise Refused(NOT_FOUND, f"no fault {fault_id!r} is armed")
        return self.faults.by_id[fault_id]

    async def show_model(self, _: Request) -> Response:
        return answer(self._model_view())

    async def load_model(self, _: Request) -> Response:
        return self._switch(is_loaded=True)

    async def unload_model(self, _: Request) -> Response:
        return self._switch(is_loaded=False)

    async def reset(self, _: Request) -> Response:
        self.service.reset()
        self.journal.clear()
        self.faults.reset()
        self.model.load()
        self.service.events.publish("reset", lambda: {})
        return answer(views.ResetView(tuple(self.faults.by_id), is_loaded=True))

    def _switch(self, *, is_loaded: bool) -> Response:
        (self.model.load if is_loaded else self.model.unload)()
        self.service.events.publish("model", lambda: {"is_loaded": is_loaded})
        return answer(self._model_view())

    def _model_view(self) -> views.ModelView:
        flows = self.service.assistant.flows.values()
        return views.ModelView(self.service.is_loaded, sum(not flow.is_pattern for flow in flows))

    async def list_contexts(self, request: Request) -> Response:
        query = query_as(views.ContextQuery, request)
        known = [*self.service.store.conversations()]
        shown = known[query.offset : query.offset + query.limit]
        contexts = tuple(views.context_view(conversation, self.service) for conversation in shown)
        return answer(views.ContextList(len(known), contexts))

    async def show_context(self, request: Request) -> Response:
        context_id = request.path_params["id"]
        conversation = self.service.store.conversation(context_id)
        if conversation is None:
            raise Refused(NOT_FOUND, f"unknown context {context_id!r}")
        frames = tuple(
            views.FrameView(frame.flow_id, frame.step_id, frame.type.value)
            for frame in conversation.state.stack
        )
        shown = views.context_view(conversation, self.service)
        events = [
            event
            for turn in self.service.store.turns.of(context_id)
            for event in encode_events(turn.stack, turn.events)
        ]
        return answer({"context": shown, "stack": frames, "events": events})

    async def show_trace(self, request: Request) -> Response:
        trace_id = request.path_params["id"]
        trace = self.service.store.trace(trace_id)
        if trace is None:
            raise Refused(NOT_FOUND, f"unknown trace {trace_id!r}")
        if trace.turn is None:
            raise Refused(NOT_FOUND, f"the turn of trace {trace_id!r} still runs")
        named = {"id": trace_id, "task": trace.task_id, "context": trace.context_id}
        encoded = encode_turn(trace.turn, trace.assistant)
        return answer({**named, "turn": encoded, **encode_decisions(trace.turn)})

    async def follow_events(self, request: Request) -> Response:
        wanted = query_as(views.EventQuery, request).wanted
        return StreamingResponse(
            self._frames(wanted),
            headers=http_server.SSE_HEADERS,
            media_type=http_server.SSE_MEDIA_TYPE,
        )

    async def _frames(self, wanted: frozenset[str] | None) -> AsyncIterator[bytes]:
        """The first comment says that from here on nothing is missed.

        A save that still does not load is reported again, as the first event.
        """
        with self.service.events.subscribe() as subscriber:
            yield b": listening\r\n\r\n"
            while not self.service.events.is_closed:
                event = await subscriber.next(self.ping_seconds)
                if event and wanted is not None and event.kind not in wanted:
                    continue
                if event:
                    yield _event_frame(event)
                elif not self.service.events.is_closed:
                    yield b": ping\r\n\r\n"


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


def _event_frame(event: ServerEvent) -> bytes:
    kind = event.kind.encode()
    return b"event: " + kind + b"\r\n" + http_server.sse_frame(encode_json(event.detail))


def admin_app(admin: Admin, version: str, token: str | None) -> ASGIApp:
    """The admin API as an ASGI application, for those who know `token`.

    `token` None is for this machine only.
    """
    described = _admin_routes(admin)
    document = openapi(described, version)

    async def describe(_: Request) -> Response:
        return answer(document)

    routes = [*_routes(described), Route(f"{PREFIX}/openapi.json", describe, methods=["GET"])]
    handlers = {Refused: _refuse, HTTPException: _refuse, SearchTooSlow: _refuse}
    app = Starlette(routes=routes, exception_handlers=handlers)
    return Restricted(app, bearer_check(token) if token else None, "--admin-token-env", _turn_away)


def _turn_away(status: int, reason: str) -> Response:
    refusal = answer(Complaint(reason), status)
    if status == UNAUTHORIZED:
        refusal.headers.update(CHALLENGE)
    return refusal


def _admin_routes(admin: Admin) -> tuple[AdminRoute, ...]:
    """Every route but the description of the routes; of two that match, the first counts."""
    return (
        AdminRoute(
            "GET", "/requests", admin.list_requests, "List what was received",
            views.ReceivedList, query=views.Listing,
        ),
        AdminRoute("DELETE", "/requests", admin.clear_requests, "Empty the journal", views.Count),
        AdminRoute(
            "POST", "/requests/count", admin.count_requests, "Count what was received",
            views.Count, body=views.Criteria,
        ),
        AdminRoute(
            "GET", "/requests/near-misses", admin.near_misses,
            "Show what was nearly as expected, and what was not",
            views.NearMissList, query=views.NearMissQuery,
        ),
        AdminRoute(
            "GET", "/requests/{number:int}", admin.show_request, "Show a request", views.Detail
        ),
        AdminRoute("GET", "/faults", admin.list_faults, "List the armed faults", views.ArmedList),
        AdminRoute(
            "POST", "/faults", admin.arm_faults, "Arm a fault, or a list of them",
            views.ArmedList, body=Fault, status=201,
        ),
        AdminRoute("DELETE", "/faults", admin.clear_faults, "Disarm every fault", views.ArmedList),
        AdminRoute("GET", "/faults/{id}", admin.show_fault, "Show a fault", views.ArmedView),
        AdminRoute(
            "DELETE", "/faults/{id}", admin.disarm_fault, "Disarm a fault", views.ArmedList
        ),
        AdminRoute(
            "POST", "/reset", admin.reset,
            "Forget conversations, tasks and requests; arm the faults of mock.yml; load the model",
            views.ResetView,
        ),
        AdminRoute(
            "GET", "/contexts", admin.list_contexts, "List the contexts with their slots",
            views.ContextList, query=views.ContextQuery,
        ),
        AdminRoute(
            "GET", "/contexts/{id:path}", admin.show_context, "Show a context", views.ContextDetail
        ),
        AdminRoute(
            "GET", "/events", admin.follow_events, "Follow turns, reloads and faults that hit",
            query=views.EventQuery, media_type=EVENT_STREAM,
        ),
        AdminRoute("GET", "/model", admin.show_model, "Show the model", views.ModelView),
        AdminRoute("POST", "/model/load", admin.load_model, "Load the model", views.ModelView),
        AdminRoute(
            "POST", "/model/unload", admin.unload_model, "Unload the model", views.ModelView
        ),
        AdminRoute("GET", "/traces/{id}", admin.show_trace, "Explain a turn", views.TraceView),
    )  # fmt: skip


def _routes(described: Iterable[AdminRoute]) -> Iterator[Route]:
    """One route a path, so that the answer to a wrong verb lists the right ones."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for route in described:
        by_path.setdefault(route.path, {})[route.verb] = route.endpoint
    for path, endpoints in by_path.items():
        yield Route(PREFIX + path, _dispatch(endpoints), methods=[*endpoints])


def _dispatch(endpoints: Mapping[str, Endpoint]) -> Endpoint:
    async def call(request: Request) -> Response:
        # A HEAD is a GET whose body the server leaves out.
        verb = "GET" if request.method == "HEAD" else request.method
        return await endpoints[verb](request)

    return call


async def _refuse(_: Request, refusal: Exception) -> Response:
    match refusal:
        case Refused(status=status, complaint=complaint):
            return answer(complaint, status)
        case SearchTooSlow():
            return answer(Complaint(str(refusal)), UNPROCESSABLE)
        case HTTPException(status_code=status, detail=detail):
            response = answer(Complaint(detail), status)
            response.headers.update(refusal.headers or {})
            return response
        case _:
            raise refusal
