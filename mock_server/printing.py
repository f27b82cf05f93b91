"""Writes to stdout and stderr, which may be full, closed early, or lack a character."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from mock_server.errors import OutputLost


def print_lines(*lines: str) -> None:
    """Print to stdout, at once; what its encoding lacks is escaped rather than refused.

    Raises:
        OutputLost: stdout takes no more.
        BrokenPipeError: the reader has gone.
    """
    with _stdout():
        encoding = sys.stdout.encoding
        for line in lines:
            sys.stdout.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        sys.stdout.flush()


def print_bytes(content: bytes) -> None:
    """Print to stdout as it is, whatever the terminal is. Raises as `print_lines` does."""
    with _stdout():
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.flush()


def prompt(text: str) -> None:
    """Print `text` to stdout, where the user types after it. Raises as `print_lines` does."""
    with _stdout():
        sys.stdout.write(text)
        sys.stdout.flush()


def complain(*lines: object) -> None:
    """Print to stderr; if that fails, nobody can be told."""
    try:
        sys.stderr.writelines(f"{line}\n" for line in lines)
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)


@contextmanager
def _stdout() -> Generator[None]:
    try:
        yield
    except OSError as error:
        _give_up(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise
        raise OutputLost(error.strerror or str(error)) from error


def _give_up(stream: TextIO) -> None:
    """What is still buffered must not fail once more at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
