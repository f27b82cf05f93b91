"""What `a2a-mock serve` was told, on the command line and by the project's `endpoints.yml`."""

import argparse
from dataclasses import dataclass
from pathlib import Path

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
    allow_local_push: bool
    push_authorization: bool


def read_settings(arguments: argparse.Namespace) -> Settings:
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
        allow_local_push=arguments.allow_local_push,
        push_authorization=arguments.push_authorization == "on",
    )


def bundled_bank() -> Path:
    """The bank that comes with the mock."""
    return next((place for place in BANK_PLACES if place.is_dir()), BANK_PLACES[0])


def local_url(interface: str, port: int) -> str:
    """Where a client on this machine reaches the server (CARD-5)."""
    host = EVERY_ADDRESS.get(interface, interface)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
