"""argparse as the commands need it: errors in a line, examples, a version that is read late."""

import argparse
from typing import NoReturn, TypeAlias

from mock_server.printing import complain

EXIT_USAGE = 2

# argparse has no public name for what add_subparsers returns
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # pyright: ignore[reportPrivateUsage]


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Leave with what is wrong with the arguments, not below twenty lines of usage."""
        complain(f"a2a-mock: {message}; see {self.prog} --help")
        self.exit(EXIT_USAGE)


def add_command(
    commands: Commands, name: str, summary: str, *examples: str, description: str = ""
) -> Parser:
    """A command with its help; each example is a whole line that works as it stands."""
    shown = ("example:" if len(examples) == 1 else "examples:", *(f"  {one}" for one in examples))
    return commands.add_parser(
        name,
        help=summary,
        description=description or f"{summary[0].upper()}{summary[1:]}.",
        epilog="\n".join(shown),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


class Version(argparse.Action):
    """Reads the version only when asked: importlib.metadata costs a directory scan."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        from mock_server.printing import print_lines

        print_lines(f"{parser.prog} {version('a2a-inspect')}")
        parser.exit()
