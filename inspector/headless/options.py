"""The options of each command: the one place that names a flag, its type and its default."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from inspector.errors import UsageError
from inspector.headless.command_line import COMMANDS, Parser, add_parser, command_parser
from inspector.headless.flags import (
    Flag,
    add_flags,
    flag,
    group,
    parse_count,
    parse_days,
    parse_delay,
    parse_duration,
    parse_integer,
    parse_port,
    parse_seconds,
    parse_status,
    read_flags,
    switch,
    word,
)
from inspector.settings import ALGORITHMS, DEFAULT_TTL_SECONDS

EXPORT_FORMATS = ("har", "jsonl", "md", "curl", "httpx")
_TARGET = {Flag: Flag("TARGET", "URL, card file, project or saved target", is_word=True)}
_ANSWERS = "how to answer verified notifications, instead of with 200"
_SESSION = "the beginning of its id, its name, a file, or last"


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """How to reach an agent; a saved target keeps these by their names."""

    token_env: str | None = flag(None, "VAR", "the variable with a bearer token", one_of="secret")
    api_key_env: str | None = flag(None, "VAR", "the variable with an API key", one_of="secret")
    jwt_alg: str | None = flag(
        None, "ALG", "make a token as `a2a-inspect token` does, and send it", one_of="secret"
    )
    header_name: str | None = flag(None, "N", "the API key's header (default: Authorization)")
    header_format: str | None = flag(None, "F", "the API key's format in it, such as 'Key {key}'")
    jwt_key: Path | None = flag(None, "FILE", "a private key in PEM, for all but HS")
    jwt_secret_env: str | None = flag(None, "VAR", "the variable with the secret, for HS")
    jwt_claim: tuple[str, ...] = flag((), "K=V", "JSON or text; repeats")
    jwt_ttl: float | None = flag(
        None, "SECONDS", "until it expires (default: 600)", read=parse_duration
    )
    header: tuple[str, ...] = flag(
        (),
        "'K: V'",
        "sent to the card's origin only, always masked; V may name ${VARIABLES}; repeats",
    )
    allow_origin: tuple[str, ...] = flag(
        (), "URL", "also send credentials there, if the card points to it; repeats"
    )
    protocol: str = flag("0.3", None, "the A2A version (default: 0.3)", choices=("0.3",))
    cacert: Path | None = flag(None, "FILE", "trust the certificates in FILE")
    client_cert: Path | None = flag(None, "FILE", "a client certificate, with its key")
    client_key: Path | None = flag(None, "FILE", "its private key, if FILE has none")
    insecure: bool = switch("accept any certificate: for tests only")
    jwks: Path | None = flag(None, "FILE", "the keys that signed cards are verified with")
    no_save: bool = switch("do not save this session")
    timeout: float | None = flag(
        None,
        "SECONDS",
        "for one exchange, from its first to its last byte (default: 120)",
        read=parse_seconds,
    )


@dataclass(frozen=True, slots=True)
class MessageOptions:
    """What is sent: a message, or with `raw` a whole body."""

    text: str | None = word(None, "TEXT", "what to say; - reads it from stdin")
    slot: tuple[str, ...] = flag((), "NAME=VALUE", "JSON or text; repeats")
    slots: Path | None = flag(None, "FILE", "a JSON object of slots")
    slot_set: str | None = flag(None, "NAME", "slots kept for this target under NAME")
    slots_as: tuple[str, ...] = flag(
        (),
        "SHAPE",
        "metadata (default), request, data, line or fence; repeats",
        choices=("metadata", "request", "data", "line", "fence"),
    )
    context: str | None = flag(None, "ID", "continue this conversation")
    message_id: str | None = flag(None, "ID", "default: a new one")
    task: str | None = flag(None, "ID", "the task that this message belongs to", one_of="task")
    new_task: bool = switch(
        "begin a new task, even if a saved session has one that waits in the context",
        one_of="task",
    )
    metadata: tuple[str, ...] = flag((), "K=V", "JSON or text; repeats")
    part: tuple[str, ...] = flag(
        (),
        "FILE",
        "a file, sent as a file part; a JSON file that is a part with its `kind`, or such JSON "
        "itself, is sent as it is; repeats",
    )
    history_length: int | None = flag(
        None, "N", "messages of history to ask for", read=parse_integer
    )
    accept: tuple[str, ...] = flag((), "MODE", "a media type; repeats")
    snippet: str | None = flag(None, "NAME", "a turn kept for this target; other flags add to it")
    raw: str | None = flag(None, "FILE", "a whole request body, sent byte for byte; - reads stdin")


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """By which channels a turn is followed."""

    stream: bool = switch("follow the task as it happens", one_of="mode")
    no_blocking: bool = switch("do not wait for the task's end", one_of="mode")
    poll: bool = switch("poll the task until it stops working, as Rasa does")
    push: bool = switch("receive push notifications of the task")
    resubscribe: bool = switch("follow its stream, and resubscribe if it drops")
    push_port: int = flag(0, "N", "where --push listens (default: free)", read=parse_port)
    public_url: str | None = flag(
        None, "URL", "what --push registers, such as a tunnel to that port"
    )
    patience: float | None = flag(
        None,
        "SECONDS",
        "how long --push waits for a missing notification (default: 5)",
        read=parse_seconds,
    )


@dataclass(frozen=True, slots=True)
class SendOptions:
    target: str = field(metadata=_TARGET)
    json: bool = switch("print JSON, or JSON Lines as it comes")
    message: MessageOptions = group("turn", MessageOptions())
    follow: FollowOptions = group("turn", FollowOptions())
    twice: bool = switch("twice at once with one id; exit 1 unless one is 409", group="turn")
    expect_state: str | None = flag(
        None, "STATE", "exit 1 unless the task is in STATE at the end", group="turn"
    )
    connection: ConnectionOptions = group("connection", ConnectionOptions())


@dataclass(frozen=True, slots=True)
class CardOptions:
    target: str = field(metadata=_TARGET)
    raw: bool = switch("print the card as received", one_of="form")
    json: bool = switch("print the card and its findings as JSON", one_of="form")
    validate: bool = switch("exit 1 if the card has errors")
    connection: ConnectionOptions = group("connection", ConnectionOptions())


@dataclass(frozen=True, slots=True)
class TasksOptions:
    """`action` is get, cancel or resubscribe."""

    action: str
    target: str = field(metadata=_TARGET)
    task_id: str = word("", "TASK_ID", None)
    context: str | None = flag(
        None,
        "ID",
        "the task's context, sent as X-A2A-Context-Id; exit 1 if the task has another",
    )
    json: bool = switch("print JSON")
    connection: ConnectionOptions = group("connection", ConnectionOptions())


@dataclass(frozen=True, slots=True)
class ListenOptions:
    port: int = flag(0, "N", "default: a free one", read=parse_port)
    interface: str = flag("127.0.0.1", "HOST", "default: 127.0.0.1")
    public_url: str | None = flag(
        None, "URL", "what agents are given, such as a tunnel to this port"
    )
    token_env: str | None = flag(None, "VAR", "the variable with the token (default: a new one)")
    jwks: str | None = flag(None, "URL", "the agent's keys; its notifications must be signed JWTs")
    forward: str | None = flag(None, "URL", "forward verified notifications to URL")
    ssl_certificate: Path | None = flag(None, "FILE", "listen on HTTPS with it")
    ssl_keyfile: Path | None = flag(None, "FILE", "its private key, if FILE has none")
    json: bool = switch("print JSON Lines")
    fail: int | None = flag(
        None,
        "STATUS",
        "answer with this status, such as 500 or 302",
        read=parse_status,
        group=_ANSWERS,
        one_of="fault",
    )
    hang: bool = switch("never answer", group=_ANSWERS, one_of="fault")
    drop: bool = switch("close the connection without an answer", group=_ANSWERS, one_of="fault")
    delay: float = flag(0.0, "SECONDS", "answer this much later", read=parse_delay, group=_ANSWERS)


@dataclass(frozen=True, slots=True)
class TokenOptions:
    alg: str = flag("", "ALG", ", ".join(ALGORITHMS), choices=ALGORITHMS, is_required=True)
    key: Path | None = flag(
        None, "FILE", "a private key in PEM, for all but HS", one_of="key", is_required=True
    )
    secret_env: str | None = flag(
        None, "VAR", "the variable with the secret, for HS", one_of="key", is_required=True
    )
    claim: tuple[str, ...] = flag((), "K=V", "JSON or text; repeats")
    ttl: float = flag(
        DEFAULT_TTL_SECONDS,
        "SECONDS",
        "until it expires; below 0 it has expired (default: 600)",
        read=parse_duration,
    )


@dataclass(frozen=True, slots=True)
class SessionsOptions:
    """`action` decides what is set besides."""

    action: str
    json: bool = switch("print JSON")
    session: str = word("", "SESSION", _SESSION)
    sessions: tuple[str, ...] = word((), "SESSION", _SESSION)
    other: str = word("", "OTHER", "the session to compare with")
    name: str = word("", "NAME", "'' removes the name")
    format: str = flag("jsonl", None, "default: jsonl", choices=EXPORT_FORMATS)
    output: Path | None = flag(None, "FILE", "default: stdout")
    keep: int | None = flag(None, "N", "keep the N newest", read=parse_count)
    older_than: float | None = flag(None, "DAYS", "delete those older than DAYS", read=parse_days)
    named_too: bool = switch("delete named ones as well")
    yes: bool = switch("delete without asking")


@dataclass(frozen=True, slots=True)
class TargetsOptions:
    """`action` decides what is set besides."""

    action: str
    json: bool = switch("print JSON")
    name: str = word("", "NAME", "its name")
    target: str = word("", "TARGET", "base URL, card URL, card file or project")
    connection: ConnectionOptions = group("connection", ConnectionOptions())


@dataclass(frozen=True, slots=True)
class AppOptions:
    """What the terminal app starts with."""

    target: str | None = word(None, None, "URL, card file, project or saved target")
    session: str | None = flag(None, "ID", "reopen a saved session; last is the newest")
    project: Path | None = flag(None, "DIR", "the assistant whose domain types the slots")
    watch: Path | None = flag(None, "DIR", "also replay the conversation at each save in DIR")
    admin_token_env: str | None = flag(None, "VAR", "the admin token of a mock on another machine")
    connection: ConnectionOptions = group("connection", ConnectionOptions())


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """`a2a-inspect demo` has no flags of its own."""


Targeted: TypeAlias = AppOptions | CardOptions | SendOptions | TasksOptions
Options: TypeAlias = (
    Targeted | DemoOptions | ListenOptions | SessionsOptions | TargetsOptions | TokenOptions
)


_APP_EXAMPLES = """\
examples:
  a2a-inspect http://localhost:5005 --project .
  a2a-inspect --session last
"""
_OPTIONS: Mapping[str, type[Options]] = {
    "demo": DemoOptions,
    "card": CardOptions,
    "send": SendOptions,
    "tasks": TasksOptions,
    "listen": ListenOptions,
    "token": TokenOptions,
    "sessions": SessionsOptions,
    "targets": TargetsOptions,
}
# The summary of each action, and the fields that it takes, or all.
ACTIONS: Mapping[str, Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "tasks": {
        "get": ("show the task as it is", ()),
        "cancel": ("ask the agent to cancel it", ()),
        "resubscribe": ("follow it again after a dropped stream", ()),
    },
    "sessions": {
        "list": ("list all, the newest first", ("json",)),
        "show": ("print the conversation", ("json", "session")),
        "name": ("give it a name; prune keeps named ones", ("json", "session", "name")),
        "export": ("write it in another format", ("json", "session", "format", "output")),
        "compare": (
            "compare the outcomes of two, turn by turn; exit 1 if they differ",
            ("json", "session", "other"),
        ),
        "delete": ("delete sessions", ("json", "sessions")),
        "prune": (
            "delete old sessions without a name",
            ("json", "keep", "older_than", "named_too", "yes"),
        ),
    },
    "targets": {
        "list": ("list the saved targets", ("json",)),
        "add": ("save a target, or replace it", ()),
        "remove": ("remove a target", ("json", "name")),
    },
}


# What was given


def read_options(words: Sequence[str]) -> tuple[str, Options]:
    """The module that runs the command in `words`, or the app, and its options.

    Raises:
        UsageError: they are not understood.
    """
    if words and words[0] in COMMANDS:
        arguments = _read_command(words)
        name: str = arguments.command
        module = "inspector.app" if name == "demo" else f"inspector.headless.{name}"
        return module, read_flags(_OPTIONS[name], arguments)
    if len(words) > 1 and not any(word.startswith("-") for word in words[:2]):
        hint = f"one of {', '.join(COMMANDS)}; a TARGET alone opens the app"
        raise UsageError(f"unknown command {words[0]!r}", hint)
    parser = Parser(
        prog="a2a-inspect",
        description="Open the terminal app.",
        epilog=_APP_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_flags(parser, AppOptions)
    return "inspector.app", read_flags(AppOptions, parser.parse_args(words))


def parse_connection(words: Sequence[str]) -> ConnectionOptions:
    """The connection options in `words`. Raises as `read_options` does."""
    parser = Parser(prog="a2a-inspect card", add_help=False)
    add_flags(parser, ConnectionOptions)
    return read_flags(ConnectionOptions, parser.parse_args(words))


def _read_command(words: Sequence[str]) -> argparse.Namespace:
    def fill(name: str, parser: Parser) -> None:
        # to add the flags of all commands takes time
        if name == words[0]:
            _add_command_flags(parser, name)

    arguments, unread = command_parser(fill).parse_known_args(words)
    is_send = arguments.command == "send"
    if is_send and arguments.text is None and _is_late_word(unread):
        arguments.text, unread = unread[-1], []
    if unread:
        quotes = "; a TEXT of several words goes in quotes" if is_send else ""
        hint = f"a2a-inspect {arguments.command} --help{quotes}"
        raise UsageError(f"unrecognized arguments: {' '.join(unread)}", hint)
    return arguments


def _add_command_flags(parser: Parser, command: str) -> None:
    if command not in ACTIONS:
        add_flags(parser, _OPTIONS[command])
        return
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, (summary, fields) in ACTIONS[command].items():
        add_flags(add_parser(actions, name, summary), _OPTIONS[command], fields)


def _is_late_word(unread: list[str]) -> bool:
    """Say whether what argparse left is one word that is not a flag.

    It gives a word that may be missing away once a flag stands between it and the word before.
    """
    is_word = len(unread) == 1 and (unread[0] == "-" or not unread[0].startswith("-"))
    return is_word or (len(unread) == 2 and unread[0] == "--")  # noqa: PLR2004
