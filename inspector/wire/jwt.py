"""What a JSON Web Token says of itself, read without verifying it (RFC 7519)."""

import base64
import binascii
import re

from inspector.wire.tree import Json, at, parse_json

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
    """Return the JSON that one part of a token holds; None where it holds none."""
    try:
        raw = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (ValueError, binascii.Error):
        return None
    return parse_json(raw).value
