"""JSON-RPC 2.0: envelopes in the key order of a2a-sdk 0.3.26, and A2A's errors in its words."""

from collections.abc import Mapping
from enum import IntEnum

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


def read_envelope(body: bytes) -> tuple[RpcId, dict[str, Json]] | BadCall:
    """A request's id and the whole of it, judged by JSON-RPC 2.0 (§4) alone.

    A request without an id is a notification (§4.1).
    """
    try:
        payload = parse_json(body)
    except ValueError:
        return BadCall(None, parse_error())
    if not isinstance(payload, dict) or not _has_valid_id(payload):
        return BadCall(None, invalid_request(None))
    rpc_id = _id_of(payload)
    if payload.get("jsonrpc") != VERSION or not isinstance(payload.get("method"), str):
        return BadCall(rpc_id, invalid_request(None))
    return rpc_id, payload


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


def parse_error() -> RpcError:
    return RpcError(Code.PARSE_ERROR, "Invalid JSON payload")


def invalid_request(problems: Json) -> RpcError:
    return RpcError(Code.INVALID_REQUEST, "Request payload validation error", problems)


def too_large() -> RpcError:
    return RpcError(Code.INVALID_REQUEST, "Payload too large")


def method_not_found() -> RpcError:
    return RpcError(Code.METHOD_NOT_FOUND, "Method not found")


def invalid_params(problems: Json) -> RpcError:
    return RpcError(Code.INVALID_PARAMS, "Invalid parameters", problems)


def internal_error() -> RpcError:
    return RpcError(Code.INTERNAL, "Internal error")


def no_extended_card() -> RpcError:
    return RpcError(Code.INTERNAL, "Authenticated card not supported")


def extended_card_not_configured() -> RpcError:
    """What the A2A specification has for it; a2a-sdk 0.3.26 never sends it."""
    return RpcError(Code.NO_EXTENDED_CARD, "Authenticated Extended Card is not configured")


def unauthorized() -> RpcError:
    return RpcError(Code.UNAUTHORIZED, "Unauthorized")


def shutting_down() -> RpcError:
    return RpcError(Code.INTERNAL, "The server is shutting down")


def task_not_found() -> RpcError:
    return RpcError(Code.TASK_NOT_FOUND, "Task not found")


def unknown_task(task_id: str) -> RpcError:
    """A message names a task that is not there, or not in its context (TURN-2)."""
    return RpcError(Code.TASK_NOT_FOUND, f"Task {task_id} was specified but does not exist")


def not_cancelable(state: TaskState) -> RpcError:
    return RpcError(
        Code.TASK_NOT_CANCELABLE, f"Task cannot be canceled - current state: TaskState.{state}"
    )


def is_terminal(task_id: str, state: TaskState) -> RpcError:
    """A terminal task has no events to subscribe to."""
    spelling = state.value.replace("_", "-")
    return RpcError(Code.INVALID_PARAMS, f"Task {task_id} is in terminal state: {spelling}")


def push_not_supported() -> RpcError:
    """What the A2A specification has for it; a2a-sdk 0.3.26 never sends it."""
    return RpcError(Code.PUSH_NOT_SUPPORTED, "Push Notification is not supported")


def push_not_offered() -> RpcError:
    return RpcError(Code.UNSUPPORTED_OPERATION, "Push notifications are not supported by the agent")


def unsupported() -> RpcError:
    return RpcError(Code.UNSUPPORTED_OPERATION, "This operation is not supported")


def push_refused(reason: str) -> RpcError:
    return RpcError(Code.INVALID_PARAMS, f"Invalid push notification configuration: {reason}")


def push_config_not_found() -> RpcError:
    return RpcError(Code.INTERNAL, "Push notification config not found")


def content_type_not_supported() -> RpcError:
    return RpcError(Code.CONTENT_TYPE_NOT_SUPPORTED, "Incompatible content types")
