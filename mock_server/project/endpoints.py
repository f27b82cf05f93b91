"""`endpoints.yml: a2a_server`: what the server is told about itself (server.md CFG-1 to CFG-4).

Keys of `endpoints.yml` that are Rasa's but mean nothing to the mock are not read, so a variable
that only they name need not be set.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mock_server.dialogue.model import Json
from mock_server.errors import Location
from mock_server.project.auth import JwtAuth, read_auth
from mock_server.project.card_file import read_card_file
from mock_server.project.findings import Findings, suggestion
from mock_server.project.nodes import MapNode, Node, ScalarNode
from mock_server.project.reading import as_bool, as_map, as_text, as_texts, mistyped
from mock_server.project.variables import expand_map

CARD_KEY = "agent_card_path"
KEYS = (
    "description", "url", CARD_KEY, "include_conversation_repair", "task_timeout_seconds",
    "a2a_message_cache_ttl_seconds", "max_contexts", "push_notifications_enabled",
    "push_notification_allowed_hosts", "auth",
)  # fmt: skip
DEFAULT_TIMEOUT_SECONDS = 600
DEFAULT_MAX_CONTEXTS = 1000
NO_DESCRIPTION = "A Rasa assistant"


@dataclass(frozen=True, slots=True)
class A2AServer:
    """The `a2a_server` block. A timeout or a maximum of 0 disables it; a TTL of 0: no replay.

    `agent_card` is the content of the file at `agent_card_path`.
    """

    description: str
    url: str | None = None
    agent_card: Mapping[str, Json] | None = None
    include_conversation_repair: bool = True
    task_timeout_seconds: int = DEFAULT_TIMEOUT_SECONDS
    a2a_message_cache_ttl_seconds: int = DEFAULT_TIMEOUT_SECONDS
    max_contexts: int = DEFAULT_MAX_CONTEXTS
    push_notifications_enabled: bool = False
    push_notification_allowed_hosts: tuple[str, ...] | None = None
    auth: JwtAuth | None = None


def read_a2a_server(
    root: Node | None,
    file: Path,
    environment: Mapping[str, str],
    description: str | None,
    found: Findings,
) -> A2AServer:
    """The settings of the server in `file`, at whose folder relative paths start.

    `description`, where given, stands for the one in the file.
    """
    endpoints = as_map(root, found, "endpoints.yml")
    block = endpoints.entries.get("a2a_server") if endpoints else None
    written = as_map(block, found, "a2a_server")
    at = endpoints.place("a2a_server") if endpoints and written else Location(str(file), 1)
    node = written or MapNode(at, {}, {})
    _refuse_keys(node, found)
    expanded = expand_map(_without(node, "auth"), environment, found)
    get = expanded.entries.get
    timeout = _count(get("task_timeout_seconds"), "task_timeout_seconds", found)
    ttl = _count(get("a2a_message_cache_ttl_seconds"), "a2a_message_cache_ttl_seconds", found)
    contexts = _count(get("max_contexts"), "max_contexts", found)
    timeout = DEFAULT_TIMEOUT_SECONDS if timeout is None else timeout
    card = as_text(get(CARD_KEY), found, f"a2a_server.{CARD_KEY}")
    hosts = get("push_notification_allowed_hosts")
    return A2AServer(
        description=_description(get("description"), at, description, found),
        url=as_text(get("url"), found, "a2a_server.url"),
        agent_card=None
        if card is None
        else read_card_file(file.parent / card, node.place(CARD_KEY), found),
        include_conversation_repair=as_bool(
            get("include_conversation_repair"),
            found,
            "a2a_server.include_conversation_repair",
            default=True,
        ),
        task_timeout_seconds=timeout,
        a2a_message_cache_ttl_seconds=(timeout or DEFAULT_TIMEOUT_SECONDS) if ttl is None else ttl,
        max_contexts=DEFAULT_MAX_CONTEXTS if contexts is None else contexts,
        push_notifications_enabled=as_bool(
            get("push_notifications_enabled"),
            found,
            "a2a_server.push_notifications_enabled",
            default=False,
        ),
        push_notification_allowed_hosts=_hosts(hosts, found),
        auth=read_auth(node.entries.get("auth"), file.parent, environment, found),
    )


def _refuse_keys(node: MapNode, found: Findings) -> None:
    for key in node.entries:
        if key == "tls":
            text = "a2a_server.tls is no longer read"
            mend = "remove it, and start with --ssl-certificate and --ssl-keyfile"
            found.error(node.place(key), "validation.a2a_server.legacy_tls", text, mend)
        elif key not in KEYS:
            text = f"a2a_server has no key {key!r}"
            mend = suggestion(key, KEYS) or f"expected one of {', '.join(KEYS)}"
            found.error(node.place(key), "validation.a2a_server.unknown_key", text, mend)


def _without(node: MapNode, key: str) -> MapNode:
    entries = {name: value for name, value in node.entries.items() if name != key}
    return MapNode(node.location, entries, node.places)


def _description(node: Node | None, at: Location, given: str | None, found: Findings) -> str:
    if given is not None:
        return given
    written = as_text(node, found, "a2a_server.description")
    if written is None or not written.strip():
        text = "a2a_server has no description"
        mend = (
            'add to endpoints.yml "a2a_server: {description: …}", or start with '
            "--description TEXT or --relax"
        )
        found.error(at, "validation.a2a_server.missing_description", text, mend)
        return NO_DESCRIPTION
    return written.strip()


def _count(node: Node | None, key: str, found: Findings) -> int | None:
    if node is None:
        return None
    if isinstance(node, ScalarNode) and isinstance(node.value, int):
        is_count = node.value >= 0 and not isinstance(node.value, bool)
        if is_count:
            return node.value
    mistyped(found, node, f"a2a_server.{key}", "an integer of 0 or more")
    return None


def _hosts(node: Node | None, found: Findings) -> tuple[str, ...] | None:
    if node is None:
        return None
    return as_texts(node, found, "a2a_server.push_notification_allowed_hosts")
