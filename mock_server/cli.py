"""The command `a2a-mock`: what it accepts; each command's work is in the module of its name."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

# argparse has no public name for what add_subparsers returns
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # pyright: ignore[reportPrivateUsage]

EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run `a2a-mock` with `argv` and return its exit status."""
    arguments = _parser().parse_args(argv)
    command = import_module(f"mock_server.{arguments.command}")
    try:
        return command.run(arguments)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="a2a-mock",
        description="An A2A sub agent that runs a Rasa assistant's flows: no licence, no model.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_serve(commands)
    _add_check(commands)
    _add_talk(commands)
    return parser


def _add_serve(commands: Commands) -> None:
    serve = commands.add_parser("serve", help="serve a project as an A2A sub agent")
    serve.add_argument("project", nargs="?", type=Path, help="default: the bundled bank")


def _add_check(commands: Commands) -> None:
    check = commands.add_parser("check", help="report every problem of a project as file:line")
    check.add_argument("project", type=Path)
    check.add_argument("--json", action="store_true", help="print the problems as JSON")


def _add_talk(commands: Commands) -> None:
    talk = commands.add_parser("talk", help="talk to a project, a message a line, no network")
    talk.add_argument("project", type=Path)
    talk.add_argument("--context", default="talk", help="the conversation's id")
    talk.add_argument("--trace", action="store_true", help="show which rules fired")
    talk.add_argument("--json", action="store_true", help="print one object a turn")


class _Version(argparse.Action):
    """Reads the version only when asked: importlib.metadata costs a directory scan."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        parser.exit(0, f"{parser.prog} {version('a2a-inspect')}\n")


if __name__ == "__main__":
    sys.exit(main())
