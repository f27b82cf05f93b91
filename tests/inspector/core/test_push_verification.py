"""The verdict on a notification, from its token and its body alone."""

import hashlib
import json
from base64 import urlsafe_b64encode
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from inspector.core.entries import PushVerdict
from inspector.core.push_verification import (
    MAX_REGISTRATIONS,
    MAX_UNVERIFIED_BYTES,
    Registration,
    Registrations,
    Signatures,
    bearer_jwt,
)

BODY = json.dumps({"id": "t", "kind": "task", "status": {"state": "working"}}).encode()


def registrations(
    *tokens: str, task_id: str | None = "t", is_for_any: bool = False
) -> Registrations:
    made = Registrations()
    for token in tokens:
        made.add(Registration("http://me/", token, lambda _: None, is_for_any, task_id))
    return made


@pytest.mark.req("PUSHRX-1")
@pytest.mark.parametrize(
    ("token", "body", "verdict"),
    [
        ("right", BODY, PushVerdict.ACCEPTED),
        ("other", BODY, PushVerdict.ACCEPTED),
        ("wrong", BODY, PushVerdict.FORGED),
        ("", BODY, PushVerdict.FORGED),
        ("wröng\udc80", BODY, PushVerdict.FORGED),
        (None, BODY, PushVerdict.FORGED),
        (None, BODY.replace(b'"t"', b'"x"'), PushVerdict.UNKNOWN_TASK),
        ("right", BODY.replace(b'"t"', b'"x"'), PushVerdict.UNKNOWN_TASK),
        ("right", b"nonsense", PushVerdict.BAD_BODY),
        ("right", b"[]", PushVerdict.BAD_BODY),
        ("right", b'{"status": {"state": "working"}}', PushVerdict.BAD_BODY),
        ("right", b"\xff", PushVerdict.BAD_BODY),
        ("wrong", b"nonsense", PushVerdict.FORGED),
    ],
)
def test_the_verdict(token: str | None, body: bytes, verdict: PushVerdict) -> None:
    verification = registrations("right", "other").verify(token, body)
    assert verification.verdict is verdict
    assert bool(verification.reason) is (verdict is not PushVerdict.ACCEPTED)


def test_a_new_token_is_for_any_task() -> None:
    fresh = registrations("right", task_id=None)
    assert fresh.verify("right", BODY).verdict is PushVerdict.ACCEPTED
    assert fresh.verify(None, BODY).verdict is PushVerdict.UNKNOWN_TASK


def test_where_any_task_is_expected_a_token_must_come() -> None:
    listening = registrations("right", task_id="another", is_for_any=True)
    assert listening.verify("right", BODY).verdict is PushVerdict.ACCEPTED
    assert listening.verify(None, BODY).verdict is PushVerdict.FORGED


@pytest.mark.req("PUSHRX-1")
@pytest.mark.parametrize(
    "body",
    [
        {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}},
        {"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_WORKING"}}},
        {"artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a", "parts": []}}},
        {"message": {"taskId": "t", "messageId": "m", "parts": []}},
        {"kind": "status-update", "taskId": "t", "status": {"state": "working"}},
    ],
)
def test_both_versions_are_read(body: object) -> None:
    verification = registrations("right").verify("right", json.dumps(body).encode())
    assert verification.verdict is PushVerdict.ACCEPTED


@pytest.mark.req("PUSHRX-3")
def test_megabytes_without_a_token_are_not_read() -> None:
    large = BODY + b" " * MAX_UNVERIFIED_BYTES + b"!"
    assert registrations("right").verify(None, large).verdict is PushVerdict.FORGED
    assert registrations("right").verify("right", large).verdict is PushVerdict.BAD_BODY


def test_the_oldest_is_forgotten_at_last() -> None:
    many = registrations(*(f"token-{number}" for number in range(MAX_REGISTRATIONS + 1)))
    assert many.verify("token-0", BODY).verdict is PushVerdict.FORGED
    assert many.verify("token-1", BODY).verdict is PushVerdict.ACCEPTED


def test_a_token_is_not_shown() -> None:
    assert "right" not in repr(Registration("http://me/", "right", lambda _: None))


SIGNED_BODY = b'{"id": "t"}'
RSA = rsa.generate_private_key(65537, 2048)
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()
JWKS: dict[str, Any] = {
    "keys": [
        {**json.loads(RSAAlgorithm.to_jwk(RSA.public_key())), "kid": "rsa", "alg": "RS256"},
        {**json.loads(ECAlgorithm.to_jwk(EC.public_key())), "kid": "ec"},
        {**json.loads(OKPAlgorithm.to_jwk(ED.public_key())), "kid": "ed"},
        {"kty": "oct", "kid": "shared", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA"},
    ]
}


class Agent:
    """Publishes `document` and counts how often it is asked for."""

    def __init__(self, document: bytes | None = None) -> None:
        self.document = json.dumps(JWKS).encode() if document is None else document
        self.seconds = 1_800_000_000.0
        self.asked = 0
        self.signatures = Signatures(self._fetch, lambda: self.seconds)

    async def _fetch(self) -> bytes | None:
        self.asked += 1
        return self.document or None


def sign(key: Any = RSA, algorithm: str = "RS256", kid: str | None = "rsa", **claims: Any) -> str:
    headers = {"kid": kid} if kid else {}
    return jwt.encode({"sub": "agent", **claims}, key, algorithm, headers=headers)


@pytest.mark.anyio
@pytest.mark.req("PUSHRX-1")
@pytest.mark.parametrize(
    "token",
    [
        sign(),
        sign(EC, "ES256", "ec"),
        sign(ED, "EdDSA", "ed"),
        sign(aud="anybody", iat=1_799_999_800, nbf=1, exp=10**400),
    ],
    ids=["rsa", "ec", "ed", "claims"],
)
async def test_a_right_signature_has_no_problem(token: str) -> None:
    assert await Agent().signatures.problem_of(token, SIGNED_BODY) == ""


@pytest.mark.anyio
@pytest.mark.req("PUSHRX-1")
@pytest.mark.parametrize(
    ("token", "problem"),
    [
        (sign(rsa.generate_private_key(65537, 2048)), "Signature verification failed"),
        (sign(kid="other"), "no key of the agent has the id 'other'"),
        (sign(kid=None), "no key of the agent has the id None"),
        (sign(exp=1_799_999_000), "out of its time by exp"),
        (sign(iat=1_799_999_000), "out of its time by iat"),
        (sign(iat=1_800_000_100), "out of its time by iat"),
        (sign(nbf=1_800_000_100), "out of its time by nbf"),
        (sign(exp="soon"), "exp is not a time"),
        (sign(iat=float("nan")), "out of its time by iat"),
        (sign(exp=-(10**400)), "out of its time by exp"),
        (sign(request_body_sha256="\ud800"), "signs another body"),
        (sign(request_body_sha256="0"), "signs another body"),
        (sign(request_body_sha256=1), "signs another body"),
        (sign("c" * 40, "HS256", "shared"), "not valid"),
        (sign(EC, "ES256", "rsa"), "not valid"),
        ("a.b.c", "malformed"),
        (f"{urlsafe_b64encode(b'[' * 9000).decode()}.b.c", "malformed"),
        (jwt.encode({}, "", "none", headers={"kid": "rsa"}), "not valid"),
    ],
    ids=lambda value: value if " " in value else "token",
)
async def test_a_wrong_one_is_told(token: str, problem: str) -> None:
    assert problem in (await Agent().signatures.problem_of(token, SIGNED_BODY) or "")


@pytest.mark.anyio
@pytest.mark.req("PUSHRX-1")
async def test_the_body_is_signed() -> None:
    token = sign(request_body_sha256=hashlib.sha256(SIGNED_BODY).hexdigest())
    assert await Agent().signatures.problem_of(token, SIGNED_BODY) == ""
    assert (
        await Agent().signatures.problem_of(token, SIGNED_BODY + b" ")
        == "the JWT signs another body"
    )


@pytest.mark.anyio
@pytest.mark.req("PUSHRX-1")
async def test_keys_are_fetched_once_and_for_an_unknown_id_once_a_minute() -> None:
    agent = Agent()
    for _ in range(3):
        await agent.signatures.problem_of(sign(), SIGNED_BODY)
        await agent.signatures.problem_of(sign(kid="other"), SIGNED_BODY)
    assert agent.asked == 1
    agent.seconds += 60
    await agent.signatures.problem_of(sign(), SIGNED_BODY)
    assert agent.asked == 1
    await agent.signatures.problem_of(sign(kid="other"), SIGNED_BODY)
    assert agent.asked == 2


@pytest.mark.anyio
@pytest.mark.req("PUSHRX-1")
@pytest.mark.parametrize("document", [b"", b"nonsense", b"[]", b'{"keys": []}'])
async def test_without_keys_nothing_can_be_said(document: bytes) -> None:
    assert await Agent(document).signatures.problem_of(sign(), SIGNED_BODY) is None


@pytest.mark.anyio
@pytest.mark.req("PUSHRX-1")
@pytest.mark.parametrize(
    ("authorization", "token"),
    [
        (None, None),
        ("Bearer a.b.c", "a.b.c"),
        ("bearer  a.b.c ", "a.b.c"),
        ("Basic a.b.c", None),
        ("Bearer opaque", None),
    ],
)
async def test_a_jwt_has_three_parts(authorization: str | None, token: str | None) -> None:
    assert bearer_jwt(authorization) == token
