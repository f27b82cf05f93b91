"""JWTs with which an agent signs its notifications, checked with its own published keys."""

import hashlib
import hmac
from collections.abc import Awaitable, Callable
from math import inf
from typing import TYPE_CHECKING

from inspector.wire.tree import parse_json

if TYPE_CHECKING:
    from jwt import PyJWK, PyJWKSet

# symmetric ones are left out: what an agent publishes cannot be a secret
ALGORITHMS = frozenset(
    "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA".split()  # noqa: SIM905
)
# How many seconds ago each may lie, with half a minute for clocks that differ; a notification
# that was signed longer ago is sent again by somebody who saw it.
_AGES = {"iat": (-30.0, 300.0), "nbf": (-30.0, inf), "exp": (-inf, 30.0)}
REFRESH_SECONDS = 60.0
WELL_KNOWN_KEYS = "/.well-known/jwks.json"
BODY_HASH = "request_body_sha256"


class Signatures:
    """The keys at one URL: fetched when needed, and again for an unknown key after a minute.

    `fetch` returns the document or None; `now` is in seconds since 1970.
    """

    def __init__(
        self, fetch: Callable[[], Awaitable[bytes | None]], now: Callable[[], float]
    ) -> None:
        self._fetch = fetch
        self._now = now
        self._keys: PyJWKSet | None = None
        self._fetched: float | None = None

    async def problem_of(self, token: str, body: bytes) -> str | None:
        """Why `token` does not sign `body`, "" where it does; None where no keys can be had."""
        import jwt

        try:
            key_id = jwt.get_unverified_header(token).get("kid")
        except jwt.InvalidTokenError as error:
            return f"the JWT is malformed: {error}"
        key = await self._find(key_id)
        if self._keys is None:
            return None
        if key is None:
            return f"no key of the agent has the id {key_id!r}"
        try:
            claims: dict[str, object] = jwt.decode(
                token,
                key,
                algorithms=sorted(ALGORITHMS & {key.algorithm_name}),
                options={
                    "verify_aud": False,
                    # these are checked below, by the clock given
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except jwt.InvalidTokenError as error:
            return f"the JWT is not valid: {error}"
        return self._problem_of_claims(claims, body)

    def _problem_of_claims(self, claims: dict[str, object], body: bytes) -> str:
        now = self._now()
        for name, (youngest, oldest) in _AGES.items():
            seconds = claims.get(name, now)
            if not isinstance(seconds, int | float):
                return f"the JWT's {name} is no time"
            if not now - oldest <= seconds <= now - youngest:
                return f"the JWT is out of its time by {name}: too old, or sent again"
        signed = claims.get(BODY_HASH)
        if signed is None:
            return ""
        digest = hashlib.sha256(body).hexdigest()
        given = signed.encode(errors="replace") if isinstance(signed, str) else b""
        return "" if hmac.compare_digest(given, digest.encode()) else "the JWT signs another body"

    async def _find(self, key_id: str | None) -> "PyJWK | None":
        key = self._known(key_id)
        is_due = self._fetched is None or self._now() - self._fetched >= REFRESH_SECONDS
        if key is None and is_due:
            self._fetched = self._now()
            self._keys = _read_keys(await self._fetch()) or self._keys
            key = self._known(key_id)
        return key

    def _known(self, key_id: str | None) -> "PyJWK | None":
        keys = self._keys.keys if self._keys else []
        if key_id is None:
            return keys[0] if len(keys) == 1 else None
        return next((key for key in keys if key.key_id == key_id), None)


def _read_keys(document: bytes | None) -> "PyJWKSet | None":
    import jwt

    value = parse_json(document or b"").value
    if not isinstance(value, dict):
        return None
    try:
        return jwt.PyJWKSet.from_dict(value)
    except jwt.PyJWTError:
        return None


def bearer_jwt(authorization: str | None) -> str | None:
    """The token of `Bearer <token>` where it has the three parts of a JWT."""
    scheme, _, token = (authorization or "").partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token.count(".") == 2 else None  # noqa: PLR2004
