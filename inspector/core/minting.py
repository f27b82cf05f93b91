"""Development tokens, signed on the spot in the seven algorithms that Rasa's A2A server takes.

What the server verifies: server.md AUTH-2 and CFG-2.
"""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from inspector.errors import UsageError
from inspector.settings import ALGORITHMS, Mint
from inspector.wire.json_values import Json, parse_json

# What each algorithm signs with; RFC 7518 §3.1.
SECRET_BYTES = {"HS256": 32, "HS512": 64}
_CURVES = {"ES256": ("P-256", "secp256r1"), "ES512": ("P-521", "secp521r1")}

# RFC 7519 §4.1: these are texts, whatever `--claim sub=42` looks like.
_TEXT_CLAIMS = frozenset({"iss", "sub", "aud", "jti"})


def read_mint(
    algorithm: str,
    *,
    key_file: Path | None,
    secret_variable: str | None,
    claims: Sequence[str],
    ttl_seconds: float,
    environment: Mapping[str, str],
    flags: str = "--",
) -> Mint:
    """Return how to make the token that is asked for, its key read and found fit.

    `flags` is what the names of the flags begin with, where hints name them.

    Raises:
        UsageError: the key is missing, unreadable or not one that `algorithm` takes.
    """
    if algorithm not in ALGORITHMS:
        raise UsageError(f"{algorithm!r} is none of {', '.join(ALGORITHMS)}")
    key = _read_key(algorithm, key_file, secret_variable, environment, flags)
    return Mint(algorithm, key, read_claims(claims), ttl_seconds)


def mint_token(mint: Mint, now_seconds: float) -> str:
    """Return a token that is valid from now for `ttl_seconds`, unless its claims say otherwise.

    Raises:
        UsageError: the claims cannot stand in a token.
    """
    issued = int(now_seconds)
    expires = issued + float(mint.ttl_seconds)
    exp = int(expires) if expires.is_integer() else expires
    claims = {"iat": issued, "exp": exp, **mint.claims}
    try:
        # `weakness` reports in our own words what PyJWT warns of
        with warnings.catch_warnings(action="ignore"):
            return jwt.encode(claims, mint.key, mint.algorithm)
    except (TypeError, ValueError, jwt.PyJWTError) as error:
        raise UsageError(f"no token can be made: {str(error).rstrip('.')}") from error


def weakness(mint: Mint) -> str:
    """Return what a strict verifier may refuse about the secret (RFC 7518 §3.2), or nothing."""
    wanted, found = SECRET_BYTES.get(mint.algorithm, 0), len(mint.key.encode())
    if found >= wanted:
        return ""
    return f"the secret has {found} bytes; {mint.algorithm} asks for {wanted} (RFC 7518 §3.2)"


def read_claims(pairs: Sequence[str]) -> dict[str, Json]:
    """Return the claims that NAME=VALUE pairs give: JSON where the value is JSON, else text.

    Raises:
        UsageError: a pair without `=`.
    """
    claims: dict[str, Json] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"--claim {pair!r} is not NAME=VALUE", "write it as --claim aud=bank")
        parsed = parse_json(text.encode(errors="surrogateescape"))
        is_text = name in _TEXT_CLAIMS and not isinstance(parsed.value, list)
        claims[name] = text if parsed.problem or parsed.warning or is_text else parsed.value
    return claims


def _read_key(
    algorithm: str,
    key_file: Path | None,
    secret_variable: str | None,
    environment: Mapping[str, str],
    flags: str,
) -> str:
    if algorithm in SECRET_BYTES:
        if secret_variable is None:
            raise UsageError(
                f"{algorithm} signs with a shared secret, which no file of keys holds",
                f"name the variable that has it: {flags}secret-env VAR",
            )
        return _read_secret(algorithm, secret_variable, environment, flags)
    if key_file is None:
        raise UsageError(
            f"{algorithm} signs with a private key, not with a shared secret",
            f"name its PEM file: {flags}key FILE",
        )
    return _read_private_key(algorithm, key_file)


def _read_secret(algorithm: str, variable: str, environment: Mapping[str, str], flags: str) -> str:
    secret = environment.get(variable, "")
    if not secret:
        problem = "is empty" if variable in environment else "is not set"
        raise UsageError(f"the variable {variable} {problem}", f"export {variable}=… first")
    if "-----BEGIN" in secret:
        raise UsageError(
            f"the variable {variable} holds a key in PEM; {algorithm} signs with a shared secret",
            f"{flags}alg RS256 or ES256 with {flags}key FILE signs with a private key",
        )
    return secret


def _read_private_key(algorithm: str, path: Path) -> str:
    try:
        pem = path.read_text(encoding="ascii")
        key = load_pem_private_key(pem.encode(), None)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except TypeError as error:
        hint = f"openssl pkey -in {path} -out open.pem writes it without its password"
        raise UsageError(f"{path}: the private key is encrypted", hint) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _no_private_key(path, algorithm) from error
    _check_fits(algorithm, key, path)
    return pem


def _no_private_key(path: Path, algorithm: str) -> UsageError:
    is_public = b"PUBLIC KEY-----" in path.read_bytes()
    found = "found a public one" if is_public else "found none that can be read"
    return UsageError(
        f"{path}: expected a private key in PEM; {found}", f"{_new_key(algorithm)} makes one"
    )


def _check_fits(algorithm: str, key: object, path: Path) -> None:
    if algorithm in _CURVES:
        wanted, curve = _CURVES[algorithm]
        fits = isinstance(key, EllipticCurvePrivateKey) and key.curve.name == curve
        wanted = f"an EC key on {wanted}"
    else:
        wanted, fits = "an RSA key", isinstance(key, RSAPrivateKey)
    if not fits:
        raise UsageError(
            f"{path}: {algorithm} needs {wanted}, found {_kind(key)}",
            f"{_new_key(algorithm)} makes one",
        )


def _kind(key: object) -> str:
    if isinstance(key, EllipticCurvePrivateKey):
        return f"an EC key on {key.curve.name}"
    return "an RSA key" if isinstance(key, RSAPrivateKey) else "a key of another kind"


def _new_key(algorithm: str) -> str:
    if algorithm in _CURVES:
        curve = _CURVES[algorithm][0]
        return f"openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:{curve} -out key.pem"
    return "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out key.pem"
