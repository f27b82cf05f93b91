"""The command line of `a2a-mock`; each command runs in the module of its name."""

import argparse
import os
import re
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn, TypeAlias
from urllib.parse import urlsplit

from mock_server.errors import OutputLost
from mock_server.printing import complain, print_lines
from mock_server.profiles import PROFILES, RASA

EXIT_OK = 0
EXIT_UNREAD = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
DEFAULT_PORT = 5005
DEFAULT_MAX_BODY = 10 * 1024 * 1024
DEFAULT_MAX_KEPT = 256 * 1024 * 1024
DEFAULT_MAX_CONNECTIONS = 1000
DEFAULT_REQUEST_SECONDS = 60.0
LAST_PORT = 65535


def main(argv: Sequence[str] | None = None, when_ready: Callable[[], None] = lambda: None) -> int:
    """Run `a2a-mock` with `argv` and return its exit status.

    `when_ready` is called once everything is parsed and imported, right before the command runs.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    status = EXIT_OK
    # The server prints from within its tasks, so an error may come in a group.
    try:
        status = _run(words, when_ready)
    except* OutputLost as group:
        complain(f"a2a-mock: {_first(group)}")
        status = EXIT_USAGE
    except* BrokenPipeError:
        status = EXIT_UNREAD
    except* KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    return status


def _run(words: list[str], when_ready: Callable[[], None]) -> int:
    for number, word in enumerate(words, 1):
        # What is not text in the terminal's encoding would go out as lone surrogates.
        if any("\ud800" <= character <= "\udfff" for character in word):
            encoding = sys.getfilesystemencoding()
            complain(
                f"a2a-mock: argument {number}, {os.fsencode(word)!r}, is not text in {encoding}"
            )
            return EXIT_USAGE
    arguments, unread = command_parser().parse_known_args(words)
    if arguments.command == "test" and not arguments.paths and _are_words(unread):
        # argparse drops optional words that follow a flag.
        arguments.paths, unread = unread, []
    if unread:
        text = f"unrecognized arguments: {' '.join(unread)}"
        complain(f"a2a-mock: {text}; see a2a-mock {arguments.command} --help")
        return EXIT_USAGE
    # Defining the options takes a tenth of the time of --help, which needs none.
    from mock_server.options import options_of

    options = options_of(arguments.command, vars(arguments))
    command = import_module(f"mock_server.{arguments.command}")
    when_ready()
    return command.run(options)


def _are_words(unread: list[str]) -> bool:
    return not any(word.startswith("-") for word in unread)


def _first(group: BaseExceptionGroup[OutputLost]) -> OutputLost:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


# argparse has no public name for what add_subparsers returns
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # pyright: ignore[reportPrivateUsage]


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with one line, instead of twenty lines of usage before it."""
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

        print_lines(f"{parser.prog} {version('a2a-inspect')}")
        parser.exit()


def command_parser() -> Parser:
    parser = Parser(
        prog="a2a-mock",
        description="An A2A sub agent that runs a Rasa assistant's flows: no licence, no model.",
    )
    parser.add_argument("--version", action=Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_serve(commands)
    _add_check(commands)
    _add_talk(commands)
    _add_test(commands)
    _add_graph(commands)
    _add_new(commands)
    _add_replicas(commands)
    return parser


def _add_serve(commands: Commands) -> None:
    serve = add_command(
        commands,
        "serve",
        "serve a project as an A2A sub agent",
        "a2a-mock serve",
        "a2a-mock serve my-assistant --port 0 --watch",
    )
    _add_served(serve)
    _add_secrets(serve)
    _add_limits(serve)
    _add_pushes(serve)
    _add_reloading(serve)


def _add_served(command: argparse.ArgumentParser) -> None:
    """What `serve` and `replicas` have in common: the project, and how it is served."""
    add = command.add_argument
    add("project", nargs="?", type=Path, help="default: the bundled bank")
    add("--interface", default="127.0.0.1", metavar="HOST", help="address to listen on")
    add("--port", type=_port, default=DEFAULT_PORT, help="0 picks a free one")
    add("--url", type=_url, help="address that the card gives to clients")
    add(
        "--allow-host",
        action="append",
        default=[],
        type=_host,
        metavar="NAME",
        help="a name by which clients reach it, beside localhost and that of --url; repeatable",
    )
    add("--profile", choices=[*PROFILES], default=RASA.name, help="dialect to speak")
    add("--endpoints", type=Path, metavar="FILE", help="instead of endpoints.yml")
    add("--mock", type=Path, metavar="FILE", help="instead of mock.yml")
    add("--relax", action="store_true", help="supply the session_config and description it lacks")
    add("--description", metavar="TEXT", help="what the card says of the agent")


def _add_secrets(serve: argparse.ArgumentParser) -> None:
    add = serve.add_argument_group("certificate and tokens").add_argument
    add("--ssl-certificate", type=Path, metavar="FILE", help="serve HTTPS with it")
    add("--ssl-keyfile", type=Path, metavar="FILE", help="its private key")
    add("--ssl-password", metavar="VAR", help="the variable that holds the key's password")
    add(
        "--auth-token-env",
        metavar="VAR",
        help="the variable that holds Rasa's token for /status and /model",
    )
    add(
        "--admin-token-env",
        metavar="VAR",
        help="the variable that holds the token for /__admin, which it needs off loopback",
    )


def _add_limits(serve: argparse.ArgumentParser) -> None:
    add = serve.add_argument_group("run").add_argument
    add(
        "--load-delay",
        type=_seconds,
        default=0.0,
        metavar="SECONDS",
        help="how long to run without a model: placeholder card, failing turns",
    )
    add(
        "--max-body",
        type=_count,
        default=DEFAULT_MAX_BODY,
        metavar="BYTES",
        help="longest request that is read (default 10 MiB)",
    )
    add(
        "--max-kept",
        type=_count,
        default=DEFAULT_MAX_KEPT,
        metavar="BYTES",
        help="how much is kept of each: tasks, answers, contexts, pushes (default 256 MiB)",
    )
    add(
        "--max-connections",
        type=_count,
        default=DEFAULT_MAX_CONNECTIONS,
        metavar="N",
        help="past these, new ones are closed (default 1000)",
    )
    add(
        "--request-timeout",
        type=_seconds,
        default=DEFAULT_REQUEST_SECONDS,
        metavar="SECONDS",
        help="how long the head of a request, and then its body, may take (default 60; 0: any)",
    )
    add("--log-format", choices=["text", "json"], default="text", help="how stderr is written")
    add("--seed", type=int, metavar="N", help="the same ids and the same chance in every run")


def _add_pushes(serve: argparse.ArgumentParser) -> None:
    add = serve.add_argument_group("push notifications").add_argument
    add(
        "--allow-local-push",
        action="store_true",
        help="let push notifications go to this machine, where a real server sends none",
    )
    add(
        "--push-authorization",
        choices=["on", "off"],
        default="on",
        help="off: no Authorization header on push notifications, as a2a-sdk 0.3.26",
    )


def _add_reloading(serve: argparse.ArgumentParser) -> None:
    add = serve.add_argument_group("reloading").add_argument
    add("--watch", action="store_true", help="serve each version of the project that is saved")
    add("--watch-card", action="store_true", help="the card follows, too (implies --watch)")
    add(
        "--on-reload",
        choices=["preserve", "clean"],
        default="preserve",
        help="whether a conversation in a changed flow continues or starts anew",
    )


def _add_check(commands: Commands) -> None:
    check = add_command(
        commands,
        "check",
        "report every problem of a project as file:line",
        "a2a-mock check my-assistant",
    )
    check.add_argument("project", type=Path)
    check.add_argument("--json", action="store_true", help="print the problems as JSON")


def _add_talk(commands: Commands) -> None:
    talk = add_command(
        commands,
        "talk",
        "talk to a project, a message a line, no network",
        "a2a-mock talk my-assistant --trace",
        "a2a-mock talk my-assistant --json < messages.txt",
        description="Talk to a project, a message a line, without a network. Delays are skipped.",
    )
    talk.add_argument("project", type=Path)
    talk.add_argument("--context", default="talk", help="the conversation's id")
    talk.add_argument("--trace", action="store_true", help="show which rules fired")
    talk.add_argument("--json", action="store_true", help="print one object a turn")


def _add_test(commands: Commands) -> None:
    test = add_command(
        commands,
        "test",
        "run a project's e2e test files, no network",
        "a2a-mock test my-assistant --junit report.xml",
        description="Run Rasa's end-to-end test files. Exit status 1 if a test case fails.",
    )
    test.add_argument("project", type=Path)
    test.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="file, folder or FILE::CASE (default: tests/ and e2e_tests/ of the project)",
    )
    test.add_argument("--mock", type=Path, metavar="FILE", help="instead of mock.yml")
    test.add_argument("--json", action="store_true", help="print one object with every result")
    test.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML as well")


def _add_graph(commands: Commands) -> None:
    graph = add_command(
        commands,
        "graph",
        "draw a project's flows",
        "a2a-mock graph my-assistant --format svg --output pictures",
        description="Draw a project's flows, as Mermaid or DOT text or, with Graphviz, as SVG.",
    )
    graph.add_argument("project", type=Path)
    graph.add_argument("--format", choices=["mermaid", "dot", "svg"], default="mermaid")
    graph.add_argument("--flow", metavar="ID", help="draw this flow only, which may be a pattern")
    graph.add_argument(
        "--output", type=Path, metavar="DIRECTORY", help="write a file for each flow there"
    )


def _add_new(commands: Commands) -> None:
    new = add_command(
        commands,
        "new",
        "start a project of your own",
        "a2a-mock new my-assistant",
        description="Write a small project that passes `a2a-mock check` and `a2a-mock test`.",
    )
    new.add_argument("directory", type=Path, help="a new or empty directory")
    new.add_argument("--template", choices=["minimal", "bank"], default="minimal")


def _add_replicas(commands: Commands) -> None:
    replicas = add_command(
        commands,
        "replicas",
        "serve a project several times, behind a router",
        "a2a-mock replicas my-assistant --replicas 3 --routing round-robin",
        description="Serve a project several times behind HAProxy, to try an orchestrator's "
        "routing. Each replica keeps its own conversations and tasks.",
    )
    _add_served(replicas)
    replicas.add_argument(
        "--replicas", type=_count, default=2, metavar="N", help="how many (default 2)"
    )
    replicas.add_argument(
        "--routing",
        choices=["sticky", "round-robin"],
        default="sticky",
        help="by contextId, or each request to the next replica",
    )
    replicas.add_argument("--haproxy", type=Path, metavar="FILE", help="default: found on PATH")
    replicas.add_argument("--allow-local-push", action="store_true", help="as `serve` takes it")
    replicas.add_argument("--log-format", choices=["text", "json"], default="text")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > LAST_PORT:
        raise ArgumentTypeError(f"{text!r} is not a port: expected 0 to {LAST_PORT}")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_fit = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_fit = False
    if not is_fit:
        raise ArgumentTypeError(f"{text!r} is not a URL: expected http://HOST:PORT/ or https://…")
    return text


def _host(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.-]+|\[?[0-9A-Fa-f:.]+\]?", text):
        raise ArgumentTypeError(
            f"{text!r} is not a host: expected a name or address without a port"
        )
    return text


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number of seconds, 0 or more")
    return number
