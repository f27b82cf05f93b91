"""Headers with variables filled in; a mistake never prints the value."""

import pytest

from inspector.core.credentials import parse_header, parse_headers
from inspector.errors import UsageError


def test_variables_are_filled_in() -> None:
    environment = {"TOKEN": "abc", "SCHEME": "Bearer"}
    assert parse_headers(["Authorization: ${SCHEME} ${TOKEN}", "X: $1"], environment) == (
        ("Authorization", "Bearer abc"),
        ("X", "$1"),
    )


@pytest.mark.parametrize("text", ["topsecret", "a b: topsecret", ": topsecret", "A: topsecret\n1"])
@pytest.mark.req("CONN-3")
def test_a_mistake_does_not_tell_the_value(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_header(text, {})
    assert "topsecret" not in str(caught.value)


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(UsageError, match="GONE is not set"):
        parse_header("A: ${GONE}", {})
