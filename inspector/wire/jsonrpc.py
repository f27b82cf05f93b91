"""JSON-RPC 2.0 envelopes: requests encoded, replies read whatever they are (A2A 0.3 §6.11)."""

from dataclasses import dataclass

from inspector.wire.tree import Json, at, encode_json, object_at, parse_json, text_at

PARSE_ERROR = -32700
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
TASK_NOT_FOUND = -32001
TASK_NOT_CANCELABLE = -32002
PUSH_NOT_SUPPORTED = -32003
UNSUPPORTED_OPERATION = -32004
CONTENT_TYPE_NOT_SUPPORTED = -32005

MESSAGE_SEND = "message/send"
MESSAGE_STREAM = "message/stream"
TASKS_GET = "tasks/get"
TASKS_CANCEL = "tasks/cancel"
TASKS_RESUBSCRIBE = "tasks/resubscribe"
PUSH_CONFIG_SET = "tasks/pushNotificationConfig/set"
PUSH_CONFIG_GET = "tasks/pushNotificationConfig/get"
PUSH_CONFIG_DELETE = "tasks/pushNotificationConfig/delete"


@dataclass(frozen=True, slots=True)
class RpcError:
    code: int | None
    message: str
    data: Json = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A body or event as JSON-RPC reads it.

    `problem` says why it is no JSON-RPC reply at all; otherwise `error` or `result` is there.
    """

    envelope: Json
    result: Json = None
    error: RpcError | None = None
    problem: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """Our own request, read back from its bytes; `id` is None where it has none, or no JSON."""

    id: Json
    method: str | None
    params: dict[str, Json]


def encode_request(id: str, method: str, params: dict[str, Json]) -> bytes:
    return encode_json({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def read_request(body: bytes) -> Request:
    """The request in `body`; what is missing is None, so that any bytes can be read."""
    envelope = parse_json(body).value
    return Request(at(envelope, "id"), text_at(envelope, "method"), object_at(envelope, "params"))


def read_reply(raw: bytes) -> Reply:
    """Read a reply leniently; never raises."""
    parsed = parse_json(raw)
    envelope = parsed.value
    if parsed.problem:
        return Reply(None, problem=parsed.problem)
    if not isinstance(envelope, dict):
        return Reply(envelope, problem="a JSON-RPC reply must be an object")
    if "error" in envelope:
        return Reply(envelope, error=_read_error(envelope["error"]), warning=parsed.warning)
    if "result" in envelope:
        return Reply(envelope, result=envelope["result"], warning=parsed.warning)
    return Reply(envelope, problem="neither `result` nor `error` in the reply")


def _read_error(error: Json) -> RpcError:
    code = at(error, "code")
    return RpcError(
        code=code if isinstance(code, int) and not isinstance(code, bool) else None,
        message=text_at(error, "message") or "",
        data=at(error, "data"),
    )
