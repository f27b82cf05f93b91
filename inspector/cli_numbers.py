"""Numbers in flags, within what they can be."""

import argparse


def seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("must be more than 0")
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
