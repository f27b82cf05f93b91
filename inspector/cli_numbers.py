"""Numbers in flags, within what they can be."""

import argparse
from collections.abc import Callable
from math import inf, isfinite, nan

# a hundred years: nothing is older, and dates reach back so far
MOST_DAYS = 36_500


def seconds(text: str) -> float:
    return _number(text, "a number of seconds above 0", lambda value: 0 < value < inf)


def delay(text: str) -> float:
    return _number(text, "a number of seconds, 0 or more", lambda value: 0 <= value < inf)


def duration(text: str) -> float:
    """Of either sign: below 0 it has passed."""
    return _number(text, "a finite number of seconds", isfinite)


def days(text: str) -> float:
    return _number(text, f"0 to {MOST_DAYS} days", lambda value: 0 <= value <= MOST_DAYS)


def integer(text: str) -> int:
    return _integer(text, "a whole number", lambda _: True)


def count(text: str) -> int:
    return _integer(text, "a whole number, 0 or more", lambda value: value >= 0)


def port(text: str) -> int:
    return _integer(text, "a port, 0 to 65535", range(65536).__contains__)


def status(text: str) -> int:
    return _integer(text, "an HTTP status, 200 to 599", range(200, 600).__contains__)


def _number(text: str, expected: str, is_fit: Callable[[float], bool]) -> float:
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not is_fit(value):
        raise _unfit(text, expected)
    return value


def _integer(text: str, expected: str, is_fit: Callable[[int], bool]) -> int:
    try:
        value = int(text)
    except ValueError:
        raise _unfit(text, expected) from None
    if not is_fit(value):
        raise _unfit(text, expected)
    return value


def _unfit(text: str, expected: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"expected {expected}; found {text!r}")
