"""JSON-RPC 2.0 to the letter."""

import json
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mock_server.wire.operations import BadCall, Call, GetTask
from mock_server.wire.v0_3 import decode_call, decode_strictly

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
    assert call == Call(rpc_id, GetTask("t"))  # pyright: ignore[reportArgumentType] -- the table holds ids only
    assert type(call.id) is type(rpc_id)


def test_request_without_an_id_is_as_one_whose_id_is_null() -> None:
    assert decode_strictly(json.dumps(GET).encode()) == Call(None, GetTask("t"))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("decode", [decode_call, decode_strictly])
def test_id_that_json_cannot_write_is_an_invalid_request(
    decode: Callable[[bytes], Call | BadCall], number: str
) -> None:
    sent = json.dumps({"id": "…", **GET}).replace('"\\u2026"', number)
    decoded = decode(sent.encode())
    assert isinstance(decoded, BadCall)
    assert (decoded.id, decoded.error.code) == (None, -32600)


def send(parts: object, **configuration: object) -> dict[str, object]:
    message = {"kind": "message", "role": "user", "messageId": "m", "parts": parts}
    return {"message": message, "configuration": configuration}


TEXT = {"kind": "text", "text": "hello"}


@pytest.mark.parametrize("method", ["message/send", "message/stream"])
@pytest.mark.parametrize(
    ("params", "place"),
    [
        (send([]), ["params", "message", "parts"]),
        (send([{**TEXT, "kind": "video"}]), ["params", "message", "parts", 0, "TextPart", "kind"]),
        (send([TEXT], historyLength=-1), ["params", "configuration", "historyLength"]),
    ],
)
def test_message_is_judged_by_the_specification(
    method: str, params: dict[str, object], place: list[object]
) -> None:
    decoded = decode_strictly(json.dumps({**GET, "method": method, "params": params}).encode())
    assert isinstance(decoded, BadCall)
    assert decoded.error.code == -32602
    problems = decoded.error.data
    assert isinstance(problems, list)
    assert isinstance(problems[0], dict)
    assert problems[0]["loc"] == place


def test_negative_history_length_is_refused_where_a_task_is_read() -> None:
    params = {"id": "t", "historyLength": -1}
    decoded = decode_strictly(json.dumps({**GET, "params": params}).encode())
    assert isinstance(decoded, BadCall)
    assert decoded.error.code == -32602
    assert isinstance(decode_call(json.dumps({**GET, "id": 1, "params": params}).encode()), Call)


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
