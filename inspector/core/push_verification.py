"""Which notifications are expected: each turn has a secret token, which stands for its task.

The verification of a notification is here; nothing of it depends on when or how it came.
"""

import hashlib
import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from inspector.core.entries import PushReceived, PushVerdict
from inspector.net.events import Outgoing, find_header
from inspector.wire.dialect import Callback, Dialect
from inspector.wire.endpoints import DEFAULT, dialect_of
from inspector.wire.json_values import parse_json
from inspector.wire.signatures import ALGORITHMS

if TYPE_CHECKING:
    from jwt import PyJWK, PyJWKSet


TOKEN_HEADER = "X-A2A-Notification-Token"
MAX_REGISTRATIONS = 1000
MAX_UNVERIFIED_BYTES = 64 * 1024


@dataclass(slots=True)
class Registration:
    """What an agent is given to post to.

    It is for the first task that it is used for, or for any where `is_for_any` says so.
    """

    url: str
    token: str = field(repr=False)
    watch: Callable[[PushReceived], None]
    is_for_any: bool = False
    task_id: str | None = None

    @property
    def callback(self) -> Callback:
        return Callback(self.url, self.token)


@dataclass(frozen=True, slots=True)
class Verification:
    """`registration` is that of the token, where a known one came."""

    verdict: PushVerdict
    reason: str = ""
    registration: Registration | None = None


class Registrations:
    """The newest thousand."""

    def __init__(self) -> None:
        self._by_age: list[Registration] = []

    def add(self, registration: Registration) -> None:
        self._by_age.append(registration)
        del self._by_age[:-MAX_REGISTRATIONS]

    def verify(self, token: str | None, body: bytes, dialect: Dialect = DEFAULT) -> Verification:
        """What to make of a notification that came with `token`.

        A wrong token is forged whatever the body; none at all is forged for a task that is known,
        and of an unknown task otherwise.
        """
        registration = self._find(token) if token is not None else None
        if token is not None and registration is None:
            return Verification(PushVerdict.FORGED, f"{TOKEN_HEADER} is not the one registered")
        # megabytes without a known token are not worth the time of reading them
        notification = dialect.read_notification(
            body if registration else body[:MAX_UNVERIFIED_BYTES]
        )
        result = notification.result
        if result is None or result.task_id is None:
            return Verification(PushVerdict.BAD_BODY, notification.problem, registration)
        if registration is None:
            if any(one.is_for_any or one.task_id == result.task_id for one in self._by_age):
                return Verification(PushVerdict.FORGED, f"there is no {TOKEN_HEADER}")
            return Verification(
                PushVerdict.UNKNOWN_TASK, "nobody asked for notifications of this task"
            )
        if not registration.is_for_any and registration.task_id not in (None, result.task_id):
            reason = "the token belongs to another task"
            return Verification(PushVerdict.UNKNOWN_TASK, reason, registration)
        return Verification(PushVerdict.ACCEPTED, registration=registration)

    def _find(self, token: str) -> Registration | None:
        """The registration of `token`; every one is compared, each in constant time."""
        given = token.encode(errors="replace")
        found = None
        for one in self._by_age:
            if hmac.compare_digest(one.token.encode(), given):
                found = one
        return found


class PushVerifier:
    """`fetch_keys` gets the agent's keys, from the URL given or where agents usually have them."""

    def __init__(
        self,
        registrations: Registrations,
        fetch_keys: Callable[[str | None], Awaitable[bytes | None]],
        now: Callable[[], float],
        jwks_url: str | None,
    ) -> None:
        self._jwks_url = jwks_url
        self._registrations = registrations
        self._signatures = Signatures(lambda: fetch_keys(jwks_url), now)

    async def verify(self, push: Outgoing) -> Verification:
        token = find_header(push.headers, TOKEN_HEADER)
        verification = self._registrations.verify(token, push.body, dialect_of(push.endpoint))
        if verification.verdict is PushVerdict.ACCEPTED:
            problem = await self._problem_of_signature(push)
            if problem:
                return Verification(PushVerdict.FORGED, problem, verification.registration)
        return verification

    async def _problem_of_signature(self, push: Outgoing) -> str:
        """Verify a JWT if keys are available; one must be there if the user named keys."""
        is_must = self._jwks_url is not None
        token = bearer_jwt(find_header(push.headers, "Authorization"))
        if token is None:
            return "there is no JWT in Authorization" if is_must else ""
        problem = await self._signatures.problem_of(token, push.body)
        if problem is None:
            return "the agent's keys are unavailable" if is_must else ""
        return problem


# How many seconds old each may be, with half a minute for clocks that differ; a notification
# that was signed longer ago was captured and sent again.
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
        """Why `token` does not sign `body`, "" where it does; None where no keys are available."""
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
                return f"the JWT's {name} is not a time"
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
