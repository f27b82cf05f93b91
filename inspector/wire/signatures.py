"""Signatures of a card, checked with fetched keys (A2A 0.3 §5.5.6, A2A 1.0 §8.4).

Each is a JWS whose payload, the card itself without `signatures`, is left out (RFC 7515,
appendix F) and is written canonically before it is signed.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import rfc8785

from inspector.wire.json_values import Json, list_at, object_at, text_at
from inspector.wire.tokens import decode_base64url, decode_part
from inspector.wire.urls import is_same_origin

if TYPE_CHECKING:
    from jwt import PyJWK

# Symmetric ones are left out: who can check such a signature can make it too.
ALGORITHMS = frozenset(
    ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
)
# Under this name a file of keys stands among those fetched.
FILE_SCHEME = "file:"
MOST_SIGNATURES = 16
MOST_KEYS = 32


_EXACT = 2**53


class NotCanonical(ValueError):
    """The value has no canonical form."""


class Verdict(StrEnum):
    VERIFIED = "verified"
    INVALID = "invalid"
    UNVERIFIED = "not verified"


@dataclass(frozen=True, slots=True)
class Signature:
    """`why` says what is missing or wrong; "" for one that is verified."""

    algorithm: str
    key_id: str
    keys_url: str
    verdict: Verdict
    why: str = ""


def key_urls(card: Json, source_url: str) -> tuple[str, ...]:
    """Where the card's signatures say their keys are, as far as that is the card's own origin."""
    urls = (text_at(_protected(one), "jku") for one in _signatures(card))
    return tuple(dict.fromkeys(url for url in urls if url and is_same_origin(url, source_url)))


def check_signatures(
    card: Json, source_url: str, key_sets: Mapping[str, Json]
) -> tuple[Signature, ...]:
    """Judge each signature of `card` by the keys in `key_sets`, which are by their URL."""
    signed = _signatures(card)
    payloads = tuple(_payloads(card)) if signed else ()
    return tuple(_check(one, source_url, key_sets, payloads) for one in signed)


def _signatures(card: Json) -> list[Json]:
    return list_at(card, "signatures")[:MOST_SIGNATURES]


def _protected(signature: Json) -> Json:
    return decode_part(text_at(signature, "protected") or "")


def _payloads(card: Json) -> Iterator[bytes]:
    """What may have been signed: the card as it is, or without its empty values (1.0 §8.4.1)."""
    signed: Json = {name: value for name, value in object_at(card).items() if name != "signatures"}
    for form in dict.fromkeys((_written(signed), _written(_without_empty(signed)))):
        if form is not None:
            yield base64.urlsafe_b64encode(form).rstrip(b"=")


def _written(value: Json) -> bytes | None:
    try:
        return canonical(value)
    except NotCanonical:
        return None


def canonical(value: Json) -> bytes:
    """Return `value` as RFC 8785 writes it.

    Raises:
        NotCanonical: a number beyond doubles, or half a surrogate pair.
    """
    try:
        return rfc8785.dumps(_with_doubles(value))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, OverflowError) as error:
        raise NotCanonical(str(error)) from error


def _with_doubles(value: Json) -> Json:
    """`value` with the doubles nearest to its long integers, which the library refuses."""
    match value:
        case dict():
            return {name: _with_doubles(one) for name, one in value.items()}
        case list():
            return [_with_doubles(one) for one in value]
        case int() if abs(value) >= _EXACT:
            return float(value)
        case _:
            return value


def _without_empty(value: Json) -> Json:
    """`value` without empty texts, lists and objects, and what becomes empty thereby."""
    if isinstance(value, dict):
        kept = {name: _without_empty(one) for name, one in value.items()}
        return {name: one for name, one in kept.items() if one not in (None, "", [], {})}
    if isinstance(value, list):
        return [one for one in map(_without_empty, value) if one not in (None, "", [], {})]
    return value


def _check(
    signature: Json, source_url: str, key_sets: Mapping[str, Json], payloads: Iterable[bytes]
) -> Signature:
    head = _protected(signature)
    algorithm, key_id = text_at(head, "alg") or "", text_at(head, "kid") or ""
    keys_url = text_at(head, "jku") or ""

    def judge(verdict: Verdict, why: str = "") -> Signature:
        return Signature(algorithm, key_id, keys_url, verdict, why)

    if not isinstance(head, dict):
        return judge(Verdict.UNVERIFIED, "its protected header cannot be read")
    if algorithm not in ALGORITHMS:
        return judge(Verdict.UNVERIFIED, f"{algorithm or 'no algorithm'!r} proves nothing here")
    if "crit" in head:
        return judge(Verdict.UNVERIFIED, "it demands extensions that are not known here")
    keys, why = _find_keys(keys_url, source_url, key_sets)
    if keys is None:
        return judge(Verdict.UNVERIFIED, why)
    fitting = _fitting(keys, algorithm, key_id)
    if not fitting:
        named = f"the id {key_id!r} and " if key_id else ""
        return judge(Verdict.UNVERIFIED, f"no key has {named}the algorithm {algorithm}")
    proof = decode_base64url(text_at(signature, "signature") or "") or b""
    message = (text_at(signature, "protected") or "").encode() + b"."
    if any(_verifies(key, algorithm, message + one, proof) for key in fitting for one in payloads):
        return judge(Verdict.VERIFIED)
    return judge(Verdict.INVALID, "the card was changed after signing, or another key signed it")


def _find_keys(keys_url: str, source_url: str, key_sets: Mapping[str, Json]) -> tuple[Json, str]:
    """The keys to check with; or None and why. A file given by the user comes first."""
    for url, keys in key_sets.items():
        if url.startswith(FILE_SCHEME):
            return keys, ""
    if not keys_url:
        return None, "it does not say where its keys are: --jwks FILE"
    if not is_same_origin(keys_url, source_url):
        return None, f"its keys are at another origin, {keys_url}: --jwks FILE"
    if keys_url not in key_sets:
        return None, f"its keys are unavailable from {keys_url}: --jwks FILE"
    return key_sets[keys_url], ""


def _fitting(keys: Json, algorithm: str, key_id: str) -> "list[PyJWK]":
    """The keys of a set (RFC 7517 §5) that can have made the signature."""
    from jwt import PyJWK, PyJWTError, get_algorithm_by_name

    found: list[PyJWK] = []
    for key in list_at(keys, "keys")[:MOST_KEYS]:
        if not isinstance(key, dict) or (key_id and key.get("kid", key_id) != key_id):
            continue
        if key.get("alg", algorithm) != algorithm:
            continue
        try:
            fitting = PyJWK({**key, "alg": algorithm}, algorithm)
            get_algorithm_by_name(algorithm).prepare_key(fitting.key)
            found.append(fitting)
        except (PyJWTError, ValueError, TypeError, AttributeError):
            # a key of another kind, or one that is broken, has not signed this
            continue
    return found


def _verifies(key: "PyJWK", algorithm: str, message: bytes, proof: bytes) -> bool:
    from jwt import get_algorithm_by_name

    return get_algorithm_by_name(algorithm).verify(message, key.key, proof)
