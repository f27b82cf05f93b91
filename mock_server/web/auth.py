"""The orchestrator's bearer token, asked for before anything else is read (server.md AUTH)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from math import isfinite
from typing import TypeAlias, TypeGuard

import jwt
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.stdlib import get_logger

from mock_server.dialogue.model import Json
from mock_server.project.endpoints import KEY_ALGORITHMS, JwtAuth
from mock_server.web.rpc import RpcHandler
from mock_server.wire import jsonrpc
from mock_server.wire.jsonrpc import error_envelope
from mock_server.wire.operations import CallContext

logger = get_logger("a2a_server")

UNAUTHORIZED = 401
CHALLENGE = {"www-authenticate": "Bearer"}
NO_JWT = "it is not a JWT"
REASONS: Mapping[type[jwt.InvalidTokenError], str] = {
    jwt.InvalidSignatureError: "the signature is wrong",
    jwt.InvalidAlgorithmError: "the algorithm is not the configured one",
    jwt.InvalidIssuerError: "the issuer is not the configured one",
    jwt.InvalidAudienceError: "the audience is not the configured one",
}


@dataclass(frozen=True, slots=True)
class Authorized:
    """A valid token; `until` is when it expires, in seconds since the epoch."""

    until: float


@dataclass(frozen=True, slots=True)
class Rejected:
    """No token, or one that is not valid; `reason` holds nothing of it."""

    reason: str


Verdict: TypeAlias = Authorized | Rejected


class TokenCheck:
    """Judges the headers of a request; `now` is UTC."""

    def __init__(self, auth: JwtAuth, now: Callable[[], datetime]) -> None:
        self._auth = auth
        self._now = now
        algorithm = jwt.get_algorithm_by_name(auth.algorithm)
        # A public key is read once. A secret stays bytes, as PyJWT takes it.
        is_public = auth.algorithm in KEY_ALGORITHMS
        self._key = algorithm.prepare_key(auth.key) if is_public else auth.key

    def __call__(self, headers: Headers) -> Verdict:
        values = headers.getlist("authorization")
        if len(values) != 1:
            return Rejected("there is more than one token" if values else "there is no token")
        scheme, _, token = values[0].partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return Rejected("the scheme is not Bearer")
        try:
            claims = self._verified(token.strip())
        except jwt.MissingRequiredClaimError as error:
            return Rejected(f"claim {error.claim!r} is missing")
        except jwt.InvalidTokenError as error:
            return Rejected(REASONS.get(type(error), NO_JWT))
        except RecursionError:  # pragma: no cover -- PyJWT 2.15 makes it a DecodeError, 2.10 not
            return Rejected(NO_JWT)
        return _judged(claims, self._now().timestamp())

    def _verified(self, token: str) -> Mapping[str, Json]:
        """The claims of `token`, whose signature, issuer and audience are right."""
        return jwt.decode(
            token,
            self._key,
            algorithms=[self._auth.algorithm],
            issuer=self._auth.issuer,
            audience=self._auth.audience,
            options={
                "require": ["exp"],
                "verify_iss": self._auth.issuer is not None,
                "verify_aud": self._auth.audience is not None,
                "verify_sub": False,
                "verify_jti": False,
                # PyJWT cuts fractions of a second off, and has a clock of its own.
                "verify_exp": False,
                "verify_nbf": False,
                "verify_iat": False,
            },
        )


def _is_number(value: Json) -> TypeGuard[float]:
    """Python reads NaN and Infinity in JSON too, and neither is a time."""
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _judged(claims: Mapping[str, Json], now: float) -> Verdict:
    """`exp`, `nbf` and `iat` without leeway (AUTH-2; RFC 7519 §4.1)."""
    times: dict[str, float] = {}
    for name in ("exp", "nbf", "iat"):
        value = claims.get(name, 0)
        if not _is_number(value):
            return Rejected(f"claim {name!r} is not a number of seconds")
        times[name] = value
    if times["exp"] <= now:
        return Rejected("it has expired")
    if times["nbf"] > now or times["iat"] > now:
        return Rejected("it is not valid yet")
    return Authorized(times["exp"])


def guarded_rpc(rpc: RpcHandler, check: TokenCheck) -> RpcHandler:
    """`rpc` behind `check`; a call is refused in JSON-RPC, without an id (AUTH-1a)."""
    refusal = error_envelope(None, jsonrpc.unauthorized(), writes_null_id=True)

    async def handle(scope: Scope, receive: Receive, send: Send, context: CallContext) -> None:
        match check(Headers(scope=scope)):
            case Rejected(reason=reason):
                answer = _refuse(scope["path"], reason, refusal, "application/json")
                await answer(scope, receive, send)
            case Authorized(until=until):
                await rpc(scope, receive, send, replace(context, authorized_until=until))

    return handle


@dataclass(frozen=True, slots=True)
class GuardedCard:
    """`card` behind `check`; Starlette takes a function for a handler of requests."""

    card: ASGIApp
    check: TokenCheck

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self.card
        match self.check(Headers(scope=scope)):
            case Rejected(reason=reason):
                answer = _refuse(scope["path"], reason, b"Unauthorized", "text/plain")
            case Authorized():
                pass
        await answer(scope, receive, send)


def _refuse(path: str, reason: str, body: bytes, media_type: str) -> Response:
    logger.warning("a2a_server.sanic_app.auth_rejected", path=path, reason=reason)
    return Response(body, UNAUTHORIZED, CHALLENGE, media_type)
