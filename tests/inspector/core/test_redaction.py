"""A secret is found in any dress; innocent text stays."""

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.redaction import Redactor
from inspector.wire.tokens import MASK

SECRET = 's3cret"token'
REDACTOR = Redactor((("X-Own", f"Key {SECRET}"),))


@pytest.mark.parametrize(
    "name", ["Authorization", "COOKIE", "Set-Cookie", "X-API-Key", "x-own", "Proxy-Authorization"]
)
@pytest.mark.req("WIRE-1", "CONN-3")
def test_headers_that_carry_secrets_are_masked(name: str) -> None:
    assert REDACTOR.headers(((name, "anything"),)) == ((name, MASK),)


def test_other_headers_stay_but_for_the_secret() -> None:
    headers = (("Content-Type", "text/plain"), ("X-Echo", f"got {SECRET}"))
    assert REDACTOR.headers(headers) == (("Content-Type", "text/plain"), ("X-Echo", f"got {MASK}"))


@given(st.text(), st.text())
def test_the_secret_is_masked_wherever_it_stands(before: str, after: str) -> None:
    text = REDACTOR.text(before + SECRET + after)
    assert SECRET not in text
    assert MASK in text


def test_json_spells_it_with_escapes() -> None:
    assert REDACTOR.raw(rb'{"a": "s3cret\"token"}') == b'{"a": "***"}'


def test_a_value_too_short_to_be_a_secret_masks_no_text() -> None:
    redactor = Redactor((("X-Debug", "1"),))
    assert redactor.text("11 of 1") == "11 of 1"
    assert redactor.headers((("X-Debug", "1"),)) == (("X-Debug", MASK),)


def test_a_password_in_a_url_is_masked() -> None:
    assert REDACTOR.url("http://me:pass@host:1/x?y") == "http://me:***@host:1/x?y"
    assert REDACTOR.url("http://host/") == "http://host/"


@pytest.mark.req("CONN-3")
def test_secrets_learnt_later_are_masked_from_then_on() -> None:
    redactor = Redactor()
    assert redactor.text("a-secret b-secret") == "a-secret b-secret"
    redactor.learn("a-secret")
    redactor.learn_headers((("X-New", "Key b-secret"),))
    assert redactor.text("a-secret b-secret") == f"{MASK} {MASK}"
    assert redactor.headers((("x-new", "anything"),)) == (("x-new", MASK),)


def test_a_masked_token_tells_when_it_expires() -> None:
    token = jwt.encode({"exp": 142}, "a secret of enough bytes for this algorithm", "HS256")
    redactor = Redactor(now=lambda: 100.0)
    headers = redactor.headers((("Authorization", f"Bearer {token}"),))
    assert headers == (("Authorization", f"{MASK} (JWT, expires in 42 s)"),)
