"""The HTTP surface: JSON-RPC at the root, the card, the status (server.md HTTP-1)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mock_server.dialogue.model import Json
from mock_server.project.endpoints import JwtAuth
from mock_server.service.service import Service
from mock_server.tasks.json_text import encode_json
from mock_server.web.management import BehindToken, PutModel
from mock_server.web.rpc import RpcEndpoint

CARD_PATH = "/.well-known/agent-card.json"
DEPRECATED_CARD_PATH = "/.well-known/agent.json"
MAX_BODY_BYTES = 10 * 1024 * 1024
PING_SECONDS = 15.0


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


def create_app(service: Service, site: Site, now: Callable[[], datetime]) -> ASGIApp:
    """The mock as an ASGI application; `now` is UTC."""
    rpc: ASGIApp = RpcEndpoint(
        service, max_body_bytes=site.max_body_bytes, ping_seconds=site.ping_seconds, now=now
    )
    card: ASGIApp = site.card
    if site.auth:
        # PyJWT brings cryptography along, which most mocks do without.
        from mock_server.web.auth import guarded

        rpc, card = guarded(rpc, card, site.auth, now)
    routes = [
        Route("/", rpc, methods=["POST"]),
        Route(CARD_PATH, card, methods=["GET"]),
        Route(DEPRECATED_CARD_PATH, card, methods=["GET"]),
        Route("/status", BehindToken(site.status, site.token), methods=["GET"]),
    ]
    if site.put_model:
        model = BehindToken(PutModel(site.put_model, site.max_body_bytes), site.token)
        routes.append(Route("/model", model, methods=["PUT"]))
    rest = Starlette(routes=routes)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        # Routing and middleware would cost a short turn a fifth of its time.
        is_rpc = scope["type"] == "http" and scope["path"] == "/" and scope["method"] == "POST"
        await (rpc if is_rpc else rest)(scope, receive, send)

    return app


class Page:
    """An ASGI application that answers with the JSON that it was last given."""

    def __init__(self, value: Json) -> None:
        self.show(value)

    def show(self, value: Json) -> None:
        self._body = encode_json(value)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await Response(self._body, media_type="application/json")(scope, receive, send)
