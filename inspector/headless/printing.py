"""Writes to stdout and stderr, which may be full, closed early, or lack a character."""

import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from inspector.errors import InspectorError, UsageError
from inspector.wire.tree import Json


def print_text(*lines: str) -> None:
    """Print to stdout, at once.

    Raises:
        UsageError: stdout takes no more; whatever else is printed is lost.
        BrokenPipeError: whoever read it has gone.
    """
    with _stdout():
        sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()


def print_json(value: Json) -> None:
    """One line. ASCII only: escapes keep an agent's control characters off the terminal."""
    print_text(json.dumps(value))


def print_bytes(content: bytes) -> None:
    """Print to stdout what is no text of ours, byte for byte. Raises as `print_text` does."""
    with _stdout():
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.flush()


def print_aside(*lines: str) -> None:
    """Print to stderr; where it takes nothing there is nobody to tell."""
    try:
        sys.stderr.writelines(f"{line}\n" for line in lines)
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)


def print_notice(text: str) -> None:
    """Print to stderr what the program itself has to say."""
    print_aside(f"a2a-inspect: {text}")


def print_error(error: InspectorError) -> None:
    print_notice(error.text)
    if error.hint:
        print_aside(f"  {'try':<11}  {error.hint}")


@contextmanager
def _stdout() -> Generator[None]:
    try:
        yield
    except OSError as error:
        _give_up(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise
        raise UsageError(
            f"stdout cannot be written: {error.strerror}", "make room, or print somewhere else"
        ) from error


def _give_up(stream: TextIO) -> None:
    """What is still buffered must not fail once more at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
