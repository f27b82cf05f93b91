"""Envelopes: what we encode we read back, and anything can be read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.jsonrpc import encode_request, read_reply, read_request

texts = st.text(st.characters(exclude_categories=("Cs",)))


@given(texts, texts, st.dictionaries(texts, texts))
def test_a_request_is_read_back(id_: str, method: str, params: dict[str, Any]) -> None:
    request = read_request(encode_request(id_, method, params))
    assert (request.id, request.method, request.params) == (id_, method, params)


@given(st.binary())
def test_any_bytes_are_a_request_with_what_they_have(raw: bytes) -> None:
    assert isinstance(read_request(raw).params, dict)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ('{"code": -32001, "message": "m", "data": [1]}', -32001, "m"),
        ('{"code": "x"}', None, ""),
        ('{"code": true}', None, ""),
        ("null", None, ""),
    ],
)
def test_errors_are_read_leniently(error: str, code: int | None, message: str) -> None:
    found = read_reply(f'{{"error": {error}}}'.encode()).error
    assert found is not None
    assert (found.code, found.message) == (code, message)


def test_a_result_of_null_is_a_result() -> None:
    reply = read_reply(b'{"jsonrpc": "2.0", "id": 1, "result": null}')
    assert (reply.problem, reply.error, reply.result) == ("", None, None)
