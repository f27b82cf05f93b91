"""`a2a_server.auth`: the bearer token that callers must bring (server.md CFG-2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mock_server.project.findings import Findings
from mock_server.project.nodes import MapNode, Node
from mock_server.project.public_key import key_fault
from mock_server.project.reading import as_map, as_text, refuse_unknown_keys
from mock_server.project.variables import VARIABLE, expand, expand_map

AUTH_KEYS = ("type", "jwt")
JWT_KEYS = ("algorithm", "public_key_path", "secret", "issuer", "audience")
SECRET_ALGORITHMS = ("HS256", "HS512")
KEY_ALGORITHMS = ("RS256", "RS512", "ES256", "ES512", "PS256")
CODE = "validation.a2a_server"
UNKNOWN_KEY = f"{CODE}.unknown_key"
ALGORITHMS = (*SECRET_ALGORITHMS, *KEY_ALGORITHMS)


@dataclass(frozen=True, slots=True)
class JwtAuth:
    """How a caller's JWT is verified: `key` is the secret (HS*) or a public key in PEM."""

    algorithm: str = "RS256"
    key: bytes = field(default=b"", repr=False)
    issuer: str | None = None
    audience: str | None = None


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
        found.error(auth.place("type"), f"{CODE}.auth_type", text)
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
        found.error(jwt.place("algorithm"), f"{CODE}.auth_algorithm", text, mend)
    elif algorithm in KEY_ALGORITHMS:
        key = _public_key(jwt, algorithm, texts["public_key_path"], folder, found)
    if algorithm in SECRET_ALGORITHMS or "secret" in jwt.entries:
        key = _secret(jwt, algorithm, texts["secret"], found) or key
    return JwtAuth(algorithm, key, issuer=texts["issuer"], audience=texts["audience"])


def _secret(jwt: MapNode, algorithm: str, expanded: str | None, found: Findings) -> bytes:
    """A secret must come from the environment: a file with one in it gets shared."""
    written = as_text(jwt.entries.get("secret"), Findings(), "auth.jwt.secret")
    place, code = jwt.place("secret"), f"{CODE}.auth_secret"
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
    place, code = jwt.place("public_key_path"), f"{CODE}.auth_public_key"
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
