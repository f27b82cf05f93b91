"""What the user named as target: a URL, a card file or a project (inspector.md CONN-1)."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from inspector.core.credentials import with_header
from inspector.core.sub_agents import Auth, is_project, mistakes, sub_agent_at
from inspector.errors import UsageError
from inspector.settings import Connection
from inspector.wire.card import WELL_KNOWN, WELL_KNOWN_DEPRECATED
from inspector.wire.urls import parts_of, root, split_url

SHOWN_CHARACTERS = 200
_HOST_AND_PORT = re.compile(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}(/.*)?")


@dataclass(frozen=True, slots=True)
class Target:
    """`card_urls` are tried in order; for a card file there are none, and `card_file` is set.

    `auth` is how the config of a sub agent says to call it; `remarks` are what to know about it.
    """

    name: str
    card_urls: tuple[str, ...] = ()
    card_file: Path | None = None
    auth: Auth | None = None
    remarks: tuple[str, ...] = ()


def parse_target(text: str, environment: Mapping[str, str] = os.environ) -> Target:
    """Read what the user typed; `localhost:5005` is http, a folder an assistant's project.

    Raises:
        UsageError: neither a URL nor an existing file, a project that leads to no one card, or the
            mistakes of a sub agent's config.
    """
    if not text:
        # the path '' is the current folder, which an unset variable does not mean
        raise UsageError("the target is empty", "is a variable unset? . is the current folder")
    # os.path, unlike Path, takes what no file system can hold for a path without a file
    if "://" not in text and os.path.exists(text) and is_project(Path(text)):
        agent = sub_agent_at(Path(text), environment)
        if "://" in agent.card:
            return Target(text, _card_urls(agent.card), None, agent.auth, agent.remarks)
        return Target(text, (), Path(agent.card), agent.auth, agent.remarks)
    if "://" not in text and os.path.isfile(text):
        return Target(text, card_file=Path(text))
    if "://" not in text and (text == "localhost" or _HOST_AND_PORT.fullmatch(text)):
        text = f"http://{text}"
    if split_url(text):
        return Target(text, card_urls=_card_urls(text))
    if "://" in text:
        raise UsageError(
            f"{text!r} is not a URL that can be reached", "use http://HOST:PORT or https://…"
        )
    raise UsageError(
        f"{text[:SHOWN_CHARACTERS]!r} is neither a URL nor a file",
        "name the agent's base URL, its card's URL, a card file, a project or a saved target",
    )


def authenticated(connection: Connection, target: Target) -> Connection:
    """`connection` with the credentials that `target` itself names; those of flags win.

    Raises:
        UsageError: they cannot be used here: a variable is not set, or it is OAuth.
    """
    auth = target.auth
    if auth is None or connection.is_authenticated:
        return connection
    names = {name.lower() for name, _ in connection.headers}
    if auth.header[0].lower() in names:
        return connection
    if auth.problems:
        raise mistakes(Path(target.name), auth.problems)
    return replace(
        connection,
        headers=with_header(connection.headers, auth.header),
        secrets=(*connection.secrets, auth.secret, auth.header[1]),
    )


def _card_urls(url: str) -> tuple[str, ...]:
    """The URL itself where it names a card; else the well-known places below it and its root."""
    path = parts_of(url).path
    if path.endswith(".json") or "/.well-known/" in path:
        return (url,)
    base = url.partition("?")[0].partition("#")[0].rstrip("/")
    bases = dict.fromkeys((base, root(url).rstrip("/")))
    return tuple(b + place for b in bases for place in (WELL_KNOWN, WELL_KNOWN_DEPRECATED))
