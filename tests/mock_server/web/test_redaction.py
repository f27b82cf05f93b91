"""Secrets are hidden in JSON, in what was meant to be JSON, and in what was cut."""

import json
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_server.web.journal import KEPT_BYTES_EACH
from mock_server.web.redaction import HIDDEN, hide_in_document, hide_in_headers, is_secret

SECRET = "s3cret"


@pytest.mark.req("ADMIN-2")
@pytest.mark.parametrize(
    "name",
    [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key",
        "x-auth-token", "x-a2a-notification-token", "X-API-Key",
    ],
)  # fmt: skip
def test_header_is_hidden(name: str) -> None:
    assert hide_in_headers({name: SECRET, "accept": "*/*"}) == {name: HIDDEN, "accept": "*/*"}


@pytest.mark.req("ADMIN-2")
@pytest.mark.parametrize(
    "key",
    ["token", "access_token", "accessToken", "refresh_token", "client_secret", "clientSecret",
     "credentials", "password", "api_key", "apiKey", "X-Api-Key", "secret"],
)  # fmt: skip
def test_key_is_hidden_at_any_depth(key: str) -> None:
    assert hide_in_document(json.dumps([{"a": {key: SECRET}}]).encode()) == [{"a": {key: HIDDEN}}]


@pytest.mark.parametrize(
    "name", ["pageToken", "max_tokens", "tokens", "secretary", "a2a-context-id", "key", ""]
)
def test_other_name_is_shown(name: str) -> None:
    assert not is_secret(name)


CONFIG = '{"pushNotificationConfig": {"url": "http://x/", "token": "s3cret", "id": "1"}}'


@pytest.mark.req("ADMIN-2")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(CONFIG[:-1], id="without its end"),
        pytest.param(CONFIG[: CONFIG.index("ret") + 3], id="cut in the secret"),
        pytest.param(CONFIG + "}", id="with another end"),
        pytest.param(CONFIG.replace('": "s', '" "s'), id="without a colon"),
        pytest.param(CONFIG.replace("1", '1" "'), id="with another quote"),
        pytest.param(CONFIG.replace('{"p', '{"x": "y"z", "p'), id="with a quote before"),
        pytest.param("{" + CONFIG.replace('"', "'"), id="with other quotes"),
        pytest.param("{" + CONFIG.replace('"', ""), id="without quotes"),
        pytest.param("{" + CONFIG.replace("token", "tok\\u0065n"), id="with an escaped name"),
        pytest.param("{" + json.dumps({"text": CONFIG}), id="in JSON within what is not"),
        pytest.param("{" + json.dumps({"t": json.dumps({"t": CONFIG})}), id="twice within"),
        pytest.param(json.dumps({"text": CONFIG}), id="in JSON within JSON"),
        pytest.param(json.dumps({"text": " " + CONFIG[:-1]}), id="in a part of it within JSON"),
        pytest.param('{"credentials": {"user": ["s3cret"]}, "a": ', id="in an object"),
        pytest.param('{"token": ["x", "s3cret"', id="in a list"),
        pytest.param('{"token": "a \\" s3cret", ', id="after an escaped quote"),
        pytest.param('{"token": s3cret, ', id="bare"),
        pytest.param("grant_type=x&client_secret=s3cret&scope=y", id="in a form"),
        pytest.param('{"text": "a\\ntoken=s3cret', id="in a line of a text"),
        pytest.param("POST / HTTP/1.1\r\nAuthorization: Bearer s3cret\r\n", id="in a header"),
        pytest.param('{"url": "https://x/?a=b&access_token=s3cret"}', id="in a URL"),
        pytest.param('{"url": "https://joe:s3cret@x/"}', id="in a URL as a password"),
    ],
)
def test_secret_is_hidden_where_it_stands(body: str) -> None:
    shown = json.dumps(hide_in_document(body.encode()))
    assert SECRET not in shown
    assert HIDDEN in shown
    utf_16 = json.dumps(hide_in_document(body.encode("utf-16")), ensure_ascii=False)
    assert SECRET not in utf_16


@pytest.mark.parametrize(
    "text",
    ["{", "{\ufffd", '{"max_tokens": "5', "the token is blue", '{"required": ["token"]', "\\u0041"],
)
def test_text_without_secrets_is_shown_as_it_is(text: str) -> None:
    assert hide_in_document(text.encode()) == text


def test_rest_of_a_body_is_shown() -> None:
    expected = CONFIG.replace(SECRET, HIDDEN)
    assert hide_in_document(CONFIG[:-1].encode()) == expected[:-1]


KEYS = st.sampled_from(["token", "client_secret", "access_token", "X-Api-Key"])
OTHERS = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@pytest.mark.req("ADMIN-2")
@given(KEYS, OTHERS, OTHERS, st.booleans(), st.data())
def test_body_that_is_cut_anywhere_shows_no_secret(
    key: str, before: object, after: object, is_ascii: bool, data: st.DataObject
) -> None:
    body = json.dumps([before, {"a": before, key: 'q"\\S3CRET', "b": after}], ensure_ascii=is_ascii)
    cut = body.encode(errors="replace")[: data.draw(st.integers(0, len(body)))]
    assert "S3CRET" not in json.dumps(hide_in_document(cut))


@pytest.mark.parametrize(
    "piece",
    ["\\", '"', "\\u0041", "token", "token ", '"token":', '\\"', "token=", "://", "a:", "{"],
)
def test_no_body_takes_long(piece: str) -> None:
    body = (piece * KEPT_BYTES_EACH)[:KEPT_BYTES_EACH].encode()
    began = perf_counter()
    hide_in_document(b"{!" + body)
    assert perf_counter() - began < 2
