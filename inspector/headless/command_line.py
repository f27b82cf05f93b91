"""The commands and the parser of the command line; imports only argparse: help is there at once."""

import argparse
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn, TypeAlias

from inspector.errors import UsageError


class Command(NamedTuple):
    """Each example is a whole line that works as it stands."""

    summary: str
    examples: tuple[str, ...]


COMMANDS = {
    "demo": Command(
        "the bundled bank and the app on it; without a terminal, a tour", ("a2a-inspect demo",)
    ),
    "card": Command("show an agent's card", ("a2a-inspect card http://localhost:5005 --validate",)),
    "send": Command(
        "send a message and show the answer",
        (
            "a2a-inspect send http://localhost:5005 'send money to Joe' --slot amount=50",
            "a2a-inspect send http://localhost:5005 hello --stream --expect-state input-required",
            "a2a-inspect send http://localhost:5005 -- -begins-with-a-dash",
        ),
    ),
    "tasks": Command(
        "look at, cancel or follow a task", ("a2a-inspect tasks get http://localhost:5005 TASK_ID",)
    ),
    "listen": Command(
        "receive push notifications and print them",
        (
            "a2a-inspect listen --port 8765 --forward http://localhost:9000/callback",
            "a2a-inspect listen --port 8765 --fail 500 --delay 2",
        ),
    ),
    "token": Command(
        "make a signed token for development",
        ("a2a-inspect token --alg HS256 --secret-env SECRET --claim aud=bank --ttl 3600",),
    ),
    "sessions": Command(
        "list, show, name, export and compare saved sessions",
        (
            "a2a-inspect sessions show last",
            "a2a-inspect sessions export last --format md --output last.md",
        ),
    ),
    "targets": Command(
        "save agents by name, with how to reach them",
        (
            "a2a-inspect targets add bank http://localhost:5005 --header 'X-Team: ${TEAM}'",
            "a2a-inspect send bank 'send 50 to Joe'",
        ),
    ),
}

EPILOG = """\
Without a command, a2a-inspect [TARGET] opens the terminal app. A TARGET is an agent's base URL,
its card's URL, a card file, the folder of a project or sub agent, or a saved target's name.
The app has flags of its own (--session, --project, --watch, --admin-token-env) and those that say
how to reach the agent: a2a-inspect TARGET --help shows them all.

exit status:
  0    fine                         4    the server does not speak A2A
  1    an expectation failed        5    the agent refused, or --timeout passed
  2    wrong usage or settings      130  interrupted
  3    cannot reach the agent

A failed task is not a failed command, unless --expect-state says so.
"""


# argparse has no public name for what commands are added to
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # pyright: ignore[reportPrivateUsage]


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Report what is wrong with the flags in a line, not below twenty lines of usage.

        Raises:
            UsageError: always.
        """
        raise UsageError(message, f"{self.prog} --help")


class Version(argparse.Action):
    """Reads the version only when asked: importlib.metadata costs a directory scan."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        from inspector.headless.terminal import print_text

        print_text(f"{parser.prog} {version('a2a-inspect')}")
        parser.exit()


def command_parser(fill: Callable[[str, Parser], None] | None = None) -> Parser:
    """The parser of all commands; `fill` gives each its flags, which the help does without."""
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
    for name, command in COMMANDS.items():
        added = add_parser(commands, name, command.summary, command.examples)
        if fill is not None:
            fill(name, added)
    return parser


def add_parser(commands: Commands, name: str, summary: str, examples: Sequence[str] = ()) -> Parser:
    shown = ("example:" if len(examples) == 1 else "examples:", *(f"  {one}" for one in examples))
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog="\n".join(shown) if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
