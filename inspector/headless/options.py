"""What the flags of each command say: the values that take over where argparse ends.

A field is named after its flag. None, False and () mean that the flag was not given, unless the
flag has a default.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TypeAlias, TypeVar

from inspector.headless.flags import read_connection_flags
from inspector.settings import DEFAULT_TTL_SECONDS

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """How to reach an agent; a saved target keeps these by their names."""

    token_env: str | None = None
    api_key_env: str | None = None
    jwt_alg: str | None = None
    header_name: str | None = None
    header_format: str | None = None
    jwt_key: Path | None = None
    jwt_secret_env: str | None = None
    jwt_claim: tuple[str, ...] = ()
    jwt_ttl: float | None = None
    header: tuple[str, ...] = ()
    allow_origin: tuple[str, ...] = ()
    protocol: str = "0.3"
    cacert: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None
    insecure: bool = False
    jwks: Path | None = None
    no_save: bool = False
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class MessageOptions:
    """What is sent: a message, or with `raw` a whole body."""

    text: str | None = None
    slot: tuple[str, ...] = ()
    slots: Path | None = None
    slot_set: str | None = None
    slots_as: tuple[str, ...] = ()
    context: str | None = None
    message_id: str | None = None
    task: str | None = None
    metadata: tuple[str, ...] = ()
    part: tuple[str, ...] = ()
    history_length: int | None = None
    accept: tuple[str, ...] = ()
    snippet: str | None = None
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """By which channels a turn is followed."""

    stream: bool = False
    no_blocking: bool = False
    poll: bool = False
    push: bool = False
    resubscribe: bool = False
    push_port: int = 0
    public_url: str | None = None
    patience: float | None = None


@dataclass(frozen=True, slots=True)
class SendOptions:
    target: str
    message: MessageOptions = MessageOptions()
    follow: FollowOptions = FollowOptions()
    connection: ConnectionOptions = ConnectionOptions()
    twice: bool = False
    expect_state: str | None = None
    json: bool = False


@dataclass(frozen=True, slots=True)
class CardOptions:
    target: str
    connection: ConnectionOptions
    raw: bool = False
    json: bool = False
    validate: bool = False


@dataclass(frozen=True, slots=True)
class TasksOptions:
    """`action` is get, cancel or resubscribe."""

    target: str
    connection: ConnectionOptions
    action: str
    task_id: str
    context: str | None = None
    json: bool = False


@dataclass(frozen=True, slots=True)
class ListenOptions:
    port: int = 0
    interface: str = "127.0.0.1"
    public_url: str | None = None
    token_env: str | None = None
    jwks: str | None = None
    forward: str | None = None
    ssl_certificate: Path | None = None
    ssl_keyfile: Path | None = None
    fail: int | None = None
    hang: bool = False
    drop: bool = False
    delay: float = 0.0
    json: bool = False


@dataclass(frozen=True, slots=True)
class TokenOptions:
    alg: str
    key: Path | None = None
    secret_env: str | None = None
    claim: tuple[str, ...] = ()
    ttl: float = DEFAULT_TTL_SECONDS


@dataclass(frozen=True, slots=True)
class SessionsOptions:
    """`action` is list, show, name, export, compare, delete or prune, and decides what is set."""

    action: str
    session: str = ""
    sessions: tuple[str, ...] = ()
    other: str = ""
    name: str = ""
    format: str = "jsonl"
    output: Path | None = None
    keep: int | None = None
    older_than: float | None = None
    named_too: bool = False
    json: bool = False


@dataclass(frozen=True, slots=True)
class TargetsOptions:
    """`action` is list, add or remove; `target` and `connection` are set for add."""

    action: str
    name: str = ""
    target: str = ""
    connection: ConnectionOptions = ConnectionOptions()
    json: bool = False


@dataclass(frozen=True, slots=True)
class AppOptions:
    """What the terminal app starts with."""

    target: str | None = None
    session: str | None = None
    project: Path | None = None
    watch: Path | None = None
    admin_token_env: str | None = None
    connection: ConnectionOptions = ConnectionOptions()


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """`a2a-inspect demo` has no flags of its own."""


Targeted: TypeAlias = AppOptions | CardOptions | SendOptions | TasksOptions
Options: TypeAlias = (
    Targeted | DemoOptions | ListenOptions | SessionsOptions | TargetsOptions | TokenOptions
)
_GROUPS = (ConnectionOptions, MessageOptions, FollowOptions)
_OF_COMMAND: Mapping[str, Callable[..., Options]] = {
    "demo": DemoOptions,
    "card": CardOptions,
    "send": SendOptions,
    "tasks": TasksOptions,
    "listen": ListenOptions,
    "token": TokenOptions,
    "sessions": SessionsOptions,
    "targets": TargetsOptions,
}


def options_of(arguments: argparse.Namespace) -> Options:
    """The options of the command that argparse read, or else of the app."""
    return _read(_OF_COMMAND.get(vars(arguments).get("command", ""), AppOptions), arguments)


def parse_connection(words: Sequence[str]) -> ConnectionOptions:
    """The connection options that `words` say.

    Raises:
        UsageError: they are not understood.
    """
    return _read(ConnectionOptions, read_connection_flags(words))


def _read(kind: Callable[..., T], arguments: argparse.Namespace) -> T:
    """The options of `kind`; one that was not given has its default."""
    given = vars(arguments)
    values: dict[str, object] = {}
    for name, parameter in signature(kind).parameters.items():
        if parameter.annotation in _GROUPS:
            values[name] = _read(parameter.annotation, arguments)
        elif (value := given.get(name)) is not None:
            values[name] = tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType]: argparse's lists hold texts
    return kind(**values)
