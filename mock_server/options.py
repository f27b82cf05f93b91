"""The options of each command, which `cli` parses.

The fields are named as the flags, and are None where a flag without a default was not given.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias

from mock_server.errors import StartError

# In a wheel the examples are inside the package, in a checkout beside it.
EXAMPLES = (Path(__file__).parent / "examples", Path(__file__).parents[1] / "examples")
EVERY_ADDRESS = {"0.0.0.0": "localhost", "::": "localhost"}


@dataclass(frozen=True, slots=True)
class CheckOptions:
    project: Path
    json: bool


@dataclass(frozen=True, slots=True)
class TalkOptions:
    project: Path
    context: str
    trace: bool
    json: bool


@dataclass(frozen=True, slots=True)
class CaseOptions:
    """The command line of `test`."""

    project: Path
    paths: list[str]
    mock: Path | None
    json: bool
    junit: Path | None


@dataclass(frozen=True, slots=True)
class GraphOptions:
    project: Path
    format: str
    flow: str | None
    output: Path | None


@dataclass(frozen=True, slots=True)
class NewOptions:
    directory: Path
    template: str


@dataclass(frozen=True, slots=True)
class ReplicasOptions:
    project: Path | None
    replicas: int
    routing: str
    interface: str
    port: int
    url: str | None
    allow_host: list[str]
    haproxy: Path | None
    profile: str
    endpoints: Path | None
    mock: Path | None
    relax: bool
    description: str | None
    allow_local_push: bool
    log_format: str


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """`ssl_password`, `auth_token_env` and `admin_token_env` name variables of the environment."""

    project: Path | None
    interface: str
    port: int
    profile: str
    endpoints: Path | None
    mock: Path | None
    relax: bool
    description: str | None
    url: str | None
    allow_host: list[str]
    ssl_certificate: Path | None
    ssl_keyfile: Path | None
    ssl_password: str | None
    auth_token_env: str | None
    admin_token_env: str | None
    load_delay: float
    max_body: int
    max_kept: int
    max_connections: int
    request_timeout: float
    log_format: str
    seed: int | None
    allow_local_push: bool
    push_authorization: str
    watch: bool
    watch_card: bool
    on_reload: str

    @property
    def folder(self) -> Path:
        """The project, by default the bank that comes with the mock."""
        return self.project or example("bank")


Options: TypeAlias = (
    CheckOptions
    | TalkOptions
    | CaseOptions
    | GraphOptions
    | NewOptions
    | ReplicasOptions
    | ServeOptions
)
OF_COMMANDS: Mapping[str, type[Options]] = {
    "serve": ServeOptions,
    "check": CheckOptions,
    "talk": TalkOptions,
    "test": CaseOptions,
    "graph": GraphOptions,
    "new": NewOptions,
    "replicas": ReplicasOptions,
}


def options_of(command: str, given: Mapping[str, Any]) -> Options:
    """The options of `command` out of what the parser made of the command line."""
    kind = OF_COMMANDS[command]
    return kind(**{option.name: given[option.name] for option in fields(kind)})


@dataclass(frozen=True, slots=True)
class Secrets:
    """The values of the variables that flags of `serve` name."""

    ssl_password: str | None = field(default=None, repr=False)
    auth_token: str | None = field(default=None, repr=False)
    admin_token: str | None = field(default=None, repr=False)


def read_secrets(options: ServeOptions, environment: Mapping[str, str]) -> Secrets:
    """Take the secrets of `serve` out of `environment`.

    Raises:
        StartError: with the problems of all flags.
    """
    problems: list[str] = []

    def secret(flag: str, name: str | None) -> str | None:
        if name is not None and not environment.get(name):
            problems.append(f"{flag}: environment variable {name} is not set; export {name}=…")
        return environment.get(name) if name else None

    secrets = Secrets(
        secret("--ssl-password", options.ssl_password),
        secret("--auth-token-env", options.auth_token_env),
        secret("--admin-token-env", options.admin_token_env),
    )
    if options.ssl_certificate is None and (options.ssl_keyfile or options.ssl_password):
        problems.append("--ssl-keyfile and --ssl-password need --ssl-certificate FILE beside them")
    if problems:
        raise StartError(problems)
    return secrets


def example(name: str) -> Path:
    """The folder of an example that comes with the mock."""
    places = [folder / name for folder in EXAMPLES]
    return next((place for place in places if place.is_dir()), places[0])


def local_url(interface: str, port: int, *, is_encrypted: bool = False) -> str:
    """Where a client on this machine reaches the server (CARD-5)."""
    host = EVERY_ADDRESS.get(interface, interface)
    scheme = "https" if is_encrypted else "http"
    return f"{scheme}://[{host}]:{port}/" if ":" in host else f"{scheme}://{host}:{port}/"
