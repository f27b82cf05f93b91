"""What `a2a-inspect sessions` and `a2a-inspect targets` accept."""

import argparse
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from pathlib import Path

from inspector.cli_numbers import count, days
from inspector.cli_parser import Commands, Parser, add_command
from inspector.errors import UsageError

EXPORT_FORMATS = ("har", "jsonl", "md", "curl", "httpx")
_SESSION = "the beginning of its id, its name, a file, or last"


def add_sessions(commands: Commands) -> None:
    summary = "list, show, name, export and compare what was saved"
    sessions = add_command(
        commands,
        "sessions",
        summary,
        "a2a-inspect sessions show last",
        "a2a-inspect sessions export last --format md --output last.md",
    )
    actions = sessions.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add(actions, "list", "list all, the newest first")
    _add_session(_add(actions, "show", "print the conversation"))
    name = _add_session(_add(actions, "name", "give it a name; prune keeps what has one"))
    name.add_argument("name", metavar="NAME", help="'' takes the name away")
    export = _add_session(_add(actions, "export", "write it in another format"))
    export.add_argument("--format", choices=EXPORT_FORMATS, default="jsonl", help="default: jsonl")
    export.add_argument("--output", type=Path, metavar="FILE", help="default: stdout")
    summary = "tell what the turns of two came to; exit 1 if it is not the same"
    compare = _add_session(_add(actions, "compare", summary))
    compare.add_argument("other", metavar="OTHER", help="the session to compare with")
    delete = _add(actions, "delete", "delete sessions")
    delete.add_argument("sessions", nargs="+", metavar="SESSION", help=_SESSION)
    prune = _add(actions, "prune", "delete old sessions that have no name")
    prune.add_argument("--keep", type=count, metavar="N", help="keep the N newest")
    prune.add_argument(
        "--older-than", type=days, metavar="DAYS", help="delete those begun longer ago"
    )
    prune.add_argument("--named-too", action="store_true", help="delete named ones as well")


def add_targets(
    commands: Commands, add_connection: Callable[[argparse.ArgumentParser], None]
) -> None:
    summary = "save agents by name, with how to reach them"
    targets = add_command(
        commands,
        "targets",
        summary,
        "a2a-inspect targets add bank http://localhost:5005 --header 'X-Team: ${TEAM}'",
        "a2a-inspect send bank 'send 50 to Joe'",
    )
    actions = targets.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add(actions, "list", "list the saved targets")
    add = _add(actions, "add", "save a target, or save it anew")
    add.add_argument("name", metavar="NAME", help="what to call it")
    add.add_argument("target", metavar="TARGET", help="base URL, card URL, card file or project")
    add_connection(add)
    remove = _add(actions, "remove", "forget a target")
    remove.add_argument("name", metavar="NAME")


def resolve_target(
    arguments: argparse.Namespace,
    add_connection: Callable[[argparse.ArgumentParser], None],
    commands: Collection[str],
) -> None:
    """Put what a saved target's name stands for in its place: a word that is no URL and no path.

    Raises:
        UsageError: a target is to be saved by the name of a command.
    """
    parser = Parser(prog="a2a-inspect card", add_help=False)
    add_connection(parser)

    def read_connection(words: Sequence[str]) -> dict[str, object]:
        return vars(parser.parse_args(words))

    arguments.read_connection = read_connection
    if vars(arguments).get("command") == "targets":
        if vars(arguments).get("name") in commands:
            raise UsageError(f"{arguments.name!r} is a command of a2a-inspect", "another name")
        return
    target = vars(arguments).get("target")
    if target is not None and not any(sign in target for sign in ":/\\"):
        targets = import_module("inspector.headless.targets")
        targets.use_saved_target(arguments, read_connection)


def _add(actions: Commands, name: str, text: str) -> Parser:
    parser = add_command(actions, name, text)
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _add_session(parser: Parser) -> Parser:
    parser.add_argument("session", metavar="SESSION", help=_SESSION)
    return parser
