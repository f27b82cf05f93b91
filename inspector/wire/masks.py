"""How a secret stands in the log: masked, with what may be known of it."""

from enum import StrEnum

from inspector.wire.jwt import expiry_of, jwt_claims

MASK = "***"
_EXPIRED = f"{MASK} (JWT, expired "


class Shown(StrEnum):
    """What a masked header tells of the credential that went out."""

    OPAQUE = "opaque"
    TOKEN = "token"
    EXPIRED = "expired"


def mask_header(value: str, now_seconds: float) -> str:
    """Return what stands for `value`: of a JWT, how long it is still valid, or since when not."""
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
    """Return what a header's value in the log tells; None where it is not masked."""
    if value.startswith(_EXPIRED):
        return Shown.EXPIRED
    if value.startswith(f"{MASK} (JWT"):
        return Shown.TOKEN
    return Shown.OPAQUE if value == MASK else None
