"""`a2a_server.auth`: the bearer token that callers must bring (server.md CFG-2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mock_server.project.findings import Findings, suggestion
from mock_server.project.nodes import MapNode, Node
from mock_server.project.reading import as_map, as_text
from mock_server.project.variables import VARIABLE, expand_map

AUTH_KEYS = ("type", "jwt")
JWT_KEYS = ("algorithm", "public_key_path", "secret", "issuer", "audience")
SECRET_ALGORITHMS = ("HS256", "HS512")
KEY_ALGORITHMS = ("RS256", "RS512", "ES256", "ES512", "PS256")
ALGORITHMS = (*SECRET_ALGORITHMS, *KEY_ALGORITHMS)


@dataclass(frozen=True, slots=True)
class JwtAuth:
    """How a caller's JWT is verified: with `secret` (HS*) or the PEM file `public_key_path`."""

    algorithm: str = "RS256"
    public_key_path: Path | None = None
    secret: str | None = field(default=None, repr=False)
    issuer: str | None = None
    audience: str | None = None


def read_auth(
    node: Node | None, folder: Path, environment: Mapping[str, str], found: Findings
) -> JwtAuth | None:
    """The `auth` block; None without one. Relative paths start at `folder`."""
    auth = as_map(node, found, "a2a_server.auth")
    if auth is None:
        return None
    _refuse_keys(auth, AUTH_KEYS, "a2a_server.auth", found)
    kind = as_text(auth.entries.get("type"), found, "a2a_server.auth.type")
    if kind != "bearer":
        text = f"a2a_server.auth.type: found {kind!r}, expected 'bearer'"
        found.error(auth.place("type"), "validation.a2a_server.auth_type", text)
    jwt = as_map(auth.entries.get("jwt"), found, "a2a_server.auth.jwt")
    return _read_jwt(jwt or MapNode(auth.place("jwt"), {}, {}), folder, environment, found)


def _read_jwt(
    jwt: MapNode, folder: Path, environment: Mapping[str, str], found: Findings
) -> JwtAuth:
    _refuse_keys(jwt, JWT_KEYS, "a2a_server.auth.jwt", found)
    entries = expand_map(jwt, environment, found).entries
    texts = {key: as_text(entries.get(key), found, f"auth.jwt.{key}") for key in JWT_KEYS}
    algorithm = texts["algorithm"] or "RS256"
    if algorithm not in ALGORITHMS:
        text = f"auth.jwt.algorithm {algorithm!r} is not supported"
        mend = f"expected one of {', '.join(ALGORITHMS)}"
        found.error(jwt.place("algorithm"), "validation.a2a_server.auth_algorithm", text, mend)
    elif algorithm in SECRET_ALGORITHMS:
        _check_secret(jwt, algorithm, found)
    path = texts["public_key_path"]
    if algorithm in KEY_ALGORITHMS:
        _check_public_key(jwt, algorithm, path, folder, found)
    return JwtAuth(
        algorithm=algorithm,
        public_key_path=None if path is None else folder / path,
        secret=texts["secret"],
        issuer=texts["issuer"],
        audience=texts["audience"],
    )


def _check_secret(jwt: MapNode, algorithm: str, found: Findings) -> None:
    """A secret must come from the environment: a file with one in it gets shared."""
    secret = as_text(jwt.entries.get("secret"), found, "auth.jwt.secret")
    mend = 'write "secret: ${NAME}" and set the environment variable NAME'
    code = "validation.a2a_server.auth_secret"
    if secret is None:
        found.error(jwt.place("secret"), code, f"auth.jwt.secret is required for {algorithm}", mend)
    elif VARIABLE.fullmatch(secret) is None:
        found.error(jwt.place("secret"), code, "auth.jwt.secret is written in plain text", mend)


def _check_public_key(
    jwt: MapNode, algorithm: str, path: str | None, folder: Path, found: Findings
) -> None:
    place, code = jwt.place("public_key_path"), "validation.a2a_server.auth_public_key"
    if path is None:
        text = f"auth.jwt.public_key_path is required for {algorithm}"
        found.error(place, code, text, "name a PEM file")
    elif not (folder / path).is_file():
        found.error(place, code, f"auth.jwt.public_key_path: there is no file {path!r}")


def _refuse_keys(node: MapNode, known: tuple[str, ...], what: str, found: Findings) -> None:
    for key in node.entries:
        if key not in known:
            text = f"{what} has no key {key!r}"
            mend = suggestion(key, known) or f"expected one of {', '.join(known)}"
            found.error(node.place(key), "validation.a2a_server.unknown_key", text, mend)
