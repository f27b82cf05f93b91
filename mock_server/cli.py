"""The command `a2a-mock`: what it accepts; each command's work is in the module of its name."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from mock_server import argument_types
from mock_server.profiles import PROFILES, RASA

# argparse has no public name for what add_subparsers returns
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # pyright: ignore[reportPrivateUsage]

EXIT_UNREAD = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
DEFAULT_PORT = 5005
DEFAULT_MAX_BODY = 10 * 1024 * 1024


def main(argv: Sequence[str] | None = None) -> int:
    """Run `a2a-mock` with `argv` and return its exit status."""
    arguments = _parser().parse_args(argv)
    command = import_module(f"mock_server.{arguments.command}")
    try:
        status = command.run(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has gone; what is buffered must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_UNREAD


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
    _add_test(commands)
    _add_graph(commands)
    _add_new(commands)
    _add_replicas(commands)
    return parser


def _add_serve(commands: Commands) -> None:
    serve = commands.add_parser("serve", help="serve a project as an A2A sub agent")
    serve.add_argument("project", nargs="?", type=Path, help="default: the bundled bank")
    serve.add_argument("--interface", default="127.0.0.1", help="address to listen on")
    serve.add_argument(
        "--port", type=argument_types.port, default=DEFAULT_PORT, help="0 picks a free one"
    )
    serve.add_argument("--profile", choices=[*PROFILES], default=RASA.name, help="dialect to speak")
    serve.add_argument("--endpoints", type=Path, metavar="FILE", help="instead of endpoints.yml")
    serve.add_argument("--mock", type=Path, metavar="FILE", help="instead of mock.yml")
    serve.add_argument(
        "--relax", action="store_true", help="supply the session_config and description it lacks"
    )
    serve.add_argument("--description", metavar="TEXT", help="what the card says of the agent")
    serve.add_argument("--url", help="address that the card gives to clients")
    serve.add_argument("--ssl-certificate", type=Path, metavar="FILE", help="serve HTTPS with it")
    serve.add_argument("--ssl-keyfile", type=Path, metavar="FILE", help="its private key")
    serve.add_argument(
        "--ssl-password", metavar="VAR", help="the variable that holds the key's password"
    )
    serve.add_argument(
        "--auth-token-env",
        metavar="VAR",
        help="the variable that holds Rasa's token for /status and /model",
    )
    serve.add_argument(
        "--load-delay",
        type=argument_types.seconds,
        default=0.0,
        metavar="SECONDS",
        help="how long no model is loaded: placeholder card, failing turns",
    )
    serve.add_argument(
        "--max-body",
        type=argument_types.byte_count,
        default=DEFAULT_MAX_BODY,
        metavar="BYTES",
        help="longest request that is read (default 10 MiB)",
    )
    serve.add_argument(
        "--log-format", choices=["text", "json"], default="text", help="how stderr is written"
    )
    serve.add_argument(
        "--allow-local-push",
        action="store_true",
        help="let push notifications go to this machine, where a real server sends none",
    )
    serve.add_argument(
        "--push-authorization",
        choices=["on", "off"],
        default="on",
        help="off: no Authorization header on push notifications, as a2a-sdk 0.3.26",
    )
    serve.add_argument(
        "--watch", action="store_true", help="serve each version of the project that is saved"
    )
    serve.add_argument(
        "--watch-card", action="store_true", help="the card follows, too (implies --watch)"
    )
    serve.add_argument(
        "--on-reload",
        choices=["preserve", "clean"],
        default="preserve",
        help="whether a conversation in a changed flow goes on or begins anew",
    )
    serve.add_argument(
        "--admin-token-env",
        metavar="VAR",
        help="the variable that holds the token for /__admin, which it needs off loopback",
    )
    serve.add_argument(
        "--seed", type=int, metavar="N", help="the same ids and the same chance in every run"
    )


def _add_check(commands: Commands) -> None:
    check = commands.add_parser("check", help="report every problem of a project as file:line")
    check.add_argument("project", type=Path)
    check.add_argument("--json", action="store_true", help="print the problems as JSON")


def _add_talk(commands: Commands) -> None:
    talk = commands.add_parser(
        "talk",
        help="talk to a project, a message a line, no network",
        description="Talk to a project, a message a line, without a network. Delays are skipped.",
    )
    talk.add_argument("project", type=Path)
    talk.add_argument("--context", default="talk", help="the conversation's id")
    talk.add_argument("--trace", action="store_true", help="show which rules fired")
    talk.add_argument("--json", action="store_true", help="print one object a turn")


def _add_test(commands: Commands) -> None:
    test = commands.add_parser(
        "test",
        help="run a project's e2e test files, no network",
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
    graph = commands.add_parser(
        "graph",
        help="draw a project's flows",
        description="Draw a project's flows, as Mermaid text or as SVG.",
    )
    graph.add_argument("project", type=Path)
    graph.add_argument("--format", choices=["mermaid", "svg"], default="mermaid")
    graph.add_argument("--flow", metavar="ID", help="draw this flow only; a pattern will do")
    graph.add_argument(
        "--output", type=Path, metavar="DIRECTORY", help="write a file for each flow there"
    )


def _add_new(commands: Commands) -> None:
    new = commands.add_parser(
        "new",
        help="begin a project of one's own",
        description="Write a small project that passes `a2a-mock check` and `a2a-mock test`.",
    )
    new.add_argument("directory", type=Path, help="to be made, or empty")
    new.add_argument("--template", choices=["minimal", "bank"], default="minimal")


def _add_replicas(commands: Commands) -> None:
    replicas = commands.add_parser(
        "replicas",
        help="serve a project several times, behind a router",
        description="Serve a project several times behind HAProxy, to try an orchestrator's "
        "routing. Each replica keeps its own conversations and tasks.",
    )
    replicas.add_argument("project", nargs="?", type=Path, help="default: the bundled bank")
    replicas.add_argument(
        "--replicas", type=argument_types.count, default=2, metavar="N", help="how many (default 2)"
    )
    replicas.add_argument(
        "--routing",
        choices=["sticky", "round-robin"],
        default="sticky",
        help="by contextId, or each request to the next replica",
    )
    replicas.add_argument("--interface", default="127.0.0.1", help="address the router listens on")
    replicas.add_argument(
        "--port", type=argument_types.port, default=DEFAULT_PORT, help="0 picks a free one"
    )
    replicas.add_argument("--url", help="address that the card gives (default: the router's)")
    replicas.add_argument("--haproxy", type=Path, metavar="FILE", help="default: found on PATH")
    replicas.add_argument("--profile", choices=[*PROFILES], default=RASA.name)
    replicas.add_argument("--endpoints", type=Path, metavar="FILE", help="instead of endpoints.yml")
    replicas.add_argument("--mock", type=Path, metavar="FILE", help="instead of mock.yml")
    replicas.add_argument("--relax", action="store_true", help="as `serve` takes it")
    replicas.add_argument("--description", metavar="TEXT", help="what the card says of the agent")
    replicas.add_argument("--allow-local-push", action="store_true", help="as `serve` takes it")
    replicas.add_argument("--log-format", choices=["text", "json"], default="text")


class _Version(argparse.Action):
    """Reads the version only when asked: importlib.metadata costs a directory scan."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"{parser.prog} {version('a2a-inspect')}\n")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
