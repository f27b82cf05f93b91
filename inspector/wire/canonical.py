"""The one way to write a JSON value that signatures agree on: RFC 8785."""

import json
from decimal import Decimal
from math import isfinite
from typing import assert_never

from inspector.wire.tree import Json

# Beyond these a number is written with an exponent; ECMA-262 §6.1.6.1.20.
_MOST_DIGITS = 21
_MOST_ZEROS = 6
_EXACT = 2**53


class NotCanonical(ValueError):
    """The value has no canonical form."""


def canonical(value: Json) -> bytes:
    """Return `value` as RFC 8785 writes it.

    Raises:
        NotCanonical: a number beyond doubles, or half a surrogate pair.
    """
    try:
        return _write(value).encode()
    except UnicodeEncodeError as error:
        raise NotCanonical("text that is no Unicode") from error


def _write(value: Json) -> str:
    match value:
        case dict():
            # §3.2.3 sorts by UTF-16 code units
            names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
            return "{" + ",".join(f"{_write(name)}:{_write(value[name])}" for name in names) + "}"
        case list():
            return "[" + ",".join(_write(item) for item in value) + "]"
        case bool() | None | str():
            return json.dumps(value, ensure_ascii=False)
        case int():
            return str(value) if abs(value) < _EXACT else _number(_as_double(value))
        case float():
            return _number(value)
        case _ as never:
            assert_never(never)


def _as_double(value: int) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise NotCanonical("a number beyond doubles") from error


def _number(value: float) -> str:
    """As ECMAScript writes it: the fewest digits that give the same double (§3.2.2.3)."""
    if not isfinite(value):
        raise NotCanonical("a number beyond doubles")
    if value == 0:
        return "0"
    sign, parts, power = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(power, int)
    digits = "".join(str(part) for part in parts)
    return ("-" if sign else "") + _place_point(digits, len(digits) + power)


def _place_point(digits: str, point: int) -> str:
    """Put the point after `point` digits, which may be before or behind all of them."""
    count = len(digits)
    if count <= point <= _MOST_DIGITS:
        return digits + "0" * (point - count)
    if 0 < point <= _MOST_DIGITS:
        return f"{digits[:point]}.{digits[point:]}"
    if -_MOST_ZEROS < point <= 0:
        return "0." + "0" * -point + digits
    mantissa = digits[0] + (f".{digits[1:]}" if count > 1 else "")
    return f"{mantissa}e{point - 1:+d}"
