"""Writes to stdout and stderr, which may be full, closed early, or lack a character."""

import json
import os
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO, TypeAlias

from inspector.errors import InspectorError, UsageError
from inspector.wire.json_values import Json
from inspector.wire.states import parse_state

# JSON that may be read only while it is written: an iterator stands for a list.
Written: TypeAlias = "Json | dict[str, Written] | Iterator[Written]"


def print_text(*lines: str) -> None:
    """Print to stdout, at once. Raises as `print_lines` does."""
    print_lines(lines)


def print_lines(lines: Iterable[str]) -> None:
    """Print `lines` to stdout as they come.

    Raises:
        UsageError: stdout takes no more; whatever else is printed is lost.
        BrokenPipeError: the reader has gone.
    """
    with _stdout():
        sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()


def print_json(value: Written) -> None:
    """One line, written as `value` is read. Raises as `print_lines` does.

    ASCII only: escapes keep an agent's control characters off the terminal.
    """
    with _stdout():
        sys.stdout.writelines(_encode(value))
        sys.stdout.write("\n")
        sys.stdout.flush()


def _encode(value: Written) -> Iterator[str]:
    """`value` as `json.dumps` writes it, in pieces."""
    if isinstance(value, Iterator):
        yield "["
        for number, item in enumerate(value):
            yield ", " if number else ""
            yield from _encode(item)
        yield "]"
    elif isinstance(value, dict) and any(
        isinstance(one, dict | Iterator) for one in value.values()
    ):
        for number, (name, item) in enumerate(value.items()):
            yield f"{', ' if number else '{'}{json.dumps(name)}: "
            yield from _encode(item)
        yield "}"
    else:
        yield json.dumps(value)


def print_bytes(content: bytes) -> None:
    """Print `content` to stdout, byte for byte. Raises as `print_text` does."""
    with _stdout():
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.flush()


def print_aside(*lines: str) -> None:
    """Print to stderr; if that fails, nothing more can be done."""
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


def can_ask() -> bool:
    """Say whether there is a terminal to ask at."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> str:
    """Ask at the terminal; the answer in lower case, "" where there is none."""
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower()


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


_RESET = "\x1b[0m"
BOLD, DIM, RED, GREEN, YELLOW, CYAN = "1", "2", "31", "32", "33", "36"

SYMBOLS = {
    "submitted": ("○", DIM),
    "working": ("◌", CYAN),
    "input-required": ("◐", YELLOW),
    "auth-required": ("!", YELLOW),
    "completed": ("✓", GREEN),
    "failed": ("✗", RED),
    "canceled": ("⊘", DIM),
    "rejected": ("R", RED),
}


@dataclass(frozen=True, slots=True)
class Ink:
    """Colours text, or leaves it as it is."""

    is_coloured: bool

    def __call__(self, text: str, *styles: str) -> str:
        codes = ";".join(style for style in styles if style)
        return f"\x1b[{codes}m{text}{_RESET}" if self.is_coloured and codes else text

    def state(self, state: str) -> str:
        """The symbol and name of `state`, in any version's spelling."""
        known = parse_state(state) or ""
        symbol, style = SYMBOLS.get(known, ("?", RED))
        return self(f"{symbol} {known or state}", style)


def ink_for(stream: TextIO, environment: Mapping[str, str] = os.environ) -> Ink:
    """Colours on a terminal only, and not where NO_COLOR is set (no-color.org)."""
    is_plain = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
    return Ink(stream.isatty() and not is_plain)


def milliseconds(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.2f} s"  # noqa: PLR2004
