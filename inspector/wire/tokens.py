"""What a JSON Web Token says of itself, unverified (RFC 7519), and how the log masks secrets."""

import base64
import binascii
import re
from enum import StrEnum

from inspector.wire.json_values import Json, at, parse_json

# Three parts of base64url, the first two of which begin as every JSON object does in that code.
_JWT = re.compile(r"e[\w-]+\.e[\w-]+\.[\w-]*")


def jwt_claims(token: str) -> dict[str, Json] | None:
    """Return the claims of `token`, true or not; None where it is no JWT."""
    if not _JWT.fullmatch(token):
        return None
    claims = decode_part(token.split(".")[1])
    return claims if isinstance(claims, dict) else None


def expiry_of(token: str) -> float | None:
    """Return when `token` expires, in seconds since 1970; None where it does not say."""
    claims = jwt_claims(token)
    expiry = at(claims, "exp")
    if not isinstance(expiry, int | float) or isinstance(expiry, bool):
        return None
    # an integer of any length is JSON, but no time
    return float(expiry) if abs(expiry) < 1e15 else None  # noqa: PLR2004


def decode_part(part: str) -> Json:
    """Return the JSON in one part of a token; None where there is none."""
    raw = decode_base64url(part)
    return None if raw is None else parse_json(raw).value


def decode_base64url(text: str) -> bytes | None:
    """Decode base64url without padding; None where `text` is not that."""
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        return None


MASK = "***"
_EXPIRED = f"{MASK} (JWT, expired "


class Shown(StrEnum):
    """What a masked header shows of the credential that went out."""

    OPAQUE = "opaque"
    TOKEN = "token"
    EXPIRED = "expired"


def mask_header(value: str, now_seconds: float) -> str:
    """Return the mask of `value`; that of a JWT says when it expires or expired."""
    token = value.rpartition(" ")[2]
    if jwt_claims(token) is None:
        return MASK
    expiry = expiry_of(token)
    if expiry is None:
        return f"{MASK} (JWT without exp)"
    left = expiry - now_seconds
    return (
        f"{MASK} (JWT, expires in {left:.0f} s)"
        if left > 0
        else f"{_EXPIRED}{abs(left):.0f} s ago)"
    )


def read_mask(value: str) -> Shown | None:
    """Return what a header's value in the log shows; None where it is not masked."""
    if value.startswith(_EXPIRED):
        return Shown.EXPIRED
    if value.startswith(f"{MASK} (JWT"):
        return Shown.TOKEN
    return Shown.OPAQUE if value == MASK else None
