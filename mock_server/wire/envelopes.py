"""JSON-RPC envelopes, in the key order of a2a-sdk 0.3.26 and without nulls."""

from typing import TypeAlias

from mock_server.dialogue.model import Json
from mock_server.errors import RpcError
from mock_server.tasks.json_text import encode_json

RpcId: TypeAlias = str | int | float | None


def readable_id(body: Json) -> RpcId:
    """The id to answer with; None where there is none that JSON-RPC allows.

    A boolean becomes the integer that pydantic reads it as.
    """
    match body:
        case {"id": bool() as flag}:
            return int(flag)
        case {"id": str() | int() as rpc_id}:
            return rpc_id
        case _:
            return None


def result_envelope(rpc_id: RpcId, result: bytes | None) -> bytes:
    """Put `result`, JSON already, into the reply to `rpc_id`; None is left out (HTTP-5a)."""
    if result is None:
        return encode_json({"id": rpc_id, "jsonrpc": "2.0"})
    return b'{"id":' + encode_json(rpc_id) + b',"jsonrpc":"2.0","result":' + result + b"}"


def error_envelope(rpc_id: RpcId, error: RpcError, *, writes_null_id: bool = False) -> bytes:
    """The reply for `error`; an id that could not be read is left out, or null (HTTP-5a)."""
    fault: dict[str, object] = {"code": int(error.code)}
    if error.data is not None:
        fault["data"] = error.data
    fault["message"] = error.message
    envelope: dict[str, object] = {"error": fault}
    if rpc_id is not None or writes_null_id:
        envelope["id"] = rpc_id
    return encode_json({**envelope, "jsonrpc": "2.0"})
