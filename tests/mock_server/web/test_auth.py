"""What a bearer token must be."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from starlette.datastructures import Headers

from mock_server.project.endpoints import ALGORITHMS, JwtAuth
from mock_server.web.auth import Authorized, Rejected, TokenCheck, Verdict

if TYPE_CHECKING:
    from tests.conftest import Secret


NOW = 1_800_000_000.5
SigningKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | bytes


@dataclass(frozen=True)
class Issuer:
    """Signs with `key`, and has the settings of a server that trusts it."""

    key: SigningKey
    auth: JwtAuth

    def token(self, **claims: object) -> str:
        """Valid but for `claims`; one of `...` is left out."""
        said = {"exp": NOW + 60, **claims}
        written = {name: value for name, value in said.items() if value is not ...}
        return sign(self.auth.algorithm, self.key, written)

    def verdict(self, token: str, **trust: str) -> Verdict:
        return check(replace(self.auth, **trust), f"Bearer {token}")


def encoded(value: object) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(text).decode().rstrip("=")


def sign(algorithm: str, key: SigningKey, claims: Mapping[str, object] | bytes) -> str:
    """As `jwt.encode`, which refuses to write claims that it would not accept."""
    signed = f"{encoded({'alg': algorithm, 'typ': 'JWT'})}.{encoded(claims)}"
    signer = jwt.get_algorithm_by_name(algorithm)
    return f"{signed}.{encoded(signer.sign(signed.encode(), key))}"


def check(auth: JwtAuth, *authorization: str) -> Verdict:
    headers = Headers(raw=[(b"authorization", text.encode()) for text in authorization])
    return TokenCheck(auth, lambda: datetime.fromtimestamp(NOW, UTC))(headers)


def pem_of(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.fixture(scope="session")
def issuers(secret: "Secret") -> Mapping[str, Issuer]:
    shared = secret("a secret that is as long as the digest of SHA-512, which is 64 bytes").encode()
    rsa_key = rsa.generate_private_key(65537, 2048)
    keys: Mapping[str, SigningKey] = {
        "HS": shared,
        "RS": rsa_key,
        "PS": rsa_key,
        "ES256": ec.generate_private_key(ec.SECP256R1()),
        "ES512": ec.generate_private_key(ec.SECP521R1()),
    }
    made: dict[str, Issuer] = {}
    for algorithm in ALGORITHMS:
        key = keys.get(algorithm, keys.get(algorithm[:2], b""))
        trusted = key if isinstance(key, bytes) else pem_of(key)
        made[algorithm] = Issuer(key, JwtAuth(algorithm, trusted))
    return made


@pytest.fixture
def issuer(issuers: Mapping[str, Issuer]) -> Issuer:
    return issuers["ES256"]


@pytest.mark.req("AUTH-2", "CFG-2")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_each_algorithm_is_verified(issuers: Mapping[str, Issuer], algorithm: str) -> None:
    issuer = issuers[algorithm]
    token = jwt.encode({"exp": NOW + 60}, issuer.key, algorithm)
    assert issuer.verdict(token) == Authorized(NOW + 60)
    head, claims, signature = token.split(".")
    forged = f"{head}.{encoded({'exp': 9e9})}.{signature}"
    assert issuer.verdict(forged) == Rejected("the signature is wrong")
    assert isinstance(issuer.verdict(f"{head}.{claims}."), Rejected)


@pytest.mark.req("AUTH-2")
@pytest.mark.parametrize("trusted", ALGORITHMS)
def test_no_other_algorithm_is_accepted(issuers: Mapping[str, Issuer], trusted: str) -> None:
    for algorithm in set(ALGORITHMS) - {trusted}:
        verdict = issuers[trusted].verdict(issuers[algorithm].token())
        assert verdict == Rejected("the algorithm is not the configured one")


@pytest.mark.req("AUTH-2")
@pytest.mark.parametrize("name", ["none", "None", "NONE", ""])
def test_unsigned_token_is_rejected(issuers: Mapping[str, Issuer], name: str) -> None:
    unsigned = f"{encoded({'alg': name})}.{encoded({'exp': NOW + 60})}."
    for issuer in issuers.values():
        assert isinstance(issuer.verdict(unsigned), Rejected)


@pytest.mark.req("AUTH-2")
def test_public_key_is_not_a_secret(issuers: Mapping[str, Issuer]) -> None:
    """The classic: sign with HS256 and the public key, which everybody has."""
    rs256 = issuers["RS256"]
    forged = sign("HS256", rs256.auth.key, {"exp": NOW + 60})
    assert rs256.verdict(forged) == Rejected("the algorithm is not the configured one")


@pytest.mark.req("AUTH-2")
@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": ...}, "claim 'exp' is missing"),
        ({"exp": None}, "claim 'exp' is missing"),
        ({"exp": NOW}, "it has expired"),
        ({"exp": NOW - 0.001}, "it has expired"),
        ({"exp": -1}, "it has expired"),
        ({"exp": str(NOW + 60)}, "claim 'exp' is not a number of seconds"),
        ({"exp": True}, "claim 'exp' is not a number of seconds"),
        ({"exp": float("nan")}, "claim 'exp' is not a number of seconds"),
        ({"exp": float("inf")}, "claim 'exp' is not a number of seconds"),
        ({"nbf": float("-inf")}, "claim 'nbf' is not a number of seconds"),
        ({"exp": [NOW + 60]}, "claim 'exp' is not a number of seconds"),
        ({"nbf": NOW + 0.001}, "it is not valid yet"),
        ({"iat": NOW + 0.001}, "it is not valid yet"),
        ({"nbf": None}, "claim 'nbf' is not a number of seconds"),
        ({"iat": "soon"}, "claim 'iat' is not a number of seconds"),
    ],
)
def test_times_are_verified_without_leeway(
    issuer: Issuer, claims: Mapping[str, object], reason: str
) -> None:
    assert issuer.verdict(issuer.token(**claims)) == Rejected(reason)


@pytest.mark.req("AUTH-2")
@pytest.mark.parametrize(
    ("claims", "until"),
    [
        ({"exp": NOW + 0.001}, NOW + 0.001),
        ({"nbf": NOW, "iat": NOW}, NOW + 60),
        pytest.param({"exp": 10**400}, 10**400, id="beyond-float"),
        # A claim that is not configured is not looked at, whatever it holds.
        ({"aud": "somebody else", "iss": "anybody"}, NOW + 60),
        ({"aud": 7, "sub": 7, "jti": 7}, NOW + 60),
    ],
)
def test_valid_token_is_accepted_until_it_expires(
    issuer: Issuer, claims: Mapping[str, object], until: float
) -> None:
    assert issuer.verdict(issuer.token(**claims)) == Authorized(until)


@pytest.mark.req("AUTH-2")
@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"iss": "me", "aud": "you"}, None),
        ({"iss": "me", "aud": ["they", "you"]}, None),
        ({"iss": "Me", "aud": "you"}, "the issuer is not the configured one"),
        ({"iss": "me", "aud": "yours"}, "the audience is not the configured one"),
        ({"iss": "me", "aud": ["you", 7]}, "the audience is not the configured one"),
        ({"iss": ["me"], "aud": "you"}, "the issuer is not the configured one"),
        ({"aud": "you"}, "claim 'iss' is missing"),
        ({"iss": "me"}, "claim 'aud' is missing"),
    ],
)
def test_issuer_and_audience_are_those_configured(
    issuer: Issuer, claims: Mapping[str, object], reason: str | None
) -> None:
    expected = Authorized(NOW + 60) if reason is None else Rejected(reason)
    assert issuer.verdict(issuer.token(**claims), issuer="me", audience="you") == expected


@pytest.mark.req("AUTH-2", "HTTP-5")
@pytest.mark.parametrize(
    "claims",
    [
        b"",
        b"[]",
        b"\xff",
        pytest.param(b"[" * 100_000, id="deep list"),
        pytest.param(b'{"x":' * 100_000, id="deep object"),
    ],
)
def test_signed_nonsense_is_rejected(issuer: Issuer, claims: bytes) -> None:
    token = sign(issuer.auth.algorithm, issuer.key, claims)
    assert issuer.verdict(token) == Rejected("it is not a JWT")


@pytest.mark.req("AUTH-1")
@pytest.mark.parametrize(
    ("authorization", "reason"),
    [
        ((), "there is no token"),
        (("Bearer {}", "Bearer {}"), "there is more than one token"),
        (("{}",), "the scheme is not Bearer"),
        (("Basic {}",), "the scheme is not Bearer"),
        (("Bearer",), "the scheme is not Bearer"),
        (("Bearer ",), "the scheme is not Bearer"),
        (("Bearer {} {}",), "it is not a JWT"),
    ],
)
def test_header_carries_one_bearer_token(
    issuer: Issuer, authorization: tuple[str, ...], reason: str
) -> None:
    token = issuer.token()
    headers = [text.replace("{}", token) for text in authorization]
    assert check(issuer.auth, *headers) == Rejected(reason)


@pytest.mark.req("AUTH-1")
@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer "])
def test_scheme_is_written_in_any_case(issuer: Issuer, scheme: str) -> None:
    assert check(issuer.auth, f"{scheme} {issuer.token()}") == Authorized(NOW + 60)


@pytest.mark.req("AUTH-2", "HTTP-5")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.text(max_size=40) | st.from_regex(r"[\w-]{0,40}\.[\w-]{0,40}\.[\w-]{0,40}"))
@example(encoded(b"[" * 40_000) + ".e30.e30")
@example(encoded({"alg": ["ES256"]}) + ".e30.e30")
@example(encoded({"alg": "ES256"}) + ".e30.e30")
@example("..")
def test_anything_else_is_rejected_without_an_exception(issuer: Issuer, token: str) -> None:
    assert isinstance(issuer.verdict(token), Rejected)
