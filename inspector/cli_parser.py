"""argparse as the commands need it: errors told as all others are, examples, a late version."""

import argparse
from typing import NoReturn, TypeAlias

from inspector.errors import UsageError

# argparse has no public name for what add_subparsers returns
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # pyright: ignore[reportPrivateUsage]


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Tell what is wrong with the flags in a line, not below twenty lines of usage.

        Raises:
            UsageError: always.
        """
        raise UsageError(message, f"{self.prog} --help")


def add_command(commands: Commands, name: str, summary: str, *examples: str) -> Parser:
    """A command with its help; each example is a whole line that works as it stands."""
    shown = ("example:" if len(examples) == 1 else "examples:", *(f"  {one}" for one in examples))
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog="\n".join(shown) if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def is_late_word(unread: list[str]) -> bool:
    """Whether what argparse left is one word that is no flag.

    It gives a word that may be missing away once a flag stands between it and the word before.
    """
    is_word = len(unread) == 1 and (unread[0] == "-" or not unread[0].startswith("-"))
    return is_word or (len(unread) == 2 and unread[0] == "--")  # noqa: PLR2004


class Version(argparse.Action):
    """Reads the version only when asked: importlib.metadata costs a directory scan."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        from inspector.headless.terminal import print_text

        print_text(f"{parser.prog} {version('a2a-inspect')}")
        parser.exit()
