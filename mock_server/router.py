"""HAProxy as the router before the replicas: where it is found and what it is told."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from jinja2 import Environment, StrictUndefined

from mock_server.errors import StartError

TEMPLATE = Path(__file__).with_name("haproxy.cfg.jinja")
# Debian installs it where only root looks.
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
MISSING = (
    "{} is not there: the replicas need HAProxy 2.6 or later before them; "
    "install the package haproxy (apt-get install haproxy), or name it with --haproxy"
)


class Routing(StrEnum):
    STICKY = "sticky"
    ROUND_ROBIN = "round-robin"


@dataclass(frozen=True, slots=True)
class _Server:
    name: str
    address: str


def find_haproxy(program: Path | None = None) -> str:
    """Where HAProxy lies: at `program`, where that is given.

    Raises:
        StartError: it does not.
    """
    folders = os.pathsep.join([os.environ.get("PATH", os.defpath), *SYSTEM_FOLDERS])
    found = shutil.which(str(program or "haproxy"), path=folders)
    if found is None:
        raise StartError([MISSING.format(program or "haproxy")])
    return found


def configuration(routing: Routing, descriptor: int, replica_urls: Sequence[str]) -> str:
    """What HAProxy reads: listen on the inherited `descriptor` and route to `replica_urls`."""
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    servers = [
        _Server(f"replica-{number}", urlsplit(url).netloc)
        for number, url in enumerate(replica_urls, start=1)
    ]
    return environment.from_string(TEMPLATE.read_text()).render(
        is_sticky=routing is Routing.STICKY, descriptor=descriptor, servers=servers
    )
