"""A card's signature is verified by the right key, and by nothing else."""

import base64
import json
import struct
from typing import Any

import jwt
import pytest
from a2a.utils._jcs import canonicalize
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from inspector.wire.json_values import Json
from inspector.wire.signatures import NotCanonical, Verdict, canonical, check_signatures, key_urls

SOURCE = "https://bank.test/.well-known/agent-card.json"
JKU = "https://bank.test/keys.json"
RSA = rsa.generate_private_key(65537, 2048)
P256 = ec.generate_private_key(ec.SECP256R1())
ED25519 = ed25519.Ed25519PrivateKey.generate()
CARD: dict[str, Any] = {"name": "Bänk", "version": "1", "skills": [], "n": 1.5}


def public(key: Any, **more: str) -> dict[str, Any]:
    if isinstance(key, rsa.RSAPrivateKey):
        return {**RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), **more}
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return {**ECAlgorithm.to_jwk(key.public_key(), as_dict=True), **more}
    return {**OKPAlgorithm.to_jwk(key.public_key(), as_dict=True), **more}


KEYS: dict[str, Any] = {
    "keys": [public(RSA, kid="r"), public(P256, kid="p"), public(ED25519, kid="e")]
}


def sign(card: dict[str, Any], key: Any, algorithm: str, **header: Any) -> dict[str, Any]:
    head = {"alg": algorithm, **header}
    token = jwt.api_jws.encode(canonical(card), key, algorithm, headers=head)
    protected, _, proof = token.split(".")
    return {**card, "signatures": [{"protected": protected, "signature": proof}]}


def verdict(card: Any, key_sets: Any = None) -> tuple[Verdict, str]:
    (found,) = check_signatures(card, SOURCE, {JKU: KEYS} if key_sets is None else key_sets)
    return found.verdict, found.why


@pytest.mark.parametrize(
    ("key", "algorithm", "kid"),
    [
        (RSA, "RS256", "r"),
        (RSA, "PS512", "r"),
        (P256, "ES256", "p"),
        (ED25519, "EdDSA", "e"),
    ],
)
@pytest.mark.req("CARDV-1")
def test_a_signature_is_verified(key: Any, algorithm: str, kid: str) -> None:
    card = sign(CARD, key, algorithm, jku=JKU, kid=kid)
    assert verdict(card) == (Verdict.VERIFIED, "")
    assert verdict({**card, "name": "Bank"})[0] is Verdict.INVALID
    (found,) = check_signatures(card, SOURCE, {JKU: KEYS})
    assert (found.algorithm, found.key_id, found.keys_url) == (algorithm, kid, JKU)


def test_without_a_key_id_every_fitting_key_is_tried() -> None:
    assert verdict(sign(CARD, P256, "ES256", jku=JKU))[0] is Verdict.VERIFIED


def test_empty_values_may_have_been_left_out_before_signing() -> None:
    signed = sign({"name": "Bänk", "version": "1", "n": 1.5}, P256, "ES256", jku=JKU, kid="p")
    assert verdict({**signed, "skills": [], "provider": {"url": ""}})[0] is Verdict.VERIFIED


def test_a_card_that_the_sdk_has_signed_is_verified() -> None:
    from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
    from a2a.utils.signing import create_agent_card_signer
    from google.protobuf.json_format import MessageToDict

    card = AgentCard(
        name="Bänk",
        description="a bank",
        version="1.0",
        capabilities=AgentCapabilities(streaming=True, push_notifications=False),
        supported_interfaces=[
            AgentInterface(
                url="https://bank.test", protocol_binding="JSONRPC", protocol_version="1.0"
            )
        ],
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="s", name="S", description="d", tags=["t"])],
    )
    header: Any = {"alg": "ES256", "kid": "p", "jku": JKU, "typ": "JOSE"}
    key = jwt.PyJWK(ECAlgorithm.to_jwk(P256, as_dict=True), "ES256")
    signed = create_agent_card_signer(key, header)(card)
    assert verdict(MessageToDict(signed))[0] is Verdict.VERIFIED


def protected(head: Any) -> str:
    raw = head if isinstance(head, bytes) else json.dumps(head).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ({"alg": "ES256"}, "it does not say where its keys are: --jwks FILE"),
        (
            {"alg": "ES256", "jku": "https://evil.test/keys"},
            "its keys are at another origin, https://evil.test/keys: --jwks FILE",
        ),
        (
            {"alg": "ES256", "jku": "https://bank.test/gone"},
            "its keys are unavailable from https://bank.test/gone: --jwks FILE",
        ),
        ({"alg": "HS256", "jku": JKU}, "'HS256' proves nothing here"),
        ({"alg": "none", "jku": JKU}, "'none' proves nothing here"),
        ({"jku": JKU}, "'no algorithm' proves nothing here"),
        (
            {"alg": "ES256", "jku": JKU, "crit": ["b64"]},
            "it demands extensions that are not known here",
        ),
        (
            {"alg": "ES256", "jku": JKU, "kid": "x"},
            "no key has the id 'x' and the algorithm ES256",
        ),
        ({"alg": "ES512", "jku": JKU}, "no key has the algorithm ES512"),
        ([], "its protected header cannot be read"),
        (b"\xff", "its protected header cannot be read"),
    ],
)
@pytest.mark.req("CARDV-1", "TUI-6")
def test_what_cannot_be_verified_says_why(head: Any, why: str) -> None:
    card = {**CARD, "signatures": [{"protected": protected(head), "signature": "AA"}]}
    assert verdict(card) == (Verdict.UNVERIFIED, why)


@pytest.mark.parametrize("proof", ["", "AA", "!!!", "A", 5, None])
def test_a_broken_signature_is_invalid(proof: Any) -> None:
    head = protected({"alg": "RS256", "jku": JKU, "kid": "r"})
    card = {**CARD, "signatures": [{"protected": head, "signature": proof}]}
    assert verdict(card)[0] is Verdict.INVALID


def test_a_file_of_keys_goes_before_what_the_card_says() -> None:
    card = sign(CARD, P256, "ES256", jku="https://evil.test/keys", kid="p")
    assert verdict(card, {"file:///keys.json": KEYS})[0] is Verdict.VERIFIED
    assert verdict(card, {"file:///keys.json": {"keys": []}})[0] is Verdict.UNVERIFIED


def test_a_key_kept_for_another_algorithm_verifies_nothing() -> None:
    card = sign(CARD, RSA, "RS256", jku=JKU)
    keys = {"keys": [public(RSA, alg="PS256"), 5, {"kty": "RSA"}, {"kty": "oct", "k": "AA"}]}
    assert verdict(card, {JKU: keys})[0] is Verdict.UNVERIFIED


def test_only_keys_of_the_cards_own_origin_are_fetched() -> None:
    heads = (JKU, "https://evil.test/k", "http://bank.test/k", JKU, "https://bank.test:443/b", 5)
    card: Any = {
        "signatures": [
            *({"protected": protected({"jku": jku})} for jku in heads),
            {"header": {"jku": JKU}},
        ]
    }
    assert key_urls(card, SOURCE) == (JKU, "https://bank.test:443/b")
    assert key_urls(card, "file:///card.json") == ()


def test_a_card_that_has_no_canonical_form_verifies_nothing() -> None:
    card = {**sign(CARD, P256, "ES256", jku=JKU), "n": 10**400}
    assert verdict(card)[0] is Verdict.INVALID


@pytest.mark.parametrize("card", [None, {}, {"signatures": {}}, {"signatures": []}])
def test_an_unsigned_card_has_nothing_to_verify(card: Any) -> None:
    assert check_signatures(card, SOURCE, {}) == ()


# RFC 8785 appendix B: doubles by their bits.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "text"), NUMBERS.items())
def test_numbers(bits: str, text: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(value) == text.encode()


def test_the_example_of_the_rfc() -> None:
    value = json.loads(
        r"""{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]}"""
    )
    assert canonical(value).decode() == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_names_are_sorted_as_utf_16() -> None:
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    order = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    value: Json = dict.fromkeys(names, 0)
    assert list(json.loads(canonical(value))) == order


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=10,
)


@given(JSON)
def test_another_implementation_writes_the_same(value: Json) -> None:
    assert canonical(value).decode() == canonicalize(value)


@given(JSON)
def test_what_is_written_reads_the_same(value: Json) -> None:
    assert json.loads(canonical(value), parse_int=float) == value


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 10**400, "\ud800", {"\ud800": 1}])
def test_what_has_no_canonical_form(value: Json) -> None:
    with pytest.raises(NotCanonical):
        canonical(value)


def test_a_long_integer_is_a_double() -> None:
    assert canonical(2**53 + 1) == b"9007199254740992"
