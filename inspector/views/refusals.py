"""Why an agent refuses a caller: credentials that are missing, wrong, expired, not enough."""

import re
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus

from inspector.views.exchanges import Exchange, header
from inspector.wire.masks import Shown, read_mask

_DESCRIPTION = re.compile(r'error_description="([^"]*)"')


class RefusalKind(StrEnum):
    MISSING = "missing"
    WRONG = "wrong"
    EXPIRED = "expired"
    FORBIDDEN = "forbidden"


@dataclass(frozen=True, slots=True)
class Refusal:
    """`cause` and `hint` as a problem tells them."""

    kind: RefusalKind
    cause: str
    hint: str


def refusal_of(exchange: Exchange) -> Refusal | None:
    """Why the agent answered 401 or 403; None where it did not.

    Whether a token had expired when it went out is known from its own `exp`, whatever the agent
    says; RFC 6750 §3 has its words.
    """
    if exchange.response is None:
        return None
    shown, said = _shown(exchange), _description(exchange)
    match exchange.response.status:
        case HTTPStatus.UNAUTHORIZED if shown is None:
            return _missing(exchange)
        case HTTPStatus.UNAUTHORIZED if shown is Shown.EXPIRED or "expired" in said.lower():
            return _expired(exchange, said)
        case HTTPStatus.UNAUTHORIZED:
            return _wrong(shown, said)
        case HTTPStatus.FORBIDDEN:
            return _forbidden(shown, said)
        case _:
            return None


def _missing(exchange: Exchange) -> Refusal:
    wanted = _challenge(exchange).partition(" ")[0]
    return Refusal(
        RefusalKind.MISSING,
        f"no credentials were sent; the agent wants {wanted or 'some'}",
        "--token-env VAR, --api-key-env VAR or --jwt-alg ALG; in the app, K asks for them",
    )


def _expired(exchange: Exchange, said: str) -> Refusal:
    ago = re.search(r"expired (\d+) s ago", " ".join(_masked(exchange)))
    cause = f"the token had expired {ago[1]} s before it was sent" if ago else "the token expired"
    return Refusal(
        RefusalKind.EXPIRED,
        cause + _quote(said),
        "a new one: a2a-inspect token makes one; in the app, K renews it, then r resends",
    )


def _wrong(shown: Shown | None, said: str) -> Refusal:
    if shown is Shown.TOKEN:
        cause = "the agent does not accept this token: another key, issuer or audience, or no exp"
    else:
        cause = "the agent does not accept these credentials"
    return Refusal(
        RefusalKind.WRONG,
        cause + _quote(said),
        "compare key, iss and aud with what the agent expects; in the app, K takes another one",
    )


def _forbidden(shown: Shown | None, said: str) -> Refusal:
    if shown is None:
        cause = "without credentials this is not allowed"
    else:
        cause = "the agent knows these credentials, but they may not do this"
    return Refusal(
        RefusalKind.FORBIDDEN,
        cause + _quote(said),
        "credentials with other rights: --token-env VAR; in the app, K takes them",
    )


def _shown(exchange: Exchange) -> Shown | None:
    """What the request showed; of several masked headers, the one that tells most."""
    found = [shown for value in _masked(exchange) if (shown := read_mask(value))]
    return max(found, key=list(Shown).index, default=None)


def _masked(exchange: Exchange) -> list[str]:
    return [value for name, value in exchange.request.headers if name.lower() != "cookie"]


def _challenge(exchange: Exchange) -> str:
    return header(exchange.response, "www-authenticate") if exchange.response else ""


def _description(exchange: Exchange) -> str:
    found = _DESCRIPTION.search(_challenge(exchange))
    return found[1] if found else ""


def _quote(said: str) -> str:
    return f"; it says {said!r}" if said else ""
