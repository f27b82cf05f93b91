"""What a token says of itself, whoever signed it."""

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.jwt import decode_part, expiry_of, jwt_claims

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
