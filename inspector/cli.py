"""The command `a2a-inspect`: what it accepts; each command's work is in the module of its name."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from inspector.cli_connection import add_connection
from inspector.cli_listen import add_listen
from inspector.cli_parser import Commands, Parser, Version, add_command, is_late_word
from inspector.cli_saved import add_sessions, add_targets, resolve_target
from inspector.cli_token import add_token
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
        status = _tell(group)
    except* KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    except* BrokenPipeError:
        # who closed the pipe has seen what it wanted
        status = EXIT_OK
    return status


def _tell(errors: BaseExceptionGroup[InspectorError]) -> int:
    """Print `errors` and return the exit status of the last."""
    from inspector.headless.terminal import print_error

    status = EXIT_OK
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            status = _tell(error)
        else:
            print_error(error)
            status = error.exit_status
    return status


def _run(words: list[str], when_ready: Callable[[], None]) -> int:
    _refuse_undecodable(words)
    if words and (words[0] in COMMANDS or words[0] in ("-h", "--help", "--version")):
        arguments = _parse_command(words)
        module = COMMANDS[arguments.command]
    elif len(words) > 1 and not any(word.startswith("-") for word in words[:2]):
        hint = f"one of {', '.join(COMMANDS)}; a TARGET alone opens the app"
        raise UsageError(f"{words[0]!r} is no command", hint)
    else:
        arguments = _app_parser().parse_args(words)
        module = "inspector.headless.app"
    resolve_target(arguments, add_connection, COMMANDS)
    run: Callable[[argparse.Namespace], int] = import_module(module).run
    when_ready()
    return run(arguments)


def _parse_command(words: list[str]) -> argparse.Namespace:
    arguments, unread = command_parser().parse_known_args(words)
    is_send = arguments.command == "send"
    if is_send and arguments.text is None and is_late_word(unread):
        arguments.text, unread = unread[-1], []
    if unread:
        quotes = "; a TEXT of several words goes in quotes" if is_send else ""
        hint = f"a2a-inspect {arguments.command} --help{quotes}"
        raise UsageError(f"unrecognized arguments: {' '.join(unread)}", hint)
    return arguments


def _refuse_undecodable(words: list[str]) -> None:
    """What is no text in the terminal's encoding would go out as lone surrogates."""
    for number, word in enumerate(words, 1):
        if any("\ud800" <= character <= "\udfff" for character in word):
            encoding = sys.getfilesystemencoding()
            raise UsageError(
                f"argument {number}, {os.fsencode(word)!r}, is no text in {encoding}",
                "a2a-inspect send TARGET --raw FILE sends any bytes",
            )


def _never_fail_to_encode() -> None:
    """A terminal that lacks a character shows a question mark, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def command_parser() -> Parser:
    parser = Parser(
        prog="a2a-inspect",
        usage="a2a-inspect [TARGET] | COMMAND …",
        description="Inspects A2A agents: talk to them and see every byte, state and slot.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", prog="a2a-inspect"
    )
    _add_demo(commands)
    _add_card(commands)
    _add_send(commands)
    _add_tasks(commands)
    add_listen(commands)
    add_token(commands)
    add_sessions(commands)
    add_targets(commands, add_connection)
    return parser


def _app_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="a2a-inspect", description="Open the terminal app.")
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
    add_connection(parser)
    return parser


def _add_demo(commands: Commands) -> None:
    summary = "the bundled bank and the app on it; without a terminal, a tour"
    add_command(commands, "demo", summary, "a2a-inspect demo")


def _add_card(commands: Commands) -> None:
    summary = "show an agent's card"
    card = add_command(
        commands, "card", summary, "a2a-inspect card http://localhost:5005 --validate"
    )
    _add_target(card)
    how = card.add_mutually_exclusive_group()
    how.add_argument("--raw", action="store_true", help="print the card as received")
    how.add_argument("--json", action="store_true", help="print the card and its findings as JSON")
    card.add_argument("--validate", action="store_true", help="exit 1 if the card has errors")
    add_connection(card)


def _add_send(commands: Commands) -> None:
    summary = "send a message and show what comes of it"
    send = add_command(
        commands,
        "send",
        summary,
        "a2a-inspect send http://localhost:5005 'send money to Joe' --slot amount=50",
        "a2a-inspect send http://localhost:5005 hello --stream --expect-state input-required",
        "a2a-inspect send http://localhost:5005 -- -begins-with-a-dash",
    )
    _add_target(send)
    send.add_argument("text", nargs="?", metavar="TEXT", help="what to say; - reads it from stdin")
    send.add_argument("--json", action="store_true", help="print JSON, or JSON Lines as it comes")
    add_turn(send)
    add_connection(send)


def _add_tasks(commands: Commands) -> None:
    summary = "look at, cancel or follow a task"
    tasks = add_command(
        commands, "tasks", summary, "a2a-inspect tasks get http://localhost:5005 TASK_ID"
    )
    actions = tasks.add_subparsers(dest="action", required=True, metavar="ACTION")
    summaries = {
        "get": "show the task as it is",
        "cancel": "ask the agent to cancel it",
        "resubscribe": "follow it again after a dropped stream",
    }
    for name, text in summaries.items():
        action = add_command(actions, name, text)
        _add_target(action)
        action.add_argument("task_id", metavar="TASK_ID")
        action.add_argument(
            "--context",
            metavar="ID",
            help="the task's context, sent as X-A2A-Context-Id; exit 1 if it is of another",
        )
        action.add_argument("--json", action="store_true", help="print JSON")
        add_connection(action)


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help="URL, card file, project or saved target")
