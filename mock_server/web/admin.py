"""The admin API: how tests look behind the mock and make it misbehave (server.md ADMIN)."""

import hmac
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mock_server.faults.fault import ArmedFaults, Fault
from mock_server.service.service import Service
from mock_server.web.admin_handlers import (
    ArmedList,
    ArmedView,
    ContextDetail,
    ContextHandlers,
    ContextList,
    ContextQuery,
    EventHandlers,
    EventQuery,
    FaultHandlers,
    ModelHandlers,
    ModelSwitch,
    ModelView,
    ResetView,
    TraceView,
)
from mock_server.web.admin_journal import (
    Count,
    Criteria,
    Detail,
    JournalHandlers,
    Listing,
    NearMissList,
    NearMissQuery,
    ReceivedList,
)
from mock_server.web.admin_operations import (
    EVENT_STREAM,
    PREFIX,
    Complaint,
    Endpoint,
    Operation,
    Refused,
    answer,
    openapi,
)
from mock_server.web.journal import Journal


@dataclass(frozen=True, slots=True)
class AdminTargets:
    """What the admin API shows and changes; `token` None is for this machine only."""

    service: Service
    model: ModelSwitch
    journal: Journal
    faults: ArmedFaults
    version: str
    token: str | None = None
    ping_seconds: float = 15.0


def admin_app(targets: AdminTargets) -> ASGIApp:
    """The admin API as an ASGI application, its guard in front."""
    operations = admin_operations(targets)
    document = openapi(operations, targets.version)

    async def describe(_: Request) -> Response:
        return answer(document)

    routes = [*_routes(operations), Route(f"{PREFIX}/openapi.json", describe, methods=["GET"])]
    handlers = {Refused: _refuse, HTTPException: _refuse}
    return AdminGuard(Starlette(routes=routes, exception_handlers=handlers), targets.token)


def admin_operations(targets: AdminTargets) -> tuple[Operation, ...]:
    """Every route but the description of the routes; of two that match, the first counts."""
    journal = JournalHandlers(targets.journal, targets.faults)
    faults = FaultHandlers(targets.faults, targets.service.events)
    contexts = ContextHandlers(targets.service)
    events = EventHandlers(targets.service.events, targets.ping_seconds)
    model = ModelHandlers(targets.service, targets.model, targets.journal, targets.faults)
    return (
        Operation(
            "GET", "/requests", journal.list, "List what was received",
            answer=ReceivedList, query=Listing,
        ),
        Operation("DELETE", "/requests", journal.clear, "Empty the journal", answer=Count),
        Operation(
            "POST", "/requests/count", journal.count, "Count what was received",
            answer=Count, body=Criteria,
        ),
        Operation(
            "GET", "/requests/near-misses", journal.near_misses,
            "Show what was nearly as expected, and what was not",
            answer=NearMissList, query=NearMissQuery,
        ),
        Operation("GET", "/requests/{number:int}", journal.show, "Show a request", answer=Detail),
        Operation("GET", "/faults", faults.list, "List the armed faults", answer=ArmedList),
        Operation(
            "POST", "/faults", faults.arm, "Arm a fault, or a list of them",
            answer=ArmedList, body=Fault, status=201,
        ),
        Operation("DELETE", "/faults", faults.clear, "Disarm every fault", answer=ArmedList),
        Operation("GET", "/faults/{id}", faults.show, "Show a fault", answer=ArmedView),
        Operation("DELETE", "/faults/{id}", faults.disarm, "Disarm a fault", answer=ArmedList),
        Operation(
            "POST", "/reset", model.reset,
            "Forget conversations, tasks and requests; arm the faults of mock.yml; load the model",
            answer=ResetView,
        ),
        Operation(
            "GET", "/contexts", contexts.list, "List the contexts with their slots",
            answer=ContextList, query=ContextQuery,
        ),
        Operation(
            "GET", "/contexts/{id:path}", contexts.show, "Show a context", answer=ContextDetail
        ),
        Operation(
            "GET", "/events", events.stream, "Follow turns, reloads and faults that hit",
            query=EventQuery, media_type=EVENT_STREAM,
        ),
        Operation("GET", "/model", model.show, "Show the model", answer=ModelView),
        Operation("POST", "/model/load", model.load, "Load the model", answer=ModelView),
        Operation("POST", "/model/unload", model.unload, "Unload the model", answer=ModelView),
        Operation("GET", "/traces/{id}", contexts.trace, "Explain a turn", answer=TraceView),
    )  # fmt: skip


def _routes(operations: Iterable[Operation]) -> Iterator[Route]:
    """One route a path, so that the answer to a wrong verb lists the right ones."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, {})[operation.verb] = operation.endpoint
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
        case HTTPException(status_code=status, detail=detail):
            response = answer(Complaint(detail), status)
            response.headers.update(refusal.headers or {})
            return response
        case _:
            raise refusal


UNAUTHORIZED = 401
FORBIDDEN = 403
CHALLENGE = {"www-authenticate": 'Bearer realm="admin"'}


@dataclass(frozen=True, slots=True)
class AdminGuard:
    """`app` for those who know `token`; for loopback only if it is None."""

    app: ASGIApp
    token: str | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if self.token and not self._knows_token(headers):
            refusal = answer(Complaint("this needs the admin token as a bearer"), UNAUTHORIZED)
            refusal.headers.update(CHALLENGE)
        elif reason := self._reason_against(scope, headers):
            refusal = answer(Complaint(reason), FORBIDDEN)
        else:
            await self.app(scope, receive, send)
            return
        await refusal(scope, receive, send)

    def _knows_token(self, headers: Headers) -> bool:
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        given = credentials.strip().encode("latin-1", "replace")
        return scheme.lower() == "bearer" and hmac.compare_digest(
            given, (self.token or "").encode()
        )

    def _reason_against(self, scope: Scope, headers: Headers) -> str | None:
        host = headers.get("host", "")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return "requests of web pages elsewhere are refused"
        if self.token:
            return None
        client = scope.get("client")
        if not client or not _is_loopback(client[0]):
            return "only this machine may use it; start with --admin-token-env to open it"
        if not _is_loopback(_name(host)):
            return "the Host header must name this machine: localhost or its loopback address"
        return None


def _name(host: str) -> str:
    """The name or address of a Host header."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_loopback(name: str) -> bool:
    if name.lower() == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
