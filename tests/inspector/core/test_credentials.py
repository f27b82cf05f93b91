"""Headers made from variables and secrets; a mistake never prints the value."""

import jwt
import pytest

from inspector.core.credentials import (
    header_of,
    parse_header,
    parse_headers,
    read_variable,
    token_expiry,
    with_header,
)
from inspector.errors import UsageError
from inspector.wire.card import BEARER, Scheme


def test_variables_are_filled_in() -> None:
    environment = {"TOKEN": "abc", "SCHEME": "Bearer"}
    assert parse_headers(["Authorization: ${SCHEME} ${TOKEN}", "X: $1"], environment) == (
        ("Authorization", "Bearer abc"),
        ("X", "$1"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "topsecret",
        "a b: topsecret",
        ": topsecret",
        "A: topsecret\n1",
        "Authorization: Bearer topsecret",
        "x-api-key: topsecret",
        "Cookie: id=topsecret",
    ],
)
@pytest.mark.req("CONN-3")
def test_a_mistake_does_not_tell_the_value(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_header(text, {})
    assert "topsecret" not in str(caught.value)


@pytest.mark.req("CONN-3")
def test_a_secret_in_plain_words_is_refused() -> None:
    with pytest.raises(UsageError, match="seen by everybody on this machine"):
        parse_header("Authorization: Bearer abc", {})


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(UsageError, match="GONE is not set"):
        parse_header("A: ${GONE}", {})


def test_the_line_end_of_a_file_is_no_part_of_the_secret() -> None:
    assert read_variable("--token-env", "T", {"T": "abc\n"}) == "abc"


@pytest.mark.parametrize(
    ("scheme", "header"),
    [
        (BEARER, ("Authorization", "Bearer abc")),
        (Scheme("X-API-Key", "{key}"), ("X-API-Key", "abc")),
        (Scheme("X-Auth", "Key {key}; v=1"), ("X-Auth", "Key abc; v=1")),
    ],
)
def test_a_secret_travels_as_its_scheme_says(scheme: Scheme, header: tuple[str, str]) -> None:
    assert header_of(scheme, "abc", "here") == header


@pytest.mark.parametrize(
    ("scheme", "secret", "complaint"),
    [
        (BEARER, "", "here: it is empty"),
        (Scheme("X", "Key"), "abc", "has no place for the key"),
        (Scheme("X Y", "{key}"), "abc", "'X Y' is not a header name"),
        (BEARER, "a\nb", "no header may hold"),
    ],
)
def test_what_no_header_can_carry_is_told(scheme: Scheme, secret: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        header_of(scheme, secret, "here")


def test_a_header_takes_the_place_of_its_name() -> None:
    headers = (("A", "1"), ("authorization", "old"), ("B", "2"))
    assert with_header(headers, ("Authorization", "new")) == (
        ("A", "1"),
        ("B", "2"),
        ("Authorization", "new"),
    )


def test_expiry_of_the_token_among_headers() -> None:
    token = jwt.encode({"exp": 42}, "a secret of enough bytes for this algorithm", "HS256")
    assert token_expiry((("X", "Key abc"), ("Authorization", f"Bearer {token}"))) == 42
    assert token_expiry((("X-Token", token),)) == 42
    assert token_expiry((("Authorization", "Bearer abc"),)) is None
