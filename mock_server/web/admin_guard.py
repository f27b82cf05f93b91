"""Who may use the admin API: this machine, or whoever knows the token.

A web page in a browser on this machine can send requests here as well. Its name is in the Origin
header, and in the Host header where it had its own name point here (DNS rebinding).
"""

import hmac
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from mock_server.web.admin_answers import Complaint, answer

UNAUTHORIZED = 401
FORBIDDEN = 403
CHALLENGE = {"www-authenticate": 'Bearer realm="admin"'}


class AdminGuard:
    """`token` None: only loopback is let in."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._token = token.encode() if token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if self._token and not self._knows_token(headers):
            refusal = answer(Complaint("this needs the admin token as a bearer"), UNAUTHORIZED)
            refusal.headers.update(CHALLENGE)
        elif reason := self._reason_against(scope, headers):
            refusal = answer(Complaint(reason), FORBIDDEN)
        else:
            await self._app(scope, receive, send)
            return
        await refusal(scope, receive, send)

    def _knows_token(self, headers: Headers) -> bool:
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        given = credentials.strip().encode("latin-1", "replace")
        return scheme.lower() == "bearer" and hmac.compare_digest(given, self._token or b"")

    def _reason_against(self, scope: Scope, headers: Headers) -> str | None:
        host = headers.get("host", "")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return "requests of web pages elsewhere are refused"
        if self._token:
            return None
        client = scope.get("client")
        if not client or not _is_loopback(client[0]):
            return "only this machine is let in; start with --admin-token-env to open it"
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
