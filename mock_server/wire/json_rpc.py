"""JSON-RPC 2.0 to the letter, where a2a-sdk 0.3.26 departs from it (server.md HTTP-5a, `a2a`)."""

from collections.abc import Mapping
from dataclasses import replace

from mock_server.dialogue.model import Json
from mock_server.tasks.json_text import parse_json
from mock_server.wire import rpc_errors
from mock_server.wire.envelopes import RpcId
from mock_server.wire.operations import BadCall, Call
from mock_server.wire.v03 import ECHOED_BYTES, decode_request

VERSION = "2.0"
# The models of the SDK ask for an id, of kinds that they know.
STANDS_FOR_ANY_ID = 0


def decode_strictly(body: bytes) -> Call | BadCall:
    """Read one request; a request without an id is a notification (JSON-RPC 2.0 §4, §4.1)."""
    try:
        payload = parse_json(body)
    except ValueError:
        return BadCall(None, rpc_errors.parse_error())
    if not isinstance(payload, dict) or not _has_valid_id(payload):
        return BadCall(None, rpc_errors.invalid_request(None))
    rpc_id = _id_of(payload)
    if payload.get("jsonrpc") != VERSION or not isinstance(payload.get("method"), str):
        return BadCall(rpc_id, rpc_errors.invalid_request(None))
    known = payload if isinstance(rpc_id, str | int) else {**payload, "id": STANDS_FOR_ANY_ID}
    decoded = decode_request(known, echoes=len(body) <= ECHOED_BYTES)
    return replace(decoded, id=rpc_id, is_notification="id" not in payload)


def _has_valid_id(payload: Mapping[str, Json]) -> bool:
    """A string, a number or null, if there is one."""
    rpc_id = payload.get("id")
    is_number = isinstance(rpc_id, int | float) and not isinstance(rpc_id, bool)
    return rpc_id is None or isinstance(rpc_id, str) or is_number


def _id_of(payload: Mapping[str, Json]) -> RpcId:
    match payload:
        case {"id": str() | int() | float() as rpc_id}:
            return rpc_id
        case _:
            return None
