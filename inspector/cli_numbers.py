"""Numbers in flags, within what they can be."""

import argparse
from math import isfinite

# a hundred years: nothing is older, and dates reach back so far
MOST_DAYS = 36_500


def seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("must be more than 0")
    return value


def duration(text: str) -> float:
    """Of either sign: below 0 it has passed."""
    value = float(text)
    if not isfinite(value):
        raise argparse.ArgumentTypeError(f"must be a finite number; found {text!r}")
    return value


def days(text: str) -> float:
    value = float(text)
    if not 0 <= value <= MOST_DAYS:
        raise argparse.ArgumentTypeError(f"must be 0 to {MOST_DAYS}; found {text!r}")
    return value


def port(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 65535:  # noqa: PLR2004
        raise argparse.ArgumentTypeError("must be 0 to 65535")
    return value


def status(text: str) -> int:
    value = int(text)
    if not 200 <= value <= 599:  # noqa: PLR2004
        raise argparse.ArgumentTypeError("must be 200 to 599")
    return value
