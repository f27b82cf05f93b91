"""`endpoints.yml`: the settings of the server, and where actions run (server.md CFG-1 to CFG-4).

Keys that are Rasa's but mean nothing to the mock are not read, so a variable that only they name
need not be set.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, Field, ValidationError

from mock_server.dialogue.model import Json
from mock_server.dialogue.outside import ActionServer, ActionServerKind
from mock_server.errors import Location
from mock_server.project.findings import Findings
from mock_server.project.mock_file import MockYml
from mock_server.project.nodes import VARIABLE, MapNode, Node, ScalarNode, expand_keys, parse
from mock_server.project.validation import (
    Count,
    FileEntry,
    Flag,
    Items,
    Text,
    find,
    locate,
    validated,
    without,
)
from mock_server.tasks.json_text import parse_json

FILE = "endpoints.yml"
CODE = "validation.a2a_server"
DEFAULT_TIMEOUT_SECONDS = 600
DEFAULT_MAX_CONTEXTS = 1000
NO_DESCRIPTION = "A Rasa assistant"
SECRET_ALGORITHMS = ("HS256", "HS512")
KEY_ALGORITHMS = ("RS256", "RS512", "ES256", "ES512", "PS256")
ALGORITHMS = (*SECRET_ALGORITHMS, *KEY_ALGORITHMS)
CURVES = {"ES256": "secp256r1", "ES512": "secp521r1"}
CARD_CODE = f"{CODE}.agent_card"
CARD_FIX = "see the AgentCard of A2A 0.3 §5.5"
SCHEMES = ("http://", "https://")
OWN_PYTHON = Path(".venv") / "bin" / "python"
LEGACY_TLS = (("tls",), ("a2a_server", "tls"))
SECRET = ("a2a_server", "auth", "jwt", "secret")


class ServerEntry(FileEntry):
    """A mapping below `a2a_server`."""

    codes: ClassVar[Mapping[str, str]] = {"extra_forbidden": f"{CODE}.unknown_key"}


class JwtEntry(ServerEntry):
    """How a caller's token is verified."""

    algorithm: Text = Field(
        default="RS256", description=f"{', '.join(f'`{name}`' for name in ALGORITHMS)}"
    )
    public_key_path: Text | None = Field(
        default=None,
        description="a PEM file with the public key, required for RS, ES and PS: RSA, or for ES256 "
        "a key on P-256, for ES512 on P-521",
    )
    secret: Text | None = Field(
        default=None,
        description="`${NAME}`, required for HS: it must come from the environment",
        repr=False,
    )
    issuer: Text | None = Field(
        default=None, description="what `iss` must be; not looked at without it"
    )
    audience: Text | None = Field(
        default=None, description="what `aud` must be or hold; not looked at without it"
    )


class AuthEntry(ServerEntry):
    """The bearer token that callers must send (CFG-2)."""

    type: Text | None = Field(default=None, description="required: `bearer`")
    jwt: JwtEntry | None = Field(default=None, description="how the token is verified, see below")


class A2AServerEntry(ServerEntry):
    """`a2a_server`, as the file has it."""

    description: Text | None = Field(
        default=None,
        description="required: what the card says of the agent; `--description` stands for it",
    )
    url: Text | None = Field(
        default=None,
        description="the address that the card gives to clients; `--url` outranks it; if left out, "
        "from `--interface`, `--port` and `--ssl-certificate`",
    )
    agent_card_path: Text | None = Field(
        default=None,
        description="a JSON file that is served as the card; its `url` is replaced, `description` "
        "is ignored",
    )
    include_conversation_repair: Flag = Field(
        default=True,
        description="patterns are skills, and a repair waits for an answer instead of completing "
        "the task",
    )
    task_timeout_seconds: Count = Field(
        default=DEFAULT_TIMEOUT_SECONDS,
        description="a turn that runs longer is cancelled; 0: none is",
    )
    a2a_message_cache_ttl_seconds: Count | None = Field(
        default=None,
        description="how long a repeated message gets the answer that it had; 0: not at all; if "
        "left out, as `task_timeout_seconds`, 600 if that is 0",
    )
    max_contexts: Count = Field(
        default=DEFAULT_MAX_CONTEXTS,
        description="contexts in flight or waiting for an answer; 0: any number",
    )
    push_notifications_enabled: Flag = Field(
        default=False,
        description="see [Receive push notifications](../how-to/receive-push-notifications.md)",
    )
    push_notification_allowed_hosts: Items[Text] | None = Field(
        default=None, description="the hosts, and their subdomains, that callbacks may have"
    )
    auth: AuthEntry | None = Field(default=None, description="who may call; everybody if left out")

    @property
    def replay_seconds(self) -> int:
        """How long a repeated message gets the answer that it had; 0: not at all."""
        ttl = self.a2a_message_cache_ttl_seconds
        return (self.task_timeout_seconds or DEFAULT_TIMEOUT_SECONDS) if ttl is None else ttl

    @property
    def allowed_hosts(self) -> Sequence[str] | None:
        """The hosts that callbacks may have; None allows every one.

        A key without a value allows none: a forgotten list must not allow every one.
        """
        hosts = self.push_notification_allowed_hosts
        is_forgotten = hosts is None and self.has("push_notification_allowed_hosts")
        return () if is_forgotten else hosts


class ActionEndpointEntry(FileEntry):
    """`action_endpoint`, of which Rasa knows more keys."""

    model_config = ConfigDict(extra="ignore")
    url: Text | None = None
    cafile: Text | None = None
    actions_module: Text | None = None


class EndpointsYml(FileEntry):
    """The keys of `endpoints.yml` that mean something here."""

    model_config = ConfigDict(extra="ignore")
    a2a_server: A2AServerEntry | None = None
    action_endpoint: ActionEndpointEntry | None = None


@dataclass(frozen=True, slots=True)
class JwtAuth:
    """How a caller's JWT is verified: `key` is the secret (HS*) or a public key in PEM."""

    algorithm: str = "RS256"
    key: bytes = field(default=b"", repr=False)
    issuer: str | None = None
    audience: str | None = None


@dataclass(frozen=True, slots=True)
class A2AServer:
    """`a2a_server`: its `settings` as they are written, and what some of them lead to.

    `agent_card` is the content of the file at `agent_card_path`.
    """

    description: str
    settings: A2AServerEntry = field(default_factory=A2AServerEntry)
    agent_card: Mapping[str, Json] | None = None
    auth: JwtAuth | None = None


def read_endpoints(
    root: Node | None, keys: frozenset[str], environment: Mapping[str, str], found: Findings
) -> EndpointsYml:
    """The file's part below `keys`; the rest may name variables that are not set."""
    if isinstance(root, MapNode):
        wanted = {key: value for key, value in root.entries.items() if key in keys}
        root = MapNode(root.location, wanted, root.places)
    expanded = expand_keys(root, keys, environment, found)
    return validated(EndpointsYml, expanded, found, FILE) or EndpointsYml()


def read_a2a_server(
    root: Node | None,
    file: Path,
    environment: Mapping[str, str],
    description: str | None,
    found: Findings,
) -> A2AServer:
    """The settings of the server in `file`; relative paths start at its folder.

    `description`, where given, stands for the one in the file.
    """
    endpoints = read_endpoints(
        _without_tls(root, found), frozenset({"a2a_server"}), environment, found
    )
    entry = endpoints.a2a_server or A2AServerEntry()
    at = endpoints.at("a2a_server") if endpoints.a2a_server else Location(str(file), 1)
    card = entry.agent_card_path
    return A2AServer(
        description=_description(entry.description, at, description, found),
        settings=entry,
        agent_card=None
        if card is None
        else read_card_file(file.parent / card, entry.at("agent_card_path"), found),
        auth=entry.auth and _auth(entry.auth, find(root, SECRET), file.parent, found),
    )


def _without_tls(root: Node | None, found: Findings) -> Node | None:
    """`root` without the `tls` of older versions of Rasa, which is reported where it stands."""
    for path in LEGACY_TLS:
        block = find(root, path[:-1])
        if isinstance(block, MapNode) and "tls" in block.entries:
            text = f"{'.'.join(path)} is no longer read"
            fix = "remove it, and start with --ssl-certificate and --ssl-keyfile"
            found.error(block.place("tls"), f"{CODE}.legacy_tls", text, fix)
    return without(root, {*LEGACY_TLS}) if isinstance(root, MapNode) else root


def _description(written: str | None, at: Location, given: str | None, found: Findings) -> str:
    if given is not None:
        return given
    if written is None or not written.strip():
        text = "a2a_server has no description"
        fix = (
            'add to endpoints.yml "a2a_server: {description: …}", or start with '
            "--description TEXT or --relax"
        )
        found.error(at, f"{CODE}.missing_description", text, fix)
        return NO_DESCRIPTION
    return written.strip()


def _auth(entry: AuthEntry, secret: Node | None, folder: Path, found: Findings) -> JwtAuth:
    """How tokens are verified; relative paths start at `folder`, `secret` is as it is written."""
    if entry.type != "bearer":
        text = f"a2a_server.auth.type: found {entry.type!r}, expected 'bearer'"
        found.error(entry.at("type"), f"{CODE}.auth_type", text)
    jwt = entry.jwt or JwtEntry()
    place = jwt if entry.jwt else entry
    key = b""
    if jwt.algorithm not in ALGORITHMS:
        text = f"auth.jwt.algorithm {jwt.algorithm!r} is not supported"
        fix = f"expected one of {', '.join(ALGORITHMS)}"
        found.error(place.at("algorithm"), f"{CODE}.auth_algorithm", text, fix)
    elif jwt.algorithm in KEY_ALGORITHMS:
        key = _public_key(jwt, place.at("public_key_path"), folder, found)
    if jwt.algorithm in SECRET_ALGORITHMS or secret is not None:
        key = _secret(jwt, secret, place.at("secret"), found) or key
    return JwtAuth(jwt.algorithm, key, issuer=jwt.issuer, audience=jwt.audience)


def _secret(jwt: JwtEntry, written: Node | None, at: Location, found: Findings) -> bytes:
    """A secret must come from the environment: a file with one in it gets shared."""
    source = written.source if isinstance(written, ScalarNode) else ""
    code = f"{CODE}.auth_secret"
    fix = 'write "secret: ${NAME}" and set the environment variable NAME'
    if not source:
        found.error(at, code, f"auth.jwt.secret is required for {jwt.algorithm}", fix)
    elif VARIABLE.fullmatch(source) is None:
        found.error(at, code, "auth.jwt.secret is written in plain text", fix)
    elif not jwt.secret:
        found.error(at, code, f"auth.jwt.secret: {source} is empty", "set it to the secret")
    return b"" if jwt.algorithm in KEY_ALGORITHMS else (jwt.secret or "").encode()


def _public_key(jwt: JwtEntry, at: Location, folder: Path, found: Findings) -> bytes:
    """The PEM file's content; what is not a key for the algorithm is reported."""
    code, path = f"{CODE}.auth_public_key", jwt.public_key_path
    if path is None:
        text = f"auth.jwt.public_key_path is required for {jwt.algorithm}"
        found.error(at, code, text, "name a PEM file")
        return b""
    try:
        pem = (folder / path).read_bytes()
    except OSError as error:
        text = f"auth.jwt.public_key_path: {path!r} cannot be read: {error.strerror}"
        found.error(at, code, text)
        return b""
    fault = _key_fault(pem, jwt.algorithm)
    if fault:
        found.error(at, code, f"auth.jwt.public_key_path: {path!r} {fault}")
    return pem


def _key_fault(pem: bytes, algorithm: str) -> str:
    """Why `pem` does not fit `algorithm`, in words that follow its name; empty if it does."""
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


def read_card_file(path: Path, at: Location, found: Findings) -> dict[str, Json] | None:
    """The card in `path`, which is named `at` a line; None if it is invalid, which is reported."""
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
        found.error(Location(str(path), 1), CARD_CODE, "a card is a JSON object", CARD_FIX)
        return None
    return card if _is_valid(card, path, text, found) else None


def _is_valid(card: dict[str, Json], path: Path, text: str, found: Findings) -> bool:
    # The SDK's models take as long to import as all of the loader.
    from a2a.compat.v0_3 import types

    try:
        # The address is filled in later, and need not be there.
        types.AgentCard.model_validate({"url": "", **card})
    except ValidationError as error:
        root = parse(str(path), text, Findings())
        for problem in error.errors(include_url=False, include_input=False):
            key = ".".join(map(str, problem["loc"]))
            line = Location(str(path), 1) if root is None else locate(root, problem["loc"])
            found.error(line, CARD_CODE, f"{key}: {problem['msg']}", CARD_FIX)
        return False
    return True


def read_action_server(
    mock: MockYml,
    root: Node | None,
    file: Path,
    folder: Path,
    *,
    environment: Mapping[str, str],
    found: Findings,
) -> ActionServer:
    """Where actions run; `mock` leaves the address, or the module, to endpoints.yml, the `file`."""
    choice = mock.action_server
    if choice is None or choice.kind is ActionServerKind.STUBS:
        return ActionServer()
    endpoints = read_endpoints(root, frozenset({"action_endpoint"}), environment, found)
    entry = endpoints.action_endpoint or ActionEndpointEntry()
    url = entry.url or ""
    if choice.kind is ActionServerKind.ENDPOINT and not url.startswith(SCHEMES):
        at = entry.at("url") if endpoints.action_endpoint else mock.at("action_server")
        text = f"action_endpoint.url: found {url!r}, expected an address with http:// or https://"
        fix = "start the project's own actions with `action_server: child`"
        found.error(at, "mock.action_endpoint", text, fix)
    return ActionServer(
        kind=choice.kind,
        url=url,
        cafile=None if entry.cafile is None else str(file.parent / entry.cafile),
        python=_interpreter(choice.python, folder),
        module=choice.module or entry.actions_module or "actions",
        folder=str(folder.resolve()),
        timeout_seconds=choice.timeout_seconds,
    )


def _interpreter(written: str | None, folder: Path) -> str:
    """A name is looked up on PATH, a path starts at the project; else the project's own `.venv`."""
    if written:
        return str(folder.resolve() / written) if "/" in written else written
    own = folder.resolve() / OWN_PYTHON
    return str(own) if own.exists() else sys.executable
