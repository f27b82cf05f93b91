"""Who may use the mock: by the Host that a request names, the web page behind it, the peer that
sends it, and a token.

A web page makes its visitor's browser send requests to this machine, and with a name that it lets
point here (DNS rebinding) it reads the answers, too. Every request therefore names a known host
and comes from no page elsewhere. What changes the mock itself is, without a token, for this machine
alone, and takes JSON, which no page sends elsewhere without being asked first (Fetch, CORS).
"""

import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TypeAlias
from urllib.parse import urlsplit

from starlette.datastructures import Headers, QueryParams
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.stdlib import get_logger

from mock_server.faults.matching import RPC_PATH
from mock_server.tasks.json_text import encode_json
from mock_server.wire import jsonrpc

UNAUTHORIZED = 401
FORBIDDEN = 403
UNSUPPORTED_MEDIA_TYPE = 415
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
JUDGED = frozenset({b"host", b"origin", b"sec-fetch-site", b"sec-fetch-mode"})
READING = frozenset({"GET", "HEAD", "OPTIONS"})
# By these a proxy says that its client is another. They are believed for that much alone.
OF_PROXIES = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
SHOWN_LETTERS = 100
WEB_PAGE_ELSEWHERE = "requests of web pages elsewhere are refused"
FOR_THIS_MACHINE = (
    "without a token this is for requests from this machine to localhost or its loopback address; "
    "start the mock with {} to open it to others"
)

logger = get_logger("a2a_server")

KnowsToken: TypeAlias = Callable[[Scope], bool]


class Guard:
    """`app` for requests that name a known host, and come from no web page elsewhere.

    `hosts` are names and addresses without a port. Those of the loopback are known beside them,
    and so is the address at which a connection arrived.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = ()) -> None:
        self._app = app
        self._hosts = LOOPBACK_NAMES.union(map(host_name, filter(None, hosts)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app, reason = self._app, self._reason_against(scope)
        if reason is not None:
            logger.warning("a2a_mock.request.refused", path=scope["path"], reason=reason)
            app = _refusal(scope, reason)
        await app(scope, receive, send)

    def _reason_against(self, scope: Scope) -> str | None:
        given = [header for header in scope["headers"] if header[0] in JUDGED]

        def values(name: bytes) -> list[str]:
            return [value.decode("latin-1") for key, value in given if key == name]

        hosts = values(b"host")
        if len(hosts) != 1:
            return "expected one Host header"
        if not self._is_known(host_name(hosts[0]), scope):
            found = repr(hosts[0][:SHOWN_LETTERS])
            return f"the Host header names {found}; start the mock with --allow-host to allow it"
        if any(origin.partition("://")[2] != hosts[0] for origin in values(b"origin")):
            return WEB_PAGE_ELSEWHERE
        # A link to the card may be followed from anywhere.
        is_link = scope["method"] in READING and values(b"sec-fetch-mode") == ["navigate"]
        if "cross-site" in values(b"sec-fetch-site") and not is_link:
            return WEB_PAGE_ELSEWHERE
        return None

    def _is_known(self, name: str, scope: Scope) -> bool:
        if name in self._hosts:
            return True
        address = _address(name)
        if address is None:
            return False
        here = scope.get("server")
        return address.is_loopback or (here is not None and address == _address(here[0]))


def _refusal(scope: Scope, reason: str) -> Response:
    body = encode_json({"error": reason}) + b"\n"
    if scope["path"] == RPC_PATH:
        body = jsonrpc.error_envelope(None, jsonrpc.refused(reason), writes_null_id=True)
    return Response(body, FORBIDDEN, media_type="application/json")


@dataclass(frozen=True, slots=True)
class Restricted:
    """`app` for those who know the token, or for this machine where there is none (None).

    What they send must be JSON. `refuse` makes the answer to others, of status and reason;
    `token_flag` sets the token.
    """

    app: ASGIApp
    knows_token: KnowsToken | None
    token_flag: str
    refuse: Callable[[int, str], Response]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope)
        await (self.app if refusal is None else refusal)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if self.knows_token is None:
            if not _is_of_this_machine(scope, headers):
                return self.refuse(FORBIDDEN, FOR_THIS_MACHINE.format(self.token_flag))
        elif not self.knows_token(scope):
            return self.refuse(UNAUTHORIZED, f"this needs the token of {self.token_flag}")
        if scope["method"] not in READING and not _is_json(headers):
            return self.refuse(UNSUPPORTED_MEDIA_TYPE, "expected Content-Type: application/json")
        return None


def _is_of_this_machine(scope: Scope, headers: Headers) -> bool:
    """A proxy on this machine has a loopback address, but its clients may be anywhere."""
    client = scope.get("client")
    return (
        client is not None
        and _is_loopback(client[0])
        and _is_loopback(host_name(headers.get("host", "")))
        and not any(name in headers for name in OF_PROXIES)
    )


def _is_json(headers: Headers) -> bool:
    """Whether what is sent is declared as JSON; nothing at all needs no declaration."""
    declared = headers.get("content-type")
    if declared is None:
        return headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
    media_type = declared.partition(";")[0].strip().lower()
    return media_type == "application/json" or media_type.endswith("+json")


def bearer_check(token: str) -> KnowsToken:
    """Whether `token` is sent as `Authorization: Bearer`."""

    def knows_token(scope: Scope) -> bool:
        scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        sent = given.strip().encode("latin-1", "replace")
        return scheme.lower() == "bearer" and hmac.compare_digest(sent, token.encode())

    return knows_token


def query_check(token: str) -> KnowsToken:
    """Whether `token` is the first `token` of the query, as Rasa's HTTP API has it."""

    def knows_token(scope: Scope) -> bool:
        given = QueryParams(scope["query_string"]).getlist("token")
        return hmac.compare_digest("".join(given[:1]).encode(), token.encode())

    return knows_token


def host_of(url: str) -> str:
    """The host of `url`, or "" where it has none that can be read."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def host_name(host: str) -> str:
    """The name or address of `host`, which may have a port, in lower case."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    name = host if host.count(":") > 1 else host.partition(":")[0]
    return name.lower().removesuffix(".")


def _is_loopback(name: str) -> bool:
    address = _address(name)
    return name in LOOPBACK_NAMES or (address is not None and address.is_loopback)


def _address(name: str) -> IPv4Address | IPv6Address | None:
    """The address that `name` is; that of IPv4 where IPv6 only wraps it."""
    try:
        address = ip_address(name)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address
