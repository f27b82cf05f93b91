"""A token is signed with the key that its algorithm takes, and with no other."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from inspector.core.minting import mint_token, read_claims, read_mint, weakness
from inspector.errors import UsageError
from inspector.settings import Mint

SECRET = "one secret with as many bytes as the longest algorithm asks for, 64"
NOW = 1_700_000_000.5

KEYS: dict[str, Any] = {
    "rsa": rsa.generate_private_key(65537, 2048),
    "p256": ec.generate_private_key(ec.SECP256R1()),
    "p521": ec.generate_private_key(ec.SECP521R1()),
    "ed25519": ed25519.Ed25519PrivateKey.generate(),
}


@pytest.fixture
def key_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a key of KEYS as PEM: `private`, `public` or `encrypted`."""

    def write(name: str, form: str = "private") -> Path:
        key, path = KEYS[name], tmp_path / f"{name}-{form}.pem"
        if form == "public":
            pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        else:
            lock = BestAvailableEncryption(b"x") if form == "encrypted" else NoEncryption()
            pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock)
        path.write_bytes(pem)
        return path

    return write


def read(algorithm: str, key: Path | None = None, **more: Any) -> Mint:
    settings: dict[str, Any] = {
        "key_file": key,
        "secret_variable": None if key else "SECRET",
        "claims": (),
        "ttl_seconds": 60.0,
        "environment": {"SECRET": SECRET},
    }
    return read_mint(algorithm, **{**settings, **more})


@pytest.mark.parametrize(
    ("algorithm", "key"),
    [
        ("HS256", None),
        ("HS512", None),
        ("RS256", "rsa"),
        ("RS512", "rsa"),
        ("PS256", "rsa"),
        ("ES256", "p256"),
        ("ES512", "p521"),
    ],
)
@pytest.mark.req("CONN-3")
def test_each_algorithm_signs(
    key_file: Callable[..., Path], algorithm: str, key: str | None
) -> None:
    mint = read(algorithm, key_file(key) if key else None, claims=("aud=bank", "n=5"))
    token = mint_token(mint, NOW)
    verifier = KEYS[key].public_key() if key else SECRET
    claims = jwt.decode(
        token, verifier, [algorithm], audience="bank", options={"verify_exp": False}
    )
    assert claims == {"iat": 1_700_000_000, "exp": 1_700_000_060, "aud": "bank", "n": 5}


def test_a_claim_wins_over_what_is_added() -> None:
    mint = read("HS256", claims=("exp=7",), ttl_seconds=0.5)
    claims = jwt.decode(mint_token(mint, NOW), SECRET, ["HS256"], options={"verify_exp": False})
    assert claims["exp"] == 7


def test_claims_that_are_texts_stay_texts() -> None:
    assert read_claims(["sub=42", 'aud=["a","b"]', "n=42", "t=x y", 'o={"a":null}']) == {
        "sub": "42",
        "aud": ["a", "b"],
        "n": 42,
        "t": "x y",
        "o": {"a": None},
    }


@pytest.mark.parametrize("pair", ["aud", "=x"])
def test_a_claim_needs_a_name_and_a_value(pair: str) -> None:
    with pytest.raises(UsageError, match="is not NAME=VALUE"):
        read_claims([pair])


@pytest.mark.parametrize(
    ("algorithm", "key", "form", "complaint"),
    [
        ("HS256", "rsa", "private", "signs with a shared secret.*--secret-env VAR"),
        ("RS256", "p256", "private", "RS256 needs an RSA key, found an EC key on secp256r1"),
        ("PS256", "ed25519", "private", "needs an RSA key, found a key of another kind"),
        ("ES256", "p521", "private", "needs an EC key on P-256, found an EC key on secp521r1"),
        ("ES512", "rsa", "private", "needs an EC key on P-521, found an RSA key"),
        ("RS256", "rsa", "public", "expected a private key in PEM; found a public one"),
        ("RS256", "rsa", "encrypted", "the private key is encrypted.*openssl pkey"),
    ],
)
def test_a_key_that_does_not_fit_is_told(
    key_file: Callable[..., Path], algorithm: str, key: str, form: str, complaint: str
) -> None:
    with pytest.raises(UsageError, match=f"(?s){complaint}"):
        read(algorithm, key_file(key, form))


@pytest.mark.parametrize("content", ["", "hello", "-----BEGIN PRIVATE KEY-----\nx", "ü"])
def test_a_file_without_a_key_is_told(tmp_path: Path, content: str) -> None:
    path = tmp_path / "key.pem"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match="found none that can be read"):
        read("RS256", path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read("RS256", tmp_path / "gone.pem")


def test_a_private_key_is_asked_for_where_a_secret_is_named() -> None:
    with pytest.raises(UsageError, match="signs with a private key"):
        read("ES256")


@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        ({}, "is not set"),
        ({"SECRET": ""}, "is empty"),
        ({"SECRET": "-----BEGIN PUBLIC KEY-----"}, "holds a key in PEM"),
    ],
)
def test_a_secret_that_is_none_is_told(environment: dict[str, str], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        read("HS256", environment=environment)


def test_a_short_secret_signs_with_a_remark() -> None:
    mint = read("HS512", environment={"SECRET": "short"})
    assert weakness(mint) == "the secret has 5 bytes; HS512 asks for 64 (RFC 7518 §3.2)"
    assert mint_token(mint, NOW)
    assert weakness(read("HS512")) == ""


def test_claims_that_no_token_can_hold_are_told() -> None:
    with pytest.raises(UsageError, match="no token can be made"):
        mint_token(read("HS256", claims=('iss=["a"]',)), NOW)


def test_the_key_is_not_shown() -> None:
    assert SECRET not in repr(read("HS256"))
