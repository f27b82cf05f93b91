"""JSON-RPC 2.0 to the letter."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mock_server.wire.operations import BadCall, Call, GetTask
from mock_server.wire.v0_3 import decode_strictly

pytestmark = pytest.mark.req("HTTP-5", "HTTP-5a")

GET = {"jsonrpc": "2.0", "method": "tasks/get", "params": {"id": "t"}}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.parametrize("rpc_id", ["", "r1", 0, -1, 1.5, None])
def test_id_is_echoed_as_it_came(rpc_id: object) -> None:
    call = decode_strictly(json.dumps({**GET, "id": rpc_id}).encode())
    assert call == Call(rpc_id, GetTask("t"), is_notification=False)  # pyright: ignore[reportArgumentType] -- the table holds ids only
    assert type(call.id) is type(rpc_id)


def test_request_without_an_id_is_a_notification() -> None:
    call = decode_strictly(json.dumps(GET).encode())
    assert call == Call(None, GetTask("t"), is_notification=True)


def test_problem_shows_what_was_sent_and_no_id_that_was_not() -> None:
    call = decode_strictly(b'{"jsonrpc":"2.0","id":"a","method":"tasks/get"}')
    assert isinstance(call, BadCall)
    assert "'id': 'a'" in repr(call.error.data)


@given(VALUES | st.fixed_dictionaries({}, optional=dict.fromkeys(("id", *GET), VALUES)))
@example([GET])
@example({**GET, "id": [1]})
@example({**GET, "id": float("inf")})
def test_anything_is_a_call_or_an_error(body: object) -> None:
    decoded = decode_strictly(json.dumps(body).encode())
    assert isinstance(decoded, Call | BadCall)
    if not isinstance(body, dict):
        assert isinstance(decoded, BadCall)
        assert (decoded.id, decoded.error.code) == (None, -32600)


@given(st.binary(max_size=20))
def test_bytes_that_are_not_json_are_a_parse_error(body: bytes) -> None:
    decoded = decode_strictly(body)
    assert isinstance(decoded, BadCall)
    assert decoded.error.code in {-32700, -32600}
