"""The command `a2a-inspect`: what it accepts; each command's work is in the module of its name."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from inspector.cli_listen import add_listen
from inspector.cli_numbers import duration, seconds
from inspector.cli_saved import Commands, add_sessions, add_targets, resolve_target
from inspector.cli_turn import add_turn
from inspector.errors import InspectorError, UsageError

EXIT_OK = 0
EXIT_INTERRUPTED = 130

COMMANDS = {
    "demo": "inspector.demo",
    "card": "inspector.headless.card",
    "send": "inspector.headless.send",
    "tasks": "inspector.headless.tasks",
    "listen": "inspector.headless.listen",
    "token": "inspector.headless.token",
    "sessions": "inspector.headless.sessions",
    "targets": "inspector.headless.targets",
}

EPILOG = """\
Without a command, a2a-inspect [TARGET] opens the terminal app. A TARGET is an agent's base URL,
its card's URL, a card file, the folder of a project or sub agent, or a saved target's name.

exit status:
  0    fine                         4    the server does not speak A2A
  1    an expectation failed        5    the agent refused, or --timeout passed
  2    wrong usage or settings      130  interrupted
  3    cannot reach the agent

A failed task is not a failed command, unless --expect-state says so.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `a2a-inspect` with `argv` and return its exit status (inspector.md CLI-1)."""
    _never_fail_to_encode()
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        return _run(words)
    except InspectorError as error:
        _print_error(error)
        return error.exit_status
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return _stop_printing()
    except ExceptionGroup as group:
        # a stream prints from within its tasks
        _, others = group.split(BrokenPipeError)
        if others is not None:
            raise
        return _stop_printing()


def _stop_printing() -> int:
    """Who closed the pipe has seen what it wanted; the exit's flush must not fail either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_OK


def _print_error(error: InspectorError) -> None:
    sys.stderr.write(f"a2a-inspect: {error.text}\n")
    if error.hint:
        sys.stderr.write(f"  try          {error.hint}\n")


def _run(words: list[str]) -> int:
    if words and (words[0] in COMMANDS or words[0] in ("-h", "--help", "--version")):
        arguments = _parser().parse_args(words)
        resolve_target(arguments, _add_connection, COMMANDS)
        run: Callable[[argparse.Namespace], int] = import_module(COMMANDS[arguments.command]).run
        return run(arguments)
    if len(words) > 1 and not any(word.startswith("-") for word in words[:2]):
        hint = f"one of {', '.join(COMMANDS)}; a TARGET alone opens the app"
        raise UsageError(f"{words[0]!r} is no command", hint)
    arguments = _app_parser().parse_args(words)
    resolve_target(arguments, _add_connection, COMMANDS)
    return import_module("inspector.headless.app").run(arguments)


def _never_fail_to_encode() -> None:
    """A terminal that lacks a character shows a question mark, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="a2a-inspect",
        usage="a2a-inspect [TARGET] | COMMAND …",
        description="Inspects A2A agents: talk to them and see every byte, state and slot.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", prog="a2a-inspect"
    )
    _add_demo(commands)
    _add_card(commands)
    _add_send(commands)
    _add_tasks(commands)
    add_listen(commands)
    _add_token(commands)
    add_sessions(commands)
    add_targets(commands, _add_connection)
    return parser


def _app_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="a2a-inspect", description="Open the terminal app.")
    parser.add_argument("target", nargs="?", help="URL, card file, project or saved target")
    parser.add_argument(
        "--session", metavar="ID", help="reopen a saved session; last is the newest"
    )
    parser.add_argument(
        "--project", type=Path, metavar="DIR", help="the assistant whose domain types the slots"
    )
    parser.add_argument(
        "--watch", type=Path, metavar="DIR", help="live replay at each save in DIR, too"
    )
    parser.add_argument(
        "--admin-token-env", metavar="VAR", help="the admin token of a mock that is not here"
    )
    _add_connection(parser)
    return parser


def _add_demo(commands: Commands) -> None:
    summary = "the bundled bank and the app on it; without a terminal, a tour"
    commands.add_parser("demo", help=summary, description=f"Show {summary}.")


def _add_card(commands: Commands) -> None:
    summary = "show an agent's card"
    card = commands.add_parser("card", help=summary, description=f"{summary.capitalize()}.")
    _add_target(card)
    card.add_argument("--raw", action="store_true", help="print the card as received")
    card.add_argument("--json", action="store_true", help="print the card and its findings as JSON")
    card.add_argument("--validate", action="store_true", help="exit 1 if the card has errors")
    _add_connection(card)


def _add_send(commands: Commands) -> None:
    summary = "send a message and show what comes of it"
    send = commands.add_parser("send", help=summary, description=f"{summary.capitalize()}.")
    _add_target(send)
    send.add_argument("text", nargs="?", metavar="TEXT", help="what to say; - reads it from stdin")
    send.add_argument("--json", action="store_true", help="print JSON, or JSON Lines as it comes")
    add_turn(send)
    _add_connection(send)


def _add_tasks(commands: Commands) -> None:
    summary = "look at, cancel or follow a task"
    tasks = commands.add_parser("tasks", help=summary, description=f"{summary.capitalize()}.")
    actions = tasks.add_subparsers(dest="action", required=True, metavar="ACTION")
    summaries = {
        "get": "show the task as it is",
        "cancel": "ask the agent to cancel it",
        "resubscribe": "follow it again after a dropped stream",
    }
    for name, text in summaries.items():
        action = actions.add_parser(name, help=text, description=f"{text.capitalize()}.")
        _add_target(action)
        action.add_argument("task_id", metavar="TASK_ID")
        action.add_argument(
            "--context",
            metavar="ID",
            help="the task's context, sent as X-A2A-Context-Id; exit 1 if it is of another",
        )
        action.add_argument("--json", action="store_true", help="print JSON")
        _add_connection(action)


def _add_token(commands: Commands) -> None:
    summary = "make a signed token for development"
    token = commands.add_parser("token", help=summary, description=f"{summary.capitalize()}.")
    add = token.add_argument
    algorithms = ("HS256", "HS512", "RS256", "RS512", "ES256", "ES512", "PS256")
    add("--alg", required=True, choices=algorithms, metavar="ALG", help=", ".join(algorithms))
    key = token.add_mutually_exclusive_group(required=True)
    key.add_argument(
        "--key", type=Path, metavar="FILE", help="a private key in PEM, for all but HS"
    )
    key.add_argument("--secret-env", metavar="VAR", help="the variable with the secret, for HS")
    add("--claim", action="append", default=[], metavar="K=V", help="JSON or text; repeats")
    add(
        "--ttl",
        type=duration,
        default=600.0,
        metavar="SECONDS",
        help="until it expires; below 0 it has expired (default: 600)",
    )


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help="URL, card file, project or saved target")


def _add_connection(parser: argparse.ArgumentParser) -> None:
    connection = parser.add_argument_group("connection")
    add = connection.add_argument
    secret = connection.add_mutually_exclusive_group()
    secret.add_argument("--token-env", metavar="VAR", help="the variable with a bearer token")
    secret.add_argument("--api-key-env", metavar="VAR", help="the variable with an api key")
    secret.add_argument(
        "--jwt-alg", metavar="ALG", help="make a token as `a2a-inspect token` does, and send it"
    )
    add("--header-name", metavar="N", help="the api key's header (default: Authorization)")
    add("--header-format", metavar="F", help="how the api key stands in it, such as 'Key {key}'")
    add("--jwt-key", type=Path, metavar="FILE", help="a private key in PEM, for all but HS")
    add("--jwt-secret-env", metavar="VAR", help="the variable with the secret, for HS")
    add("--jwt-claim", action="append", default=[], metavar="K=V", help="JSON or text; repeats")
    add("--jwt-ttl", type=duration, metavar="SECONDS", help="until it expires (default: 600)")
    add(
        "--header",
        action="append",
        default=[],
        metavar="'K: V'",
        help="sent to the card's origin only and always masked; V may name ${VARIABLES}; repeats",
    )
    add(
        "--allow-origin",
        action="append",
        default=[],
        metavar="URL",
        help="credentials may go there too, where the card points to it; repeats",
    )
    add("--protocol", choices=("0.3",), default="0.3", help="the A2A version (default: 0.3)")
    add("--cacert", type=Path, metavar="FILE", help="trust the certificates in FILE")
    add("--client-cert", type=Path, metavar="FILE", help="a certificate to show, with its key")
    add("--client-key", type=Path, metavar="FILE", help="its private key, where FILE has none")
    add("--insecure", action="store_true", help="accept any certificate: for tests only")
    add("--jwks", type=Path, metavar="FILE", help="the keys that signed cards are verified with")
    add("--no-save", action="store_true", help="keep no file of this session")
    add(
        "--timeout",
        type=seconds,
        metavar="SECONDS",
        help="for one exchange, from first to last byte (default: 120)",
    )


class _Version(argparse.Action):
    """Reads the version only when asked: importlib.metadata costs a directory scan."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"{parser.prog} {version('a2a-inspect')}\n")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
