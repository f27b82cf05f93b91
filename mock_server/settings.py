"""What `a2a-mock serve` was told, on the command line and by the project's `endpoints.yml`."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mock_server.errors import StartError
from mock_server.logs import LogFormat
from mock_server.profiles import PROFILES, Profile

# In a wheel the bank lies inside the package, in a checkout beside it.
BANK_PLACES = (
    Path(__file__).parent / "examples" / "bank",
    Path(__file__).parents[1] / "examples" / "bank",
)
EVERY_ADDRESS = {"0.0.0.0": "localhost", "::": "localhost"}


@dataclass(frozen=True, slots=True)
class Settings:
    """The command line of `serve`; None where a flag was not given."""

    project: Path
    interface: str
    port: int
    profile: Profile
    max_body_bytes: int
    relax: bool
    endpoints: Path | None
    mock: Path | None
    description: str | None
    url: str | None
    seed: int | None
    log_format: LogFormat
    watch: bool
    watch_card: bool
    reports_changes: bool
    ssl_certificate: Path | None
    ssl_keyfile: Path | None
    ssl_password: str | None = field(repr=False)
    auth_token: str | None = field(repr=False)
    load_delay_seconds: float
    allow_local_push: bool
    push_authorization: bool
    admin_token: str | None = field(repr=False)


def read_settings(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Settings:
    """Take secrets out of `environment`, under the names that flags give.

    Raises:
        StartError: with every flag that cannot be followed.
    """
    problems: list[str] = []

    def secret(flag: str, name: str | None) -> str | None:
        if name is not None and not environment.get(name):
            problems.append(f"{flag}: environment variable {name} is not set; export {name}=…")
        return environment.get(name) if name else None

    password = secret("--ssl-password", arguments.ssl_password)
    token = secret("--auth-token-env", arguments.auth_token_env)
    admin_token = secret("--admin-token-env", arguments.admin_token_env)
    if arguments.ssl_certificate is None and (arguments.ssl_keyfile or arguments.ssl_password):
        problems.append("--ssl-keyfile and --ssl-password need --ssl-certificate FILE beside them")
    if problems:
        raise StartError(problems)
    return Settings(
        project=arguments.project or bundled_bank(),
        interface=arguments.interface,
        port=arguments.port,
        profile=PROFILES[arguments.profile],
        max_body_bytes=arguments.max_body,
        relax=arguments.relax,
        endpoints=arguments.endpoints,
        mock=arguments.mock,
        description=arguments.description,
        url=arguments.url,
        seed=arguments.seed,
        log_format=LogFormat(arguments.log_format),
        watch=arguments.watch or arguments.watch_card,
        watch_card=arguments.watch_card,
        reports_changes=arguments.on_reload == "clean",
        ssl_certificate=arguments.ssl_certificate,
        ssl_keyfile=arguments.ssl_keyfile,
        ssl_password=password,
        auth_token=token,
        load_delay_seconds=arguments.load_delay,
        allow_local_push=arguments.allow_local_push,
        push_authorization=arguments.push_authorization == "on",
        admin_token=admin_token,
    )


def bundled_bank() -> Path:
    """The bank that comes with the mock."""
    return next((place for place in BANK_PLACES if place.is_dir()), BANK_PLACES[0])


def local_url(interface: str, port: int, *, is_encrypted: bool = False) -> str:
    """Where a client on this machine reaches the server (CARD-5)."""
    host = EVERY_ADDRESS.get(interface, interface)
    scheme = "https" if is_encrypted else "http"
    return f"{scheme}://[{host}]:{port}/" if ":" in host else f"{scheme}://{host}:{port}/"
