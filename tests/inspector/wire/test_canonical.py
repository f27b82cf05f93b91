"""RFC 8785 by its own examples, and by another implementation."""

import json
import struct

import pytest
from a2a.utils._jcs import canonicalize
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.canonical import NotCanonical, canonical
from inspector.wire.tree import Json

# RFC 8785 appendix B: doubles by their bits.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "text"), NUMBERS.items())
def test_numbers(bits: str, text: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(value) == text.encode()


def test_the_example_of_the_rfc() -> None:
    value = json.loads(
        r"""{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]}"""
    )
    assert canonical(value).decode() == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_names_are_sorted_as_utf_16() -> None:
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    order = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    value: Json = dict.fromkeys(names, 0)
    assert list(json.loads(canonical(value))) == order


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=10,
)


@given(JSON)
def test_another_implementation_writes_the_same(value: Json) -> None:
    assert canonical(value).decode() == canonicalize(value)


@given(JSON)
def test_what_is_written_reads_the_same(value: Json) -> None:
    assert json.loads(canonical(value), parse_int=float) == value


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 10**400, "\ud800", {"\ud800": 1}])
def test_what_has_no_canonical_form(value: Json) -> None:
    with pytest.raises(NotCanonical):
        canonical(value)


def test_a_long_integer_is_a_double() -> None:
    assert canonical(2**53 + 1) == b"9007199254740992"
