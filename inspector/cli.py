"""The program `a2a-inspect`: reads its flags, runs the command, and ends with its exit status."""

import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from inspector.errors import EXIT_INTERRUPTED, EXIT_OK, InspectorError, UsageError
from inspector.headless.command_line import command_parser


def main(argv: Sequence[str] | None = None, when_ready: Callable[[], None] = lambda: None) -> int:
    """Run `a2a-inspect` with `argv` and return its exit status (inspector.md CLI-1).

    `when_ready` is called once all is read and imported, right before the command runs.
    """
    _never_fail_to_encode()
    words = sys.argv[1:] if argv is None else list(argv)
    status = EXIT_OK
    # a stream prints from within its tasks, so that what went wrong may come in a group
    try:
        status = _run(words, when_ready)
    except* InspectorError as group:
        status = _report(group)
    except* KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    except* BrokenPipeError:
        # the reader closed the pipe because it has seen enough
        status = EXIT_OK
    return status


def _report(errors: BaseExceptionGroup[InspectorError]) -> int:
    """Print `errors` and return the exit status of the last."""
    from inspector.headless.terminal import print_error

    status = EXIT_OK
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            status = _report(error)
        else:
            print_error(error)
            status = error.exit_status
    return status


def _run(words: list[str], when_ready: Callable[[], None]) -> int:
    _refuse_undecodable(words)
    if words and words[0] in ("-h", "--help", "--version"):
        command_parser().parse_args(words)
    # help has been printed by now: what follows may take its time
    from inspector.headless.options import Options, Targeted, read_options

    module, options = read_options(words)
    if isinstance(options, Targeted):
        from inspector.headless.targets import with_saved_target

        options = with_saved_target(options)
    run: Callable[[Options], int] = import_module(module).run
    when_ready()
    return run(options)


def _refuse_undecodable(words: list[str]) -> None:
    """Refuse what is not text in the terminal's encoding: it would go out as lone surrogates."""
    for number, word in enumerate(words, 1):
        if any("\ud800" <= character <= "\udfff" for character in word):
            encoding = sys.getfilesystemencoding()
            raise UsageError(
                f"argument {number}, {os.fsencode(word)!r}, is not text in {encoding}",
                "a2a-inspect send TARGET --raw FILE sends any bytes",
            )


def _never_fail_to_encode() -> None:
    """A terminal that lacks a character shows a question mark, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
