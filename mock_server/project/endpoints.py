"""`endpoints.yml: a2a_server`: what the server is told about itself (server.md CFG-1 to CFG-4).

Keys of `endpoints.yml` that are Rasa's but mean nothing to the mock are not read, so a variable
that only they name need not be set.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mock_server.dialogue.model import Json
from mock_server.dialogue.outside import ActionServer, ActionServerKind
from mock_server.errors import Location
from mock_server.project.findings import Findings, suggestion
from mock_server.project.nodes import (
    VARIABLE,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    as_bool,
    as_map,
    as_text,
    as_texts,
    expand,
    expand_map,
    mistyped,
    parse,
    refuse_unknown_keys,
)
from mock_server.tasks.json_text import parse_json

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
class JwtAuth:
    """How a caller's JWT is verified: `key` is the secret (HS*) or a public key in PEM."""

    algorithm: str = "RS256"
    key: bytes = field(default=b"", repr=False)
    issuer: str | None = None
    audience: str | None = None


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
            found.error(node.place(key), f"{AUTH_CODE}.legacy_tls", text, mend)
        elif key not in KEYS:
            text = f"a2a_server has no key {key!r}"
            mend = suggestion(key, KEYS) or f"expected one of {', '.join(KEYS)}"
            found.error(node.place(key), f"{AUTH_CODE}.unknown_key", text, mend)


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
        found.error(at, f"{AUTH_CODE}.missing_description", text, mend)
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


AUTH_KEYS = ("type", "jwt")
JWT_KEYS = ("algorithm", "public_key_path", "secret", "issuer", "audience")
SECRET_ALGORITHMS = ("HS256", "HS512")
KEY_ALGORITHMS = ("RS256", "RS512", "ES256", "ES512", "PS256")
AUTH_CODE = "validation.a2a_server"
UNKNOWN_KEY = f"{AUTH_CODE}.unknown_key"
ALGORITHMS = (*SECRET_ALGORITHMS, *KEY_ALGORITHMS)


def read_auth(
    node: Node | None, folder: Path, environment: Mapping[str, str], found: Findings
) -> JwtAuth | None:
    """The `auth` block; None without one. Relative paths start at `folder`."""
    auth = as_map(node, found, "a2a_server.auth")
    if auth is None:
        return None
    refuse_unknown_keys(auth, AUTH_KEYS, found, "a2a_server.auth", UNKNOWN_KEY)
    written = auth.entries.get("type")
    read = None if written is None else expand(written, environment, found)
    kind = as_text(read, found, "a2a_server.auth.type")
    if kind != "bearer":
        text = f"a2a_server.auth.type: found {kind!r}, expected 'bearer'"
        found.error(auth.place("type"), f"{AUTH_CODE}.auth_type", text)
    jwt = as_map(auth.entries.get("jwt"), found, "a2a_server.auth.jwt")
    return _read_jwt(jwt or MapNode(auth.place("jwt"), {}, {}), folder, environment, found)


def _read_jwt(
    jwt: MapNode, folder: Path, environment: Mapping[str, str], found: Findings
) -> JwtAuth:
    refuse_unknown_keys(jwt, JWT_KEYS, found, "a2a_server.auth.jwt", UNKNOWN_KEY)
    entries = expand_map(jwt, environment, found).entries
    texts = {key: as_text(entries.get(key), found, f"auth.jwt.{key}") for key in JWT_KEYS}
    algorithm = texts["algorithm"] or "RS256"
    key = b""
    if algorithm not in ALGORITHMS:
        text = f"auth.jwt.algorithm {algorithm!r} is not supported"
        mend = f"expected one of {', '.join(ALGORITHMS)}"
        found.error(jwt.place("algorithm"), f"{AUTH_CODE}.auth_algorithm", text, mend)
    elif algorithm in KEY_ALGORITHMS:
        key = _public_key(jwt, algorithm, texts["public_key_path"], folder, found)
    if algorithm in SECRET_ALGORITHMS or "secret" in jwt.entries:
        key = _secret(jwt, algorithm, texts["secret"], found) or key
    return JwtAuth(algorithm, key, issuer=texts["issuer"], audience=texts["audience"])


def _secret(jwt: MapNode, algorithm: str, expanded: str | None, found: Findings) -> bytes:
    """A secret must come from the environment: a file with one in it gets shared."""
    written = as_text(jwt.entries.get("secret"), Findings(), "auth.jwt.secret")
    place, code = jwt.place("secret"), f"{AUTH_CODE}.auth_secret"
    mend = 'write "secret: ${NAME}" and set the environment variable NAME'
    if written is None:
        found.error(place, code, f"auth.jwt.secret is required for {algorithm}", mend)
    elif VARIABLE.fullmatch(written) is None:
        found.error(place, code, "auth.jwt.secret is written in plain text", mend)
    elif not expanded:
        found.error(place, code, f"auth.jwt.secret: {written} is empty", "set it to the secret")
    return b"" if algorithm in KEY_ALGORITHMS else (expanded or "").encode()


def _public_key(
    jwt: MapNode, algorithm: str, path: str | None, folder: Path, found: Findings
) -> bytes:
    """The PEM file's content; what is no key that `algorithm` takes is reported."""
    place, code = jwt.place("public_key_path"), f"{AUTH_CODE}.auth_public_key"
    if path is None:
        text = f"auth.jwt.public_key_path is required for {algorithm}"
        found.error(place, code, text, "name a PEM file")
        return b""
    try:
        pem = (folder / path).read_bytes()
    except OSError as error:
        text = f"auth.jwt.public_key_path: {path!r} cannot be read: {error.strerror}"
        found.error(place, code, text)
        return b""
    fault = key_fault(pem, algorithm)
    if fault:
        found.error(place, code, f"auth.jwt.public_key_path: {path!r} {fault}")
    return pem


CURVES = {"ES256": "secp256r1", "ES512": "secp521r1"}


def key_fault(pem: bytes, algorithm: str) -> str:
    """What is wrong with `pem` for `algorithm`, in words that follow its name; empty if nothing."""
    # Half of what starting the mock costs, so it is imported only where there is a key.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    if b"PRIVATE KEY-----" in pem:
        return "holds a private key, expected the public one"
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        return "holds no public key in PEM"
    if algorithm not in CURVES:
        return "" if isinstance(key, RSAPublicKey) else f"holds no RSA key, as {algorithm} needs"
    if isinstance(key, EllipticCurvePublicKey) and key.curve.name == CURVES[algorithm]:
        return ""
    return f"holds no key on the curve {CURVES[algorithm]}, as {algorithm} needs"


CARD_CODE = f"{AUTH_CODE}.agent_card"
CARD_MEND = "see the AgentCard of A2A 0.3 §5.5"


def read_card_file(path: Path, at: Location, found: Findings) -> dict[str, Json] | None:
    """The card in `path`, which `at` names; None if it is none, which is then a finding."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        found.error(at, CARD_CODE, f"agent_card_path: {str(path)!r} cannot be read: {reason}")
        return None
    try:
        card = parse_json(text)
    except json.JSONDecodeError as error:
        found.error(Location(str(path), error.lineno), CARD_CODE, f"this is not JSON: {error.msg}")
        return None
    except ValueError as error:
        found.error(Location(str(path), 1), CARD_CODE, f"this is not JSON: {error}")
        return None
    if not isinstance(card, dict):
        found.error(Location(str(path), 1), CARD_CODE, "a card is a JSON object", CARD_MEND)
        return None
    return card if _is_valid(card, path, text, found) else None


def _is_valid(card: dict[str, Json], path: Path, text: str, found: Findings) -> bool:
    # pydantic and the SDK's models take as long to import as all of the loader.
    from a2a.compat.v0_3 import types
    from pydantic import ValidationError

    try:
        # The address is filled in later, and need not be there.
        types.AgentCard.model_validate({"url": "", **card})
    except ValidationError as error:
        root = parse(str(path), text, Findings())
        for problem in error.errors(include_url=False, include_input=False):
            place = ".".join(str(key) for key in problem["loc"])
            line = Location(str(path), _line(root, problem["loc"]))
            found.error(line, CARD_CODE, f"{place}: {problem['msg']}", CARD_MEND)
        return False
    return True


def _line(node: Node | None, keys: Sequence[str | int]) -> int:
    """The line of the last of `keys` that is there."""
    line = 1 if node is None else node.location.line
    for key in keys:
        match node:
            case MapNode(entries=entries) if key in entries:
                line, node = node.place(str(key)).line, entries[str(key)]
            case ListNode(items=items) if isinstance(key, int) and key < len(items):
                node = items[key]
                line = node.location.line
            case _:
                break
    return line


SCHEMES = ("http://", "https://")
OWN_PYTHON = Path(".venv") / "bin" / "python"


def complete(
    choice: ActionServer | None,
    endpoints: Node | None,
    file: Path,
    folder: Path,
    *,
    environment: Mapping[str, str],
    found: Findings,
) -> ActionServer:
    """What `choice` leaves to endpoints.yml, the `file`: the address, or the module to run."""
    if choice is None or choice.kind is ActionServerKind.STUBS:
        return ActionServer()
    root = as_map(endpoints, found, "endpoints.yml")
    block = root.entries.get("action_endpoint") if root else None
    entries = as_map(block and expand(block, environment, found), found, "action_endpoint")
    get = (entries or MapNode(choice.location, {}, {})).entries.get
    url = as_text(get("url"), found, "action_endpoint.url") or ""
    cafile = as_text(get("cafile"), found, "action_endpoint.cafile")
    module = as_text(get("actions_module"), found, "action_endpoint.actions_module")
    if choice.kind is ActionServerKind.ENDPOINT and not url.startswith(SCHEMES):
        place = entries.place("url") if entries else choice.location
        text = f"action_endpoint.url: found {url!r}, expected an address with http:// or https://"
        mend = "start the project's own actions with `action_server: child`"
        found.error(place, "mock.action_endpoint", text, mend)
    return replace(
        choice,
        url=url,
        cafile=None if cafile is None else str(file.parent / cafile),
        python=_interpreter(choice.python, folder),
        module=choice.module or module or "actions",
        folder=str(folder.resolve()),
    )


def _interpreter(written: str, folder: Path) -> str:
    """A name is looked up on PATH, a path starts at the project; else the project's own `.venv`."""
    if written:
        return str(folder.resolve() / written) if "/" in written else written
    own = folder.resolve() / OWN_PYTHON
    return str(own) if own.exists() else sys.executable
