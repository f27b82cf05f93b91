"""The program `a2a-mock`, also `python -m mock_server`: what a process owes the system."""

import os
import signal
import sys

EXIT_INTERRUPTED = 130


def main() -> int:
    """Run `a2a-mock` and return its exit status.

    Before its command is there and after it is over, an interruption ends the process on the spot:
    there is nothing to tell or to put away, and an exception would break into whatever is imported.
    """
    is_heeded = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    if is_heeded:
        signal.signal(signal.SIGINT, _leave)
    _open_closed_streams()
    from mock_server.cli import main as run

    def listen() -> None:
        if is_heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    status = run(sys.argv[1:], when_ready=listen)
    if is_heeded:
        signal.signal(signal.SIGINT, _leave)
    return status


def _leave(*_: object) -> None:
    os._exit(EXIT_INTERRUPTED)


def _open_closed_streams() -> None:
    """What was closed by `<&-` or `>&-` is /dev/null, lest a socket or file get its number."""
    if sys.__stdin__ is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    if sys.__stdout__ is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if sys.__stderr__ is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


if __name__ == "__main__":
    sys.exit(main())
