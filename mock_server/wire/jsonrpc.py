"""JSON-RPC 2.0: envelopes in the key order of a2a-sdk 0.3.26, and A2A's errors in its words."""

import math
from enum import IntEnum
from functools import partial

from mock_server.dialogue.model import Json
from mock_server.errors import RpcError
from mock_server.tasks.json_text import encode_json, parse_json
from mock_server.tasks.task import TaskState
from mock_server.wire.operations import BadCall, RpcId

VERSION = "2.0"


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


def parse_request(body: bytes) -> Json:
    """The JSON in `body`; an id such as NaN is not taken for null.

    Raises:
        ValueError: as `parse_json` does.
    """
    payload = parse_json(body)
    if isinstance(payload, dict) and payload.get("id", "") is None:
        match parse_json(body, keeps_numbers=True):
            case {"id": rpc_id}:
                return {**payload, "id": rpc_id}
            case _:
                pass
    return payload


def read_envelope(body: bytes) -> tuple[RpcId, dict[str, Json]] | BadCall:
    """A request's id and the whole of it, judged by JSON-RPC 2.0 (§4) alone.

    An id that is missing counts as null: A2A has no notifications.
    """
    try:
        payload = parse_request(body)
    except ValueError:
        return BadCall(None, parse_error())
    if not isinstance(payload, dict):
        return BadCall(None, invalid_request(None))
    rpc_id = payload.get("id")
    if isinstance(rpc_id, bool) or not isinstance(rpc_id, str | int | float | None):
        return BadCall(None, invalid_request(None))
    if isinstance(rpc_id, float) and not math.isfinite(rpc_id):
        return BadCall(None, invalid_request(None))
    if payload.get("jsonrpc") != VERSION or not isinstance(payload.get("method"), str):
        return BadCall(rpc_id, invalid_request(None))
    return rpc_id, payload


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


class Code(IntEnum):
    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL = -32603
    UNAUTHORIZED = -32000
    TASK_NOT_FOUND = -32001
    TASK_NOT_CANCELABLE = -32002
    PUSH_NOT_SUPPORTED = -32003
    UNSUPPORTED_OPERATION = -32004
    CONTENT_TYPE_NOT_SUPPORTED = -32005
    NO_EXTENDED_CARD = -32007


class InFlight(RpcError):
    """The same message is being worked on; over HTTP this is a 409 (TURN-5)."""

    def __init__(self, context_id: str, message_id: str) -> None:
        data = {"reason": "message_in_flight", "contextId": context_id, "messageId": message_id}
        super().__init__(Code.INVALID_REQUEST, "The message is being processed", data)


parse_error = partial(RpcError, Code.PARSE_ERROR, "Invalid JSON payload")
too_large = partial(RpcError, Code.INVALID_REQUEST, "Payload too large")
method_not_found = partial(RpcError, Code.METHOD_NOT_FOUND, "Method not found")
internal_error = partial(RpcError, Code.INTERNAL, "Internal error")
shutting_down = partial(RpcError, Code.INTERNAL, "The server is shutting down")
unauthorized = partial(RpcError, Code.UNAUTHORIZED, "Unauthorized")
task_not_found = partial(RpcError, Code.TASK_NOT_FOUND, "Task not found")
unsupported = partial(RpcError, Code.UNSUPPORTED_OPERATION, "This operation is not supported")
content_type_not_supported = partial(
    RpcError, Code.CONTENT_TYPE_NOT_SUPPORTED, "Incompatible content types"
)
no_extended_card = partial(RpcError, Code.INTERNAL, "Authenticated card not supported")
push_not_offered = partial(
    RpcError, Code.UNSUPPORTED_OPERATION, "Push notifications are not supported by the agent"
)
push_config_not_found = partial(RpcError, Code.INTERNAL, "Push notification config not found")
# These two are the A2A specification's; a2a-sdk 0.3.26 never sends them.
extended_card_not_configured = partial(
    RpcError, Code.NO_EXTENDED_CARD, "Authenticated Extended Card is not configured"
)
push_not_supported = partial(
    RpcError, Code.PUSH_NOT_SUPPORTED, "Push Notification is not supported"
)


def invalid_request(problems: Json) -> RpcError:
    return RpcError(Code.INVALID_REQUEST, "Request payload validation error", problems)


def refused(reason: str) -> RpcError:
    """The request is not let in, whatever it asks for."""
    return RpcError(Code.INVALID_REQUEST, reason)


def invalid_params(problems: Json) -> RpcError:
    return RpcError(Code.INVALID_PARAMS, "Invalid parameters", problems)


def unknown_task(task_id: str) -> RpcError:
    """A message names a task that is unknown, or of another context (TURN-2)."""
    return RpcError(Code.TASK_NOT_FOUND, f"Task {task_id} was specified but does not exist")


def not_cancelable(state: TaskState) -> RpcError:
    text = f"Task cannot be canceled - current state: TaskState.{state}"
    return RpcError(Code.TASK_NOT_CANCELABLE, text)


def is_terminal(task_id: str, state: TaskState) -> RpcError:
    """A terminal task has no events to subscribe to."""
    spelling = state.value.replace("_", "-")
    return RpcError(Code.INVALID_PARAMS, f"Task {task_id} is in terminal state: {spelling}")


def push_refused(reason: str) -> RpcError:
    return RpcError(Code.INVALID_PARAMS, f"Invalid push notification configuration: {reason}")
