"""A2A 0.3 by JSON-RPC: requests encoded, replies and notifications read and checked."""

import json
from dataclasses import dataclass

from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import (
    Json,
    at,
    encode_json,
    list_at,
    object_at,
    parse_json,
    text_at,
)
from inspector.wire.schema import type_name
from inspector.wire.states import is_resting, is_timestamp, parse_state, parse_timestamp
from inspector.wire.v0_3_types import SCHEMA

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


KINDS = ("task", "message", "status-update", "artifact-update")
PUSH_CONFIG = "push-config"


@dataclass(frozen=True, slots=True)
class ArtifactChunk:
    """One artifact, or a piece to append to it."""

    artifact_id: str
    name: str
    parts: tuple[Json, ...]
    is_append: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class Result:
    """`state` is the wire's spelling; `is_final` means nothing more will come of this exchange.

    `timestamp_ms` is the agent's own time of the status, since 1970 UTC.
    """

    kind: str
    task_id: str | None
    context_id: str | None
    state: str | None
    is_final: bool
    message_id: str | None
    parts: tuple[Json, ...]
    artifacts: tuple[ArtifactChunk, ...]
    timestamp_ms: float | None = None


def read_result(result: Json) -> Result:
    """Read `result` as what its `kind` says; an unknown kind as what its fields suggest."""
    match kind := _kind(result):
        case "task":
            return _from_status(result, kind, "id", _artifacts(result))
        case "status-update":
            return _from_status(result, kind, "taskId", ())
        case "artifact-update":
            return Result(
                kind=kind,
                task_id=text_at(result, "taskId"),
                context_id=text_at(result, "contextId"),
                state=None,
                is_final=False,
                message_id=None,
                parts=(),
                artifacts=(_chunk(result),),
            )
        case _:
            return Result(
                kind=kind,
                task_id=text_at(result, "taskId"),
                context_id=text_at(result, "contextId"),
                state=None,
                is_final=kind == "message",
                message_id=text_at(result, "messageId"),
                parts=tuple(list_at(result, "parts")),
                artifacts=(),
            )


def texts(parts: tuple[Json, ...]) -> tuple[str, ...]:
    """The text parts' texts."""
    return tuple(text for part in parts if (text := text_at(part, "text")) is not None)


def data_parts(parts: tuple[Json, ...]) -> tuple[Json, ...]:
    """The contents of the DataParts."""
    return tuple(part["data"] for part in parts if isinstance(part, dict) and "data" in part)


def _kind(result: Json) -> str:
    if (kind := text_at(result, "kind")) is not None:
        return kind
    if at(result, "artifact") is not None:
        return "artifact-update"
    if at(result, "status") is not None:
        return "task" if at(result, "id") is not None else "status-update"
    if at(result, "pushNotificationConfig") is not None:
        return PUSH_CONFIG
    return "message" if at(result, "parts") is not None else "unknown"


def _from_status(
    result: Json, kind: str, id_field: str, artifacts: tuple[ArtifactChunk, ...]
) -> Result:
    state = text_at(result, "status", "state")
    timestamp = text_at(result, "status", "timestamp")
    is_final = at(result, "final") is True
    if kind == "task":
        is_final = state is not None and is_resting(parse_state(state))
    return Result(
        kind=kind,
        task_id=text_at(result, id_field),
        context_id=text_at(result, "contextId"),
        state=state,
        is_final=is_final,
        message_id=text_at(result, "status", "message", "messageId"),
        parts=tuple(list_at(result, "status", "message", "parts")),
        artifacts=artifacts,
        timestamp_ms=None if timestamp is None else parse_timestamp(timestamp),
    )


def _artifacts(task: Json) -> tuple[ArtifactChunk, ...]:
    return tuple(
        ArtifactChunk(
            artifact_id=text_at(artifact, "artifactId") or "",
            name=text_at(artifact, "name") or "",
            parts=tuple(list_at(artifact, "parts")),
            is_append=False,
            is_last=True,
        )
        for artifact in list_at(task, "artifacts")
    )


def _chunk(update: Json) -> ArtifactChunk:
    artifact = at(update, "artifact")
    return ArtifactChunk(
        artifact_id=text_at(artifact, "artifactId") or "",
        name=text_at(artifact, "name") or "",
        parts=tuple(list_at(artifact, "parts")),
        is_append=at(update, "append") is True,
        is_last=at(update, "lastChunk") is True,
    )


PUSH = "A2A 0.3 §9.5"
STREAM_RESPONSE = "A2A 1.0 §4.3.3"

# The members of a StreamResponse, and the kind of A2A 0.3 that each is.
_WRAPPED_KINDS = {
    "task": "task",
    "statusUpdate": "status-update",
    "artifactUpdate": "artifact-update",
    "message": "message",
}


@dataclass(frozen=True, slots=True)
class Notification:
    """`problem` says why the body is no notification; otherwise `result` is there.

    `wrapper` is the member of a StreamResponse that held the result, "" for a bare one.
    """

    value: Json
    result: Result | None = None
    problem: str = ""
    wrapper: str = ""


def read_notification(body: bytes) -> Notification:
    """Read `body` leniently; never raises."""
    parsed = parse_json(body)
    if parsed.problem:
        return Notification(None, problem=parsed.problem)
    if not isinstance(parsed.value, dict):
        return Notification(parsed.value, problem="a notification must be a JSON object")
    wrapper, payload = _unwrap_push(parsed.value)
    result = read_result(payload)
    if result.task_id is None:
        return Notification(parsed.value, problem="the body names no task")
    return Notification(parsed.value, result, wrapper=wrapper)


def check_notification(notification: Notification) -> tuple[Finding, ...]:
    """What is wrong with a notification by itself."""
    if notification.problem:
        return (Finding(Severity.ERROR, PUSH, "$", notification.problem),)
    if not notification.wrapper:
        return SCHEMA.check(notification.value, "Task") + check_status(notification.value, "$")
    name = notification.wrapper
    text = f"a StreamResponse of A2A 1.0 with `{name}`; A2A 0.3 sends the bare task"
    return (Finding(Severity.HINT, STREAM_RESPONSE, f"$.{name}", text),)


def asks_for_notifications(params: Json) -> bool:
    """Say whether a message's params register a callback (A2A 0.3 §7.1.2)."""
    return at(params, "configuration", "pushNotificationConfig") is not None


def callback_of(params: Json) -> str:
    """What tells the callback that a message's params register from others; "" without one."""
    return callback_name(text_at(params, "configuration", "pushNotificationConfig", "url") or "")


def callback_name(url: str) -> str:
    """The last segment of a callback's path, which stays through tunnels and proxies."""
    return url.partition("?")[0].rpartition("/")[2]


def _unwrap_push(value: dict[str, Json]) -> tuple[str, Json]:
    """The payload, with its kind where a StreamResponse names that by its member alone."""
    wrapped = [
        (name, {"kind": kind, **payload})
        for name, kind in _WRAPPED_KINDS.items()
        if isinstance(payload := value.get(name), dict)
    ]
    return wrapped[0] if len(wrapped) == 1 and "id" not in value else ("", value)


ENVELOPE = "A2A 0.3 §6.11.2"
STATUS = "A2A 0.3 §6.2"
SHOWN_CHARACTERS = 80
STREAMING = "A2A 0.3 §3.3.1"

RESULT_TYPES = {
    MESSAGE_SEND: "SendResult",
    MESSAGE_STREAM: "StreamResult",
    TASKS_GET: "Task",
    TASKS_CANCEL: "Task",
    TASKS_RESUBSCRIBE: "StreamResult",
    PUSH_CONFIG_SET: "TaskPushNotificationConfig",
    PUSH_CONFIG_GET: "TaskPushNotificationConfig",
}


def check_reply(reply: Reply, request: Request) -> tuple[Finding, ...]:
    """Every problem of `reply` as an answer to `request`."""
    if reply.problem:
        return (Finding(Severity.ERROR, ENVELOPE, "$", reply.problem),)
    found = _check_envelope(reply, request)
    if reply.error is not None:
        return found + SCHEMA.check(at(reply.envelope, "error"), "JSONRPCError", "$.error")
    type_ = RESULT_TYPES.get(request.method or "")
    if type_ is None:
        return found
    return found + SCHEMA.check(reply.result, type_, "$.result") + check_status(reply.result)


def check_termination(is_terminated: bool) -> tuple[Finding, ...]:
    if is_terminated:
        return ()
    return (Finding(Severity.ERROR, STREAMING, "$", "the stream ended inside an event"),)


def _check_envelope(reply: Reply, request: Request) -> tuple[Finding, ...]:
    found: list[Finding] = []
    envelope = object_at(reply.envelope)
    if reply.warning:
        found.append(Finding(Severity.ERROR, ENVELOPE, "$", reply.warning))
    if (version := envelope.get("jsonrpc")) != "2.0":
        text = f"expected '2.0', found {version!r}" if version else "`jsonrpc` is missing: '2.0'"
        found.append(Finding(Severity.ERROR, ENVELOPE, "$.jsonrpc", text))
    if "id" not in envelope:
        found.append(
            Finding(Severity.ERROR, ENVELOPE, "$.id", f"`id` is missing: {_shown(request.id)}")
        )
    elif envelope["id"] != request.id:
        text = f"the request's id is {_shown(request.id)}, this is {_shown(envelope['id'])}"
        found.append(Finding(Severity.ERROR, ENVELOPE, "$.id", text))
    if "error" in envelope and envelope.get("result") is not None:
        found.append(Finding(Severity.ERROR, ENVELOPE, "$", "both `result` and `error`"))
    return tuple(found)


def _shown(id: Json) -> str:
    return repr(id[:SHOWN_CHARACTERS]) if isinstance(id, str) else json.dumps(id)[:SHOWN_CHARACTERS]


def check_status(result: Json, path: str = "$.result") -> tuple[Finding, ...]:
    """The status' timestamp, and that its message belongs to the task."""
    found: list[Finding] = []
    path = f"{path}.status"
    time = text_at(result, "status", "timestamp")
    if time is not None and not is_timestamp(time):
        text = f"expected an ISO 8601 date and time with its zone, found {time[:40]!r}"
        found.append(Finding(Severity.WARNING, STATUS, f"{path}.timestamp", text))
    message = object_at(result, "status", "message")
    task_id = text_at(result, "id") or text_at(result, "taskId")
    for name, expected in (("taskId", task_id), ("contextId", text_at(result, "contextId"))):
        value = message.get(name)
        if isinstance(value, str) and expected is not None and value != expected:
            text = f"the task has {expected!r}, its message {value[:80]!r}"
            found.append(Finding(Severity.ERROR, STATUS, f"{path}.message.{name}", text))
    if message.get("role") == "user":
        text = "a status message is the agent's, this one says 'user'"
        found.append(Finding(Severity.WARNING, STATUS, f"{path}.message.role", text))
    return tuple(found)


# A raw body may ask for what is not here.
_ANSWERS = {
    MESSAGE_SEND: ("task", "message"),
    MESSAGE_STREAM: KINDS,
    TASKS_GET: ("task",),
    TASKS_CANCEL: ("task",),
    TASKS_RESUBSCRIBE: KINDS,
}
# A2A 1.0 wraps its results in these.
_WRAPPERS = frozenset({"task", "message", "statusUpdate", "artifactUpdate"})


def wrong_answer(method: str | None, result: Json) -> str:
    """What `result` is in the place of what `method` asks for; "" where it may be an answer."""
    kinds = _ANSWERS.get(method or "")
    if kinds is None:
        return ""
    expected = " or ".join(kinds)
    if not isinstance(result, dict):
        return f"{type_name(result)}, not with a {expected}"
    read = read_result(result)
    if read.kind not in kinds:
        kind = text_at(result, "kind")
        named = "an object without a kind" if kind is None else f"an object of kind {kind[:40]!r}"
        return f"{named}, not with a {expected}"
    if read.kind == "task" and read.state is None:
        return "a task that has no state"
    return ""


def is_wrapped(result: Json) -> bool:
    """Say whether `result` is one of A2A 1.0 (§3.2)."""
    return isinstance(result, dict) and not result.keys().isdisjoint(_WRAPPERS)
