"""The flags of every command; imports nothing but argparse, so that help is there at once."""

import argparse
from collections.abc import Callable, Sequence
from math import inf, isfinite
from pathlib import Path
from typing import NoReturn, TypeAlias, TypeVar

from inspector.errors import UsageError

Number = TypeVar("Number", int, float)

# Each command and the module that runs it, which is imported when it is needed.
COMMANDS = {
    "demo": "inspector.app",
    "card": "inspector.headless.card",
    "send": "inspector.headless.send",
    "tasks": "inspector.headless.tasks",
    "listen": "inspector.headless.listen",
    "token": "inspector.headless.token",
    "sessions": "inspector.headless.sessions",
    "targets": "inspector.headless.targets",
}
# As `inspector.settings` has them, which takes longer to import than a page of help to print.
ALGORITHMS = ("HS256", "HS512", "RS256", "RS512", "ES256", "ES512", "PS256")

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


# argparse has no public name for what add_subparsers returns
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
    _add_listen(commands)
    _add_token(commands)
    _add_sessions(commands)
    _add_targets(commands)
    return parser


def app_parser() -> Parser:
    parser = Parser(prog="a2a-inspect", description="Open the terminal app.")
    parser.add_argument("target", nargs="?", help="URL, card file, project or saved target")
    parser.add_argument(
        "--session", metavar="ID", help="reopen a saved session; last is the newest"
    )
    parser.add_argument(
        "--project", type=Path, metavar="DIR", help="the assistant whose domain types the slots"
    )
    parser.add_argument(
        "--watch", type=Path, metavar="DIR", help="also replay the conversation at each save in DIR"
    )
    parser.add_argument(
        "--admin-token-env", metavar="VAR", help="the admin token of a mock on another machine"
    )
    _add_connection(parser)
    return parser


def read_flags(words: Sequence[str]) -> argparse.Namespace:
    """What `words` say to the command that they begin with, or else to the app.

    Raises:
        UsageError: they are not understood.
    """
    if words and words[0] in (*COMMANDS, "-h", "--help", "--version"):
        return _read_command(words)
    if len(words) > 1 and not any(word.startswith("-") for word in words[:2]):
        hint = f"one of {', '.join(COMMANDS)}; a TARGET alone opens the app"
        raise UsageError(f"unknown command {words[0]!r}", hint)
    return app_parser().parse_args(words)


def read_connection_flags(words: Sequence[str]) -> argparse.Namespace:
    """What `words` say of a connection. Raises as `read_flags` does."""
    parser = Parser(prog="a2a-inspect card", add_help=False)
    _add_connection(parser)
    return parser.parse_args(words)


def _read_command(words: Sequence[str]) -> argparse.Namespace:
    arguments, unread = command_parser().parse_known_args(words)
    is_send = arguments.command == "send"
    if is_send and arguments.text is None and _is_late_word(unread):
        arguments.text, unread = unread[-1], []
    if unread:
        quotes = "; a TEXT of several words goes in quotes" if is_send else ""
        hint = f"a2a-inspect {arguments.command} --help{quotes}"
        raise UsageError(f"unrecognized arguments: {' '.join(unread)}", hint)
    return arguments


def _is_late_word(unread: list[str]) -> bool:
    """Say whether what argparse left is one word that is not a flag.

    It gives a word that may be missing away once a flag stands between it and the word before.
    """
    is_word = len(unread) == 1 and (unread[0] == "-" or not unread[0].startswith("-"))
    return is_word or (len(unread) == 2 and unread[0] == "--")  # noqa: PLR2004


def _add_command(commands: Commands, name: str, summary: str, *examples: str) -> Parser:
    """A command with its help; each example is a whole line that works as it stands."""
    shown = ("example:" if len(examples) == 1 else "examples:", *(f"  {one}" for one in examples))
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog="\n".join(shown) if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_demo(commands: Commands) -> None:
    summary = "the bundled bank and the app on it; without a terminal, a tour"
    _add_command(commands, "demo", summary, "a2a-inspect demo")


def _add_card(commands: Commands) -> None:
    summary = "show an agent's card"
    card = _add_command(
        commands, "card", summary, "a2a-inspect card http://localhost:5005 --validate"
    )
    _add_target(card)
    how = card.add_mutually_exclusive_group()
    how.add_argument("--raw", action="store_true", help="print the card as received")
    how.add_argument("--json", action="store_true", help="print the card and its findings as JSON")
    card.add_argument("--validate", action="store_true", help="exit 1 if the card has errors")
    _add_connection(card)


def _add_send(commands: Commands) -> None:
    summary = "send a message and show the answer"
    send = _add_command(
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
    _add_turn(send)
    _add_connection(send)


def _add_tasks(commands: Commands) -> None:
    summary = "look at, cancel or follow a task"
    tasks = _add_command(
        commands, "tasks", summary, "a2a-inspect tasks get http://localhost:5005 TASK_ID"
    )
    actions = tasks.add_subparsers(dest="action", required=True, metavar="ACTION")
    summaries = {
        "get": "show the task as it is",
        "cancel": "ask the agent to cancel it",
        "resubscribe": "follow it again after a dropped stream",
    }
    for name, text in summaries.items():
        action = _add_command(actions, name, text)
        _add_target(action)
        action.add_argument("task_id", metavar="TASK_ID")
        action.add_argument(
            "--context",
            metavar="ID",
            help="the task's context, sent as X-A2A-Context-Id; exit 1 if the task has another",
        )
        action.add_argument("--json", action="store_true", help="print JSON")
        _add_connection(action)


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help="URL, card file, project or saved target")


def _add_connection(parser: argparse.ArgumentParser) -> None:
    connection = parser.add_argument_group("connection")
    add = connection.add_argument
    secret = connection.add_mutually_exclusive_group()
    secret.add_argument("--token-env", metavar="VAR", help="the variable with a bearer token")
    secret.add_argument("--api-key-env", metavar="VAR", help="the variable with an API key")
    secret.add_argument(
        "--jwt-alg", metavar="ALG", help="make a token as `a2a-inspect token` does, and send it"
    )
    add("--header-name", metavar="N", help="the API key's header (default: Authorization)")
    add("--header-format", metavar="F", help="the API key's format in it, such as 'Key {key}'")
    add("--jwt-key", type=Path, metavar="FILE", help="a private key in PEM, for all but HS")
    add("--jwt-secret-env", metavar="VAR", help="the variable with the secret, for HS")
    add("--jwt-claim", action="append", metavar="K=V", help="JSON or text; repeats")
    add("--jwt-ttl", type=duration, metavar="SECONDS", help="until it expires (default: 600)")
    add(
        "--header",
        action="append",
        metavar="'K: V'",
        help="sent to the card's origin only, always masked; V may name ${VARIABLES}; repeats",
    )
    add(
        "--allow-origin",
        action="append",
        metavar="URL",
        help="also send credentials there, if the card points to it; repeats",
    )
    add("--protocol", choices=("0.3",), help="the A2A version (default: 0.3)")
    add("--cacert", type=Path, metavar="FILE", help="trust the certificates in FILE")
    add("--client-cert", type=Path, metavar="FILE", help="a client certificate, with its key")
    add("--client-key", type=Path, metavar="FILE", help="its private key, if FILE has none")
    add("--insecure", action="store_true", help="accept any certificate: for tests only")
    add("--jwks", type=Path, metavar="FILE", help="the keys that signed cards are verified with")
    add("--no-save", action="store_true", help="do not save this session")
    add(
        "--timeout",
        type=seconds,
        metavar="SECONDS",
        help="for one exchange, from its first to its last byte (default: 120)",
    )


def _add_listen(commands: Commands) -> None:
    summary = "receive push notifications and print them"
    listen = _add_command(
        commands,
        "listen",
        summary,
        "a2a-inspect listen --port 8765 --forward http://localhost:9000/callback",
        "a2a-inspect listen --port 8765 --fail 500 --delay 2",
    )
    add = listen.add_argument
    add("--port", type=port, metavar="N", help="default: a free one")
    add("--interface", metavar="HOST", help="default: 127.0.0.1")
    add("--public-url", metavar="URL", help="what agents are given, such as a tunnel to this port")
    add("--token-env", metavar="VAR", help="the variable with the token (default: a new one)")
    add("--jwks", metavar="URL", help="the agent's keys; its notifications must be signed JWTs")
    add("--forward", metavar="URL", help="forward verified notifications to URL")
    add("--ssl-certificate", type=Path, metavar="FILE", help="listen on HTTPS with it")
    add("--ssl-keyfile", type=Path, metavar="FILE", help="its private key, if FILE has none")
    add("--json", action="store_true", help="print JSON Lines")
    fail = listen.add_argument_group("how to answer verified notifications, instead of with 200")
    how = fail.add_mutually_exclusive_group()
    how.add_argument(
        "--fail", type=status, metavar="STATUS", help="answer with this status, such as 500 or 302"
    )
    how.add_argument("--hang", action="store_true", help="never answer")
    how.add_argument("--drop", action="store_true", help="close the connection without an answer")
    fail.add_argument("--delay", type=delay, metavar="SECONDS", help="answer this much later")


def _add_token(commands: Commands) -> None:
    summary = "make a signed token for development"
    token = _add_command(
        commands,
        "token",
        summary,
        "a2a-inspect token --alg HS256 --secret-env SECRET --claim aud=bank --ttl 3600",
    )
    add = token.add_argument
    add("--alg", required=True, choices=ALGORITHMS, metavar="ALG", help=", ".join(ALGORITHMS))
    key = token.add_mutually_exclusive_group(required=True)
    key.add_argument(
        "--key", type=Path, metavar="FILE", help="a private key in PEM, for all but HS"
    )
    key.add_argument("--secret-env", metavar="VAR", help="the variable with the secret, for HS")
    add("--claim", action="append", metavar="K=V", help="JSON or text; repeats")
    add(
        "--ttl",
        type=duration,
        metavar="SECONDS",
        help="until it expires; below 0 it has expired (default: 600)",
    )


def _add_turn(parser: argparse.ArgumentParser) -> None:
    turn = parser.add_argument_group("turn")
    add = turn.add_argument
    add("--slot", action="append", metavar="NAME=VALUE", help="JSON or text; repeats")
    add("--slots", type=Path, metavar="FILE", help="a JSON object of slots")
    add("--slot-set", metavar="NAME", help="slots kept for this target under NAME")
    add(
        "--slots-as",
        action="append",
        choices=("metadata", "request", "data", "line", "fence"),
        metavar="SHAPE",
        help="metadata (default), request, data, line or fence; repeats",
    )
    add("--context", metavar="ID", help="continue this conversation")
    add("--message-id", metavar="ID", help="default: a new one")
    add("--task", metavar="ID", help="the task that this message belongs to")
    add("--metadata", action="append", metavar="K=V", help="JSON or text; repeats")
    add("--part", action="append", metavar="FILE", help=_PART_HELP)
    add("--history-length", type=integer, metavar="N", help="messages of history to ask for")
    add("--accept", action="append", metavar="MODE", help="a media type; repeats")
    add("--snippet", metavar="NAME", help="a turn kept for this target; other flags add to it")
    add("--raw", metavar="FILE", help="a whole request body, sent byte for byte; - reads stdin")
    _add_ways(turn)
    add("--twice", action="store_true", help="twice at once with one id; exit 1 unless one is 409")
    add("--expect-state", metavar="STATE", help="exit 1 unless the task is in STATE at the end")


def _add_ways(turn: "argparse._ArgumentGroup") -> None:  # pyright: ignore[reportPrivateUsage] # argparse gives its groups no public name
    add = turn.add_argument
    follow = turn.add_mutually_exclusive_group()
    follow.add_argument("--stream", action="store_true", help="follow the task as it happens")
    follow.add_argument("--no-blocking", action="store_true", help="do not wait for the task's end")
    add("--poll", action="store_true", help="poll the task until it stops working, as Rasa does")
    add("--push", action="store_true", help="receive push notifications of the task")
    add("--resubscribe", action="store_true", help="follow its stream, and resubscribe if it drops")
    add("--push-port", type=port, metavar="N", help="where --push listens (default: free)")
    add("--public-url", metavar="URL", help="what --push registers, such as a tunnel to that port")
    add("--patience", type=seconds, metavar="SECONDS", help=_PATIENCE_HELP)


_PATIENCE_HELP = "how long --push waits for a missing notification (default: 5)"
_PART_HELP = """\
a file, sent as a file part; a JSON file that is a part with its `kind`, or such JSON itself,
is sent as it is; repeats"""


EXPORT_FORMATS = ("har", "jsonl", "md", "curl", "httpx")
_SESSION = "the beginning of its id, its name, a file, or last"


def _add_sessions(commands: Commands) -> None:
    summary = "list, show, name, export and compare saved sessions"
    sessions = _add_command(
        commands,
        "sessions",
        summary,
        "a2a-inspect sessions show last",
        "a2a-inspect sessions export last --format md --output last.md",
    )
    actions = sessions.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add(actions, "list", "list all, the newest first")
    _add_session(_add(actions, "show", "print the conversation"))
    name = _add_session(_add(actions, "name", "give it a name; prune keeps named ones"))
    name.add_argument("name", metavar="NAME", help="'' removes the name")
    export = _add_session(_add(actions, "export", "write it in another format"))
    export.add_argument("--format", choices=EXPORT_FORMATS, help="default: jsonl")
    export.add_argument("--output", type=Path, metavar="FILE", help="default: stdout")
    summary = "compare the outcomes of two, turn by turn; exit 1 if they differ"
    compare = _add_session(_add(actions, "compare", summary))
    compare.add_argument("other", metavar="OTHER", help="the session to compare with")
    delete = _add(actions, "delete", "delete sessions")
    delete.add_argument("sessions", nargs="+", metavar="SESSION", help=_SESSION)
    prune = _add(actions, "prune", "delete old sessions without a name")
    prune.add_argument("--keep", type=count, metavar="N", help="keep the N newest")
    prune.add_argument(
        "--older-than", type=days, metavar="DAYS", help="delete those older than DAYS"
    )
    prune.add_argument("--named-too", action="store_true", help="delete named ones as well")


def _add_targets(commands: Commands) -> None:
    summary = "save agents by name, with how to reach them"
    targets = _add_command(
        commands,
        "targets",
        summary,
        "a2a-inspect targets add bank http://localhost:5005 --header 'X-Team: ${TEAM}'",
        "a2a-inspect send bank 'send 50 to Joe'",
    )
    actions = targets.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add(actions, "list", "list the saved targets")
    add = _add(actions, "add", "save a target, or replace it")
    add.add_argument("name", metavar="NAME", help="what to call it")
    add.add_argument("target", metavar="TARGET", help="base URL, card URL, card file or project")
    _add_connection(add)
    remove = _add(actions, "remove", "remove a target")
    remove.add_argument("name", metavar="NAME")


def _add(actions: Commands, name: str, text: str) -> Parser:
    parser = _add_command(actions, name, text)
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _add_session(parser: Parser) -> Parser:
    parser.add_argument("session", metavar="SESSION", help=_SESSION)
    return parser


# Numbers


# a hundred years: nothing is older, and dates reach back so far
MOST_DAYS = 36_500


def seconds(text: str) -> float:
    return _number(float, text, "a number of seconds above 0", lambda value: 0 < value < inf)


def delay(text: str) -> float:
    return _number(float, text, "a number of seconds, 0 or more", lambda value: 0 <= value < inf)


def duration(text: str) -> float:
    """Of either sign: below 0 it has passed."""
    return _number(float, text, "a finite number of seconds", isfinite)


def days(text: str) -> float:
    return _number(float, text, f"0 to {MOST_DAYS} days", lambda value: 0 <= value <= MOST_DAYS)


def integer(text: str) -> int:
    return _number(int, text, "a whole number", lambda _: True)


def count(text: str) -> int:
    return _number(int, text, "a whole number, 0 or more", lambda value: value >= 0)


def port(text: str) -> int:
    return _number(int, text, "a port, 0 to 65535", range(65536).__contains__)


def status(text: str) -> int:
    return _number(int, text, "an HTTP status, 200 to 599", range(200, 600).__contains__)


def _number(
    read: Callable[[str], Number], text: str, expected: str, is_fit: Callable[[Number], bool]
) -> Number:
    try:
        value = read(text)
    except ValueError:
        value = None
    if value is None or not is_fit(value):
        raise argparse.ArgumentTypeError(f"expected {expected}; found {text!r}")
    return value
