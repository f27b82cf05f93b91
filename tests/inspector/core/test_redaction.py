"""A secret is found in any dress; innocent text stays."""

import json
import time

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.redaction import Redactor
from inspector.wire.json_values import Json
from inspector.wire.tokens import MASK
from inspector.wire.urls import secrets_in_url

SECRET = 's3cret"token'
REDACTOR = Redactor((("X-Own", "literal"),))
REDACTOR.learn(f"Key {SECRET}")


@pytest.mark.parametrize(
    "name", ["Authorization", "COOKIE", "Set-Cookie", "X-API-Key", "x-own", "Proxy-Authorization"]
)
@pytest.mark.req("WIRE-1", "CONN-3")
def test_headers_that_carry_secrets_are_masked(name: str) -> None:
    assert REDACTOR.headers(((name, "anything"),)) == ((name, MASK),)


def test_other_headers_stay_but_for_the_secret() -> None:
    headers = (("Content-Type", "text/plain"), ("X-Echo", f"got {SECRET}"))
    assert REDACTOR.headers(headers) == (("Content-Type", "text/plain"), ("X-Echo", f"got {MASK}"))


@given(st.text(), st.text())
def test_the_secret_is_masked_wherever_it_stands(before: str, after: str) -> None:
    text = REDACTOR.text(before + SECRET + after)
    assert SECRET not in text
    assert MASK in text


def test_json_spells_it_with_escapes() -> None:
    assert REDACTOR.raw(rb'{"a": "s3cret\"token"}') == b'{"a": "***"}'


def spell(text: str, escaped: set[int], depth: int, letters: str) -> bytes:
    """`text` as JSON within `depth` further JSON, the characters at `escaped` as code points."""
    spelled = "".join(
        "".join(f"\\u{ord(unit):{letters}}" for unit in units_of(character))
        if place in escaped
        else json.dumps(character, ensure_ascii=False)[1:-1]
        for place, character in enumerate(text)
    )
    for _ in range(depth):
        spelled = json.dumps(spelled)[1:-1]
    return spelled.encode()


def units_of(character: str) -> list[str]:
    raw = character.encode("utf-16-be")
    return [chr(int.from_bytes(raw[at : at + 2])) for at in range(0, len(raw), 2)]


@pytest.mark.req("CONN-3")
@given(
    st.text(
        st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('\\"/tu'),
        min_size=8,
        max_size=12,
    ).filter(lambda text: text.strip() == text),
    st.sets(st.integers(0, 11)),
    st.integers(0, 2),
    st.sampled_from(["04x", "04X"]),
    st.sampled_from([b"", b"\\n", b"\\\\", b"x"]),
)
def test_no_spelling_of_json_hides_a_secret(
    secret: str, escaped: set[int], depth: int, letters: str, before: bytes
) -> None:
    redactor = Redactor()
    redactor.learn(secret)
    spelled = spell(secret, escaped, depth, letters)
    masked = redactor.raw(b'{"a": "' + before + spelled + b'."}')
    assert spelled not in masked
    assert MASK in json.loads(masked)["a"]


@pytest.mark.req("CONN-3")
def test_a_body_of_backslashes_is_masked_in_time() -> None:
    redactor = Redactor()
    redactor.learn("\\secret\\value")
    raw = b"\\" * 1_000_000 + b"\\secret" + b"\\" * 1_000_000
    started = time.perf_counter()
    redactor.raw(raw)
    assert time.perf_counter() - started < 5


@pytest.mark.req("CONN-3")
def test_a_literal_value_is_masked_in_its_header_only() -> None:
    redactor = Redactor((("X-Tenant", "tenant-42"), ("X-Trace", "result")))
    raw = b'{"result": {"contextId": "tenant-42"}}'
    assert redactor.raw(raw) == raw
    assert redactor.text("tenant-42") == "tenant-42"
    assert redactor.headers((("X-Tenant", "tenant-42"),)) == (("X-Tenant", MASK),)


@pytest.mark.req("CONN-3")
def test_a_short_secret_is_masked_as_a_whole_value_only() -> None:
    redactor = Redactor()
    redactor.learn("swan", ",")
    raw = b'{"swan": {"a": "swan", "b": ["swan"], "c": "the swan", "d": "a \\"swan\\""}}'
    assert redactor.raw(raw) == (
        b'{"swan": {"a": "***", "b": ["***"], "c": "the swan", "d": "a \\"swan\\""}}'
    )
    assert redactor.text("swan") == MASK
    assert redactor.text("the swan") == "the swan"


@pytest.mark.req("CONN-3")
@pytest.mark.parametrize("secret", ["completed", "TASK_STATE", "contextId", "message/send", "task"])
def test_a_word_of_the_protocol_is_no_secret(secret: str) -> None:
    redactor = Redactor((("X-Api-Key", secret),))
    raw = json.dumps({"kind": "task", "contextId": "c", "status": {"state": "completed"}}).encode()
    assert redactor.raw(raw) == raw
    assert redactor.headers((("X-Api-Key", secret),)) == (("X-Api-Key", MASK),)


@pytest.mark.req("CONN-3")
@given(
    st.from_regex(r"[0-9]{8,12}", fullmatch=True),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.sampled_from(["{}", "1{}", "{}5", "-{}.5", "{}e3", '"{}"', '"no {}."']),
)
def test_json_stays_json_where_a_secret_is_a_number(secret: str, value: Json, around: str) -> None:
    redactor = Redactor()
    redactor.learn(secret)
    raw = f'{{"a": {around.format(secret)}, "b": {json.dumps(value)}}}'
    masked = redactor.raw(raw.encode())
    assert secret.encode() not in masked
    assert MASK in json.loads(masked)["a"]


@pytest.mark.req("CONN-3")
def test_two_ids_that_are_secrets_keep_apart() -> None:
    redactor = Redactor()
    redactor.learn("tenant-42", "tenant-43")
    ids = [b"tenant-42", b"tenant-43", b"tenant-42"]
    masked = [json.loads(redactor.raw(b'{"contextId":"%b"}' % id))["contextId"] for id in ids]
    assert masked == ["***", "***~2", "***"]
    assert [redactor.original(id) for id in masked] == [id.decode() for id in ids]
    assert redactor.text("tenant-43") == "***~2"


@pytest.mark.req("CONN-3")
def test_the_id_behind_a_mask_is_known_where_it_was_seen() -> None:
    redactor = Redactor()
    redactor.learn("tenant-42")
    redactor.raw(b'{"contextId": "of-\\u0074enant-42"}')
    assert redactor.original("of-***") == "of-tenant-42"
    assert redactor.original("c-1") == "c-1"
    assert redactor.original("***") is None
    assert redactor.restored(b'{"contextId":"of-***","id":"***"}') == (
        b'{"contextId":"of-tenant-42","id":"***"}'
    )


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("http://host/?api_key=s&x=1", "http://host/?api_key=***&x=1"),
        ("http://host/a?x=1&Token=a%20b#f", "http://host/a?x=1&Token=***#f"),
        (
            "http://host/?access_token=s;client-secret=t",
            "http://host/?access_token=***;client-secret=***",
        ),
        ("http://host/?page=2", "http://host/?page=2"),
        ("localhost:5005?key=s", "localhost:5005?key=***"),
        ("http://me:p@ss@host/", "http://me:***@host/"),
    ],
)
@pytest.mark.req("CONN-3")
def test_a_secret_in_a_query_is_masked(url: str, masked: str) -> None:
    assert Redactor().url(url) == masked


def test_secrets_of_a_url_are_found_as_spelled_and_decoded() -> None:
    assert secrets_in_url("http://me:p@host/?token=a%20b&x=1") == ("p", "a%20b", "a b")


def test_a_password_in_a_url_is_masked() -> None:
    assert REDACTOR.url("http://me:pass@host:1/x?y") == "http://me:***@host:1/x?y"
    assert REDACTOR.url("http://host/") == "http://host/"


@pytest.mark.req("CONN-3")
def test_secrets_learnt_later_are_masked_from_then_on() -> None:
    redactor = Redactor()
    assert redactor.text("a-secret b-secret") == "a-secret b-secret"
    redactor.learn("a-secret")
    redactor.learn("Key b-secret")
    redactor.learn_headers((("X-New", "b-secret"),))
    assert redactor.text("a-secret b-secret") == f"{MASK} {MASK}"
    assert redactor.headers((("x-new", "anything"),)) == (("x-new", MASK),)


def test_a_masked_token_tells_when_it_expires() -> None:
    token = jwt.encode({"exp": 142}, "a secret of enough bytes for this algorithm", "HS256")
    redactor = Redactor(now=lambda: 100.0)
    headers = redactor.headers((("Authorization", f"Bearer {token}"),))
    assert headers == (("Authorization", f"{MASK} (JWT, expires in 42 s)"),)
