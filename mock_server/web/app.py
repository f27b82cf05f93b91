"""The mock as an ASGI application: JSON-RPC at the root, the card, the status and the model
(server.md HTTP-1 to HTTP-3), with the journal, the faults and the admin API around it.

While no fault is armed a request costs its entry in the journal and nothing more. Errors of the
status and the model have the shape of Rasa's HTTP API, whose `token` is a query parameter.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from importlib.metadata import version

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.stdlib import get_logger

from mock_server.dialogue.model import Json
from mock_server.errors import ProjectError, SearchTooSlow
from mock_server.faults.fault import ArmedFaults, Draw, Fault, Fired, Subject
from mock_server.faults.matching import RPC_PATH, OutgoingPush, read_request
from mock_server.faults.tampering import handling
from mock_server.project.endpoints import JwtAuth
from mock_server.project.load import Model
from mock_server.service.events import EventBus
from mock_server.service.runtime import Runtime
from mock_server.service.service import Service
from mock_server.tasks.json_text import encode_json, parse_json
from mock_server.web.access import Guard, KnowsToken, Restricted, query_check
from mock_server.web.admin import Admin, ModelSwitch, admin_app
from mock_server.web.faulty_answer import FaultyAnswer, Header
from mock_server.web.http_server import BodyTooLarge, ClientGone, read_body
from mock_server.web.journal import Exchange, Journal
from mock_server.web.rpc import RpcEndpoint, RpcHandler
from mock_server.wire.operations import CallContext
from mock_server.wire.v0_3 import V03

CARD_PATH = "/.well-known/agent-card.json"
DEPRECATED_CARD_PATH = "/.well-known/agent.json"
ADMIN_PREFIX = "/__admin"
WANTS_TRACE: Header = (b"x-mock-trace", b"1")
TRACE_ID = b"x-mock-trace-id"
MAX_BODY_BYTES = 10 * 1024 * 1024
PING_SECONDS = 15.0
NO_CONTENT = 204
BAD_REQUEST = 400
UNAUTHORIZED = 401
FORBIDDEN = 403
CONTENT_TOO_LARGE = 413

logger = get_logger("a2a_server")


@dataclass(frozen=True, slots=True)
class Site:
    """What the server shows beside its operations, and to whom.

    `auth` guards the operations and the card, `token` the status and `PUT /model`.
    """

    card: "Page"
    status: "Page"
    max_body_bytes: int = MAX_BODY_BYTES
    ping_seconds: float = PING_SECONDS
    auth: JwtAuth | None = None
    token: str | None = field(default=None, repr=False)
    put_model: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Middleware:
    """In front of `app`; `context` is that of a call without faults, and without a trace.

    `has_trace` reports whether a turn is traced under an id.
    """

    app: RpcHandler
    context: CallContext
    admin: ASGIApp
    journal: Journal
    faults: ArmedFaults
    has_trace: Callable[[str], bool]
    sleep: Callable[[float], Awaitable[None]]
    max_body_bytes: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith(ADMIN_PREFIX):
            await self.admin(scope, receive, send)
            return
        exchange = self.journal.open(scope)
        receive = exchange.recording_receive(receive)
        try:
            if self.faults or WANTS_TRACE in scope["headers"]:
                await self._handle_with_faults(exchange, scope, receive, send)
            else:
                await self.app(scope, receive, exchange.recording_send(send), self.context)
        finally:
            self.journal.close(exchange)

    async def _handle_with_faults(
        self, exchange: Exchange, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Read the request ahead, find the faults that hit it, and apply them to the answer."""
        received, body = await _read_ahead(receive, self.max_body_bytes)
        request = read_request(scope["method"], scope["path"], scope["headers"], body)
        fired = self.faults.fire(request)
        exchange.faults = tuple(hit.fault_id for hit in fired)
        trace_id = f"trace-{exchange.number}" if WANTS_TRACE in scope["headers"] else None
        asked = handling(trace_id, (hit.effect for hit in fired))
        answer = FaultyAnswer(
            fired,
            request,
            body,
            self.context.codec,
            self.sleep,
            partial(self._trace_header, trace_id),
        )
        app = _noting(self.app, replace(self.context, handling=asked), exchange)
        await answer(app, scope, _replaying(received, receive), _noting_status(send, exchange))

    def _trace_header(self, trace_id: str | None) -> tuple[Header, ...]:
        """Only a turn that was begun or canceled has a trace."""
        if trace_id is None or not self.has_trace(trace_id):
            return ()
        return ((TRACE_ID, trace_id.encode()),)


async def _read_ahead(receive: Receive, limit_bytes: int) -> tuple[list[Message], bytes]:
    """The messages of a request up to its end, or to where it becomes too long."""
    received: list[Message] = []
    chunks: list[bytes] = []
    size_bytes = 0
    while size_bytes <= limit_bytes:
        message = await receive()
        received.append(message)
        if message["type"] == "http.disconnect":
            break
        chunks.append(message.get("body", b""))
        size_bytes += len(chunks[-1])
        if not message.get("more_body", False):
            break
    return received, b"".join(chunks)


def _replaying(received: list[Message], receive: Receive) -> Receive:
    pending = iter(received)

    async def replayed() -> Message:
        message = next(pending, None)
        return await receive() if message is None else message

    return replayed


def _noting(app: RpcHandler, context: CallContext, exchange: Exchange) -> ASGIApp:
    """`app`, whose answers are kept as it gives them, before faults change them."""

    async def noting(scope: Scope, receive: Receive, send: Send) -> None:
        async def noted(message: Message) -> None:
            exchange.note_answer(message)
            await send(message)

        await app(scope, receive, noted, context)

    return noting


def _noting_status(send: Send, exchange: Exchange) -> Send:
    async def noted(message: Message) -> None:
        exchange.note_status(message)
        await send(message)

    return noted


class App:
    """The mock as an ASGI application; `now` is UTC.

    `context` is that of a call without a token, faults or a trace.
    """

    def __init__(self, service: Service, site: Site, now: Callable[[], datetime]) -> None:
        self.context = CallContext(V03(service.profile.is_strict_on_the_wire))
        self._rpc: RpcHandler = RpcEndpoint(
            service, max_body_bytes=site.max_body_bytes, ping_seconds=site.ping_seconds, now=now
        )
        card: ASGIApp = site.card
        if site.auth:
            # PyJWT brings cryptography along, which most mocks do without.
            from mock_server.web.auth import GuardedCard, TokenCheck, guarded_rpc

            check = TokenCheck(site.auth, now)
            self._rpc, card = guarded_rpc(self._rpc, check), GuardedCard(card, check)
        knows_token = None if site.token is None else query_check(site.token)
        self.routes = [
            Route("/", self, methods=["POST"]),
            Route(CARD_PATH, card, methods=["GET"]),
            Route(DEPRECATED_CARD_PATH, card, methods=["GET"]),
            Route("/status", TokenRequired(site.status, knows_token), methods=["GET"]),
        ]
        if site.put_model:
            put_model = PutModel(site.put_model, site.max_body_bytes)
            model = Restricted(put_model, knows_token, "--auth-token-env", _turn_away)
            self.routes.append(Route("/model", model, methods=["PUT"]))
        self._rest = Starlette(routes=self.routes)

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, context: CallContext | None = None
    ) -> None:
        # Starlette's routing and middleware would cost a short turn a fifth of its time.
        if scope["path"] == RPC_PATH and scope["method"] == "POST":
            await self._rpc(scope, receive, send, context or self.context)
        else:
            await self._rest(scope, receive, send)


class Page:
    """An ASGI application that answers with the JSON that it was last given."""

    def __init__(self, value: Json) -> None:
        self.show(value)

    def show(self, value: Json) -> None:
        self._body = encode_json(value)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await Response(self._body, media_type="application/json")(scope, receive, send)


def status(model: Model | None) -> dict[str, Json]:
    """What `/status` shows; None as long as no model is loaded."""
    return {
        "model_file": model and model.file,
        "model_id": model and model.id,
        "num_active_training_jobs": 0,
    }


@dataclass(frozen=True, slots=True)
class TokenRequired:
    """`app` for those who know the token; for everybody if there is none."""

    app: ASGIApp
    knows_token: KnowsToken | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_known = self.knows_token is None or self.knows_token(scope)
        app = self.app if is_known else _turn_away(UNAUTHORIZED)
        await app(scope, receive, send)


@dataclass(frozen=True, slots=True)
class PutModel:
    """`load` loads a model for `/status`; turns and the card stay with that of the start."""

    load: Callable[[str], None]
    max_body_bytes: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            path = _model_file(await read_body(receive, self.max_body_bytes))
        except ClientGone:
            return
        except BodyTooLarge:
            answer = _rasa_failure(CONTENT_TOO_LARGE, "BadRequest", "The request is too large.")
        else:
            answer = await self._answer(path)
        await answer(scope, receive, send)

    async def _answer(self, path: str | None) -> Response:
        if path is None:
            text = "No path to model file defined in request_body."
            return _rasa_failure(BAD_REQUEST, "BadRequest", text)
        try:
            await asyncio.to_thread(self.load, path)
        except ProjectError as error:
            logger.warning("a2a_mock.model.not_loaded", problems=str(error))
            text = f"Agent with name '{path}' could not be loaded."
            found: list[Json] = [str(problem) for problem in error.problems]
            return _rasa_failure(BAD_REQUEST, "BadRequest", text, {"problems": found})
        return Response(status_code=NO_CONTENT)


def _model_file(body: bytes) -> str | None:
    try:
        request = parse_json(body)
    except ValueError:
        return None
    match request:
        case {"model_file": str() as path} if path.isprintable() and path:
            return path
        case _:
            return None


def _turn_away(status: int, reason: str = "") -> Response:
    if status == UNAUTHORIZED:
        return _rasa_failure(status, "NotAuthenticated", "User is not authenticated.")
    code = "NotAuthorized" if status == FORBIDDEN else "BadRequest"
    return _rasa_failure(status, code, reason)


def _rasa_failure(
    code: int, reason: str, message: str, details: dict[str, Json] | None = None
) -> Response:
    error: Json = {
        "status": "failure",
        "message": message,
        "reason": reason,
        "details": details or {},
        "help": None,
        "code": code,
    }
    return Response(encode_json(error), code, media_type="application/json")


def arm_faults(initial: Iterable[Fault], seed: int | None, events: EventBus) -> ArmedFaults:
    """The faults of a server; with `seed` they hit the same requests in every run."""

    def make_draw(fault_id: str) -> Draw:
        return random.Random(None if seed is None else f"{seed} {fault_id}").random

    def publish(fired: Fired, subject: Subject) -> None:
        logger.info("a2a_mock.fault.fired", fault=fired.fault_id, effect=fired.effect.kind)
        events.publish("fault", lambda: _fault_event(fired, subject))

    def warn(fault_id: str, slow: SearchTooSlow) -> None:
        logger.warning("a2a_mock.fault.slow", fault=fault_id, reason=str(slow))

    return ArmedFaults(initial, make_draw, publish, warn)


def with_admin(
    app: App,
    service: Service,
    runtime: Runtime,
    faults: ArmedFaults,
    model: ModelSwitch,
    *,
    max_body_bytes: int,
    token: str | None = None,
    hosts: Iterable[str] = (),
) -> ASGIApp:
    """`app` with the admin API beside it, every request to it in the journal, and `faults`.

    Only requests that name a known host reach them; `hosts` are known beside the loopback's names.
    """
    journal = Journal(runtime.now, runtime.elapsed_seconds)
    admin = Admin(service, model, journal, faults)
    middleware = Middleware(
        app,
        app.context,
        admin_app(admin, version("a2a-inspect"), token),
        journal,
        faults,
        has_trace=lambda trace_id: service.store.trace(trace_id) is not None,
        sleep=runtime.sleep,
        max_body_bytes=max_body_bytes,
    )
    return Guard(middleware, hosts)


def _fault_event(fired: Fired, subject: Subject) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "fault": fired.fault_id,
        "effect": fired.effect.kind,
        "context": subject.context_id,
        "task": subject.task_id,
    }
    match subject:
        case OutgoingPush(state=state):
            return {**fields, "state": state.value}
        case _:
            return {**fields, "verb": subject.verb, "path": subject.path, "method": subject.method}
