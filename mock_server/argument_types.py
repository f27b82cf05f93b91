"""What the arguments of the command line may be: from their text to a value, or why not."""

from argparse import ArgumentTypeError
from urllib.parse import urlsplit

LAST_PORT = 65535


def port(text: str) -> int:
    if not text.isdecimal() or int(text) > LAST_PORT:
        raise ArgumentTypeError(f"{text!r} is no port: expected 0 to {LAST_PORT}")
    return int(text)


def count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


def byte_count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError(f"{text!r} is no number of bytes above 0")
    return int(text)


def url(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_fit = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_fit = False
    if not is_fit:
        raise ArgumentTypeError(f"{text!r} is no URL: expected http://HOST:PORT/ or https://…")
    return text


def seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ArgumentTypeError(f"{text!r} is no number of seconds, 0 or more")
    return number
