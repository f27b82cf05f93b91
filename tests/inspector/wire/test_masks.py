"""A masked header tells what may be known, and never the secret."""

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.masks import Shown, mask_header, read_mask

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
