"""What a token says of itself, whoever signed it."""

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.tokens import Shown, decode_part, expiry_of, jwt_claims, mask_header, read_mask

KEY = "a secret of enough bytes for the shortest algorithm"


def token(**claims: object) -> str:
    return jwt.encode(claims, KEY, "HS256")


def test_claims_are_read_without_the_key() -> None:
    assert jwt_claims(token(exp=7, aud=["a"])) == {"exp": 7, "aud": ["a"]}
    assert decode_part(token().split(".")[0]) == {"alg": "HS256", "typ": "JWT"}


@pytest.mark.parametrize(
    ("claims", "expiry"),
    [({"exp": 42}, 42.0), ({"exp": 4.5}, 4.5), ({}, None), ({"sub": "x"}, None)],
)
@pytest.mark.req("CONN-3")
def test_expiry(claims: dict[str, object], expiry: float | None) -> None:
    assert expiry_of(token(**claims)) == expiry


@pytest.mark.parametrize("expiry", ["true", '"soon"', "null", "[1]", "1e400", "9" * 400])
def test_an_expiry_that_is_no_time_is_none(expiry: str) -> None:
    payload = f'{{"exp":{expiry}}}'.encode()
    assert expiry_of(jwt.api_jws.encode(payload, KEY, "HS256")) is None


@pytest.mark.parametrize("text", ["", "opaque", "a.b.c", "ey.ey.ey", "eyJ9.eyJ9.x", "ey!.ey!.x"])
def test_what_is_no_jwt_has_no_claims(text: str) -> None:
    assert jwt_claims(text) is None
    assert expiry_of(text) is None


def test_a_payload_that_is_no_object_has_no_claims() -> None:
    assert jwt_claims("eyJh.ey" + "IiI.x") is None


@given(st.text(), st.from_regex(r"ey[\w.-]{0,60}", fullmatch=True))
def test_no_text_breaks_it(text: str, like_a_token: str) -> None:
    assert jwt_claims(text) is None or "." in text
    expiry_of(like_a_token)


NOW = 1_000.0


def bearer(**claims: object) -> str:
    return "Bearer " + jwt.encode(claims, "a secret of enough bytes for this algorithm", "HS256")


@pytest.mark.parametrize(
    ("value", "masked", "shown"),
    [
        ("Bearer opaque", "***", Shown.OPAQUE),
        (bearer(exp=1042), "*** (JWT, expires in 42 s)", Shown.TOKEN),
        (bearer(exp=1000), "*** (JWT, expired 0 s ago)", Shown.EXPIRED),
        (bearer(exp=10), "*** (JWT, expired 990 s ago)", Shown.EXPIRED),
        (bearer(), "*** (JWT without exp)", Shown.TOKEN),
    ],
)
@pytest.mark.req("CONN-3", "WIRE-1")
def test_of_a_token_it_is_told_how_long_it_is_valid(value: str, masked: str, shown: Shown) -> None:
    assert mask_header(value, NOW) == masked
    assert read_mask(masked) is shown


@pytest.mark.parametrize("value", ["", "application/json", "Bearer abc", "**"])
def test_a_header_that_is_not_masked_tells_nothing(value: str) -> None:
    assert read_mask(value) is None


@given(st.text())
def test_every_value_is_masked(value: str) -> None:
    assert mask_header(f"Bearer {value}", NOW).startswith("***")
    assert read_mask(mask_header(value, NOW)) is not None
