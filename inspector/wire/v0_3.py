"""A2A 0.3 by JSON-RPC 2.0: the one place that knows how its operations look on the wire.

The module itself is the dialect (`dialect.Dialect`). Requests are encoded (§7), replies and
notifications are read leniently, whatever they are, and checked (§6, §9.5).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from inspector.wire.dialect import (
    AgentError,
    ArtifactChunk,
    Ask,
    Binding,
    Callback,
    ErrorReason,
    File,
    Message,
    Notification,
    OnDemand,
    Operation,
    Outgoing,
    Part,
    Reply,
    Request,
    Result,
    ResultKind,
    Sections,
)
from inspector.wire.findings import Finding, Severity
from inspector.wire.json_values import (
    Json,
    at,
    encode_as_read,
    list_at,
    object_at,
    parse_json,
    text_at,
)
from inspector.wire.schema import type_name
from inspector.wire.sse import parse_event
from inspector.wire.states import is_resting, is_timestamp, parse_state, parse_timestamp
from inspector.wire.v0_3_types import SCHEMA

version = "0.3"
binding = Binding.JSONRPC
name = "A2A 0.3"
sections = Sections(
    task="A2A 0.3 §6.1",
    status="A2A 0.3 §6.2",
    task_state="A2A 0.3 §6.3",
    stream="A2A 0.3 §7.2",
    status_update="A2A 0.3 §7.2.2",
    artifact_update="A2A 0.3 §7.2.3",
    streaming="A2A 0.3 §3.3.1",
    transport="A2A 0.3 §3.2.1",
    push="A2A 0.3 §9.5",
)
ENVELOPE = "A2A 0.3 §6.11.2"
STREAM_RESPONSE = "A2A 1.0 §4.3.3"

METHODS = {
    Operation.SEND: "message/send",
    Operation.STREAM: "message/stream",
    Operation.GET: "tasks/get",
    Operation.CANCEL: "tasks/cancel",
    Operation.RESUBSCRIBE: "tasks/resubscribe",
    Operation.PUSH_SET: "tasks/pushNotificationConfig/set",
    Operation.PUSH_GET: "tasks/pushNotificationConfig/get",
    Operation.PUSH_LIST: "tasks/pushNotificationConfig/list",
    Operation.PUSH_DELETE: "tasks/pushNotificationConfig/delete",
    Operation.EXTENDED_CARD: "agent/getAuthenticatedExtendedCard",
}
_OPERATIONS = {method: operation for operation, method in METHODS.items()}
_STREAMS = frozenset({Operation.STREAM, Operation.RESUBSCRIBE})

# §8
_REASONS = {
    -32700: ErrorReason.PARSE_ERROR,
    -32601: ErrorReason.METHOD_NOT_FOUND,
    -32602: ErrorReason.INVALID_PARAMS,
    -32001: ErrorReason.TASK_NOT_FOUND,
    -32002: ErrorReason.TASK_NOT_CANCELABLE,
    -32003: ErrorReason.PUSH_NOT_SUPPORTED,
    -32004: ErrorReason.UNSUPPORTED_OPERATION,
    -32005: ErrorReason.CONTENT_TYPE_NOT_SUPPORTED,
}

# What each operation may answer; a raw body may ask for what is not here.
RESULT_TYPES = {
    Operation.SEND: "SendResult",
    Operation.STREAM: "StreamResult",
    Operation.GET: "Task",
    Operation.CANCEL: "Task",
    Operation.RESUBSCRIBE: "StreamResult",
    Operation.PUSH_SET: "TaskPushNotificationConfig",
    Operation.PUSH_GET: "TaskPushNotificationConfig",
}
_STREAMED = (
    ResultKind.TASK,
    ResultKind.MESSAGE,
    ResultKind.STATUS_UPDATE,
    ResultKind.ARTIFACT_UPDATE,
)
_ANSWERS = {
    Operation.SEND: (ResultKind.TASK, ResultKind.MESSAGE),
    Operation.STREAM: _STREAMED,
    Operation.GET: (ResultKind.TASK,),
    Operation.CANCEL: (ResultKind.TASK,),
    Operation.RESUBSCRIBE: _STREAMED,
}

# The members of A2A 1.0's StreamResponse, and what each holds.
_WRAPPED = {
    "task": ResultKind.TASK,
    "statusUpdate": ResultKind.STATUS_UPDATE,
    "artifactUpdate": ResultKind.ARTIFACT_UPDATE,
    "message": ResultKind.MESSAGE,
}
SHOWN_CHARACTERS = 80
# What the wire is written with beside the types: no secret, whatever a user's secrets are.
WORDS = (
    SCHEMA.words
    | {word for method in METHODS.values() for word in (method, *method.split("/"))}
    | set(_WRAPPED)
    | {"jsonrpc", "2.0", "method", "params", "result", "error", "code", "configuration"}
    | {"acceptedOutputModes", "historyLength", "blocking", "filename", "mediaType", "raw"}
)
lacks_as_part = "without `kind`"
part_example = '{"kind": "data", "data": {…}}'


# Requests (§7)


def encode(operation: Operation, ask: Ask, *, url: str, request_id: str) -> Outgoing:
    """The request that asks for `operation`.

    Raises:
        KeyError: JSON-RPC has no such operation in 0.3.
    """
    accept = "text/event-stream" if operation in _STREAMS else "application/json"
    headers = (("Content-Type", "application/json"), ("Accept", accept))
    if ask.raw is not None:
        return Outgoing("POST", url, headers, ask.raw)
    body = encode_request(request_id, METHODS[operation], _params(ask))
    return Outgoing("POST", url, headers, body)


def encode_request(id: str, method: str, params: Mapping[str, Json]) -> bytes:
    envelope: Json = {"jsonrpc": "2.0", "id": id, "method": method, "params": dict(params)}
    return encode_as_read(envelope)


def describe(ask: Ask) -> Mapping[str, Json]:
    """What goes out for `ask`, by the place on the wire that holds it."""
    params = _params(ask)
    return {
        "parts": at(params, "message", "parts"),
        "message.metadata": at(params, "message", "metadata"),
        "params.metadata": at(params, "metadata"),
        "configuration": at(params, "configuration"),
    }


def _params(ask: Ask) -> dict[str, Json]:
    """`MessageSendParams` (§7.1.1) where there is a message, else those about a task."""
    params: dict[str, Json] = {}
    if ask.message is None:
        params["id"] = ask.task_id
        if ask.history_length is not None:
            params["historyLength"] = ask.history_length
        return params
    params["message"] = _write_message(ask.message)
    if configuration := _configuration(ask):
        params["configuration"] = configuration
    if ask.metadata:
        params["metadata"] = dict(ask.metadata)
    return params


def _write_message(message: Message) -> dict[str, Json]:
    written: dict[str, Json] = {
        "kind": "message",
        "messageId": message.message_id,
        "role": "user",
        "parts": [write_part(part) for part in message.parts],
    }
    if message.context_id is not None:
        written["contextId"] = message.context_id
    if message.task_id is not None:
        written["taskId"] = message.task_id
    if message.metadata:
        written["metadata"] = dict(message.metadata)
    return written


def write_part(part: Part) -> Json:
    """`part` as it stands on the wire (§6.5)."""
    if part.raw is not None:
        return part.raw
    if part.file is not None:
        return {"kind": "file", "file": _write_file(part.file)}
    if part.has_data:
        return {"kind": "data", "data": part.data}
    return {"kind": "text", "text": part.text}


def _write_file(file: File) -> dict[str, Json]:
    fields = {
        "name": file.name,
        "mimeType": file.media_type,
        "bytes": file.encoded,
        "uri": file.uri,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _configuration(ask: Ask) -> dict[str, Json]:
    configuration: dict[str, Json] = {}
    if ask.accepted_output_modes:
        configuration["acceptedOutputModes"] = list(ask.accepted_output_modes)
    if ask.history_length is not None:
        configuration["historyLength"] = ask.history_length
    if ask.is_blocking is not None:
        configuration["blocking"] = ask.is_blocking
    if ask.callback is not None:
        configuration["pushNotificationConfig"] = _write_callback(ask.callback)
    return configuration


def _write_callback(callback: Callback) -> dict[str, Json]:
    """A PushNotificationConfig (§6.8)."""
    if callback.raw is not None:
        return dict(callback.raw)
    return {"url": callback.url, "token": callback.token}


def compact(body: bytes) -> bytes:
    """The request in `body` as `encode` lays it out, where that says the same."""
    parsed = parse_json(body)
    envelope = parsed.value
    id, method = text_at(envelope, "id"), text_at(envelope, "method")
    # what was read as text would go out as text
    if id is None or method is None or parsed.warning:
        return body
    laid_out = encode_request(id, method, object_at(envelope, "params"))
    return laid_out if parse_json(laid_out).value == envelope else body


def readdress(
    body: bytes, *, request_id: str, context_id: str, message_id: str | None, task_id: str | None
) -> bytes:
    """The request in `body` with other ids; it waits for its answer and has no callback."""
    envelope = parse_json(body).value
    ids = {"contextId": context_id, "messageId": message_id, "taskId": task_id}
    known = {name: id for name, id in ids.items() if id is not None}
    params = object_at(envelope, "params")
    params["message"] = {**object_at(params, "message"), **known}
    if configuration := object_at(params, "configuration"):
        params["configuration"] = {
            name: value
            for name, value in configuration.items()
            if name != "pushNotificationConfig" and (name != "blocking" or value is True)
        }
    return encode_request(request_id, text_at(envelope, "method") or "", params)


def read_request(body: bytes) -> Request:
    """The request in `body`; what is missing is None, so that any bytes can be read."""
    envelope = parse_json(body).value
    method = text_at(envelope, "method")
    ask = _read_ask(object_at(envelope, "params"))
    return Request(at(envelope, "id"), _OPERATIONS.get(method or ""), method, ask)


def _read_ask(params: dict[str, Json]) -> Ask:
    configuration = object_at(params, "configuration")
    modes = list_at(configuration, "acceptedOutputModes")
    has_message = isinstance(params.get("message"), dict)
    history = at(configuration if has_message else params, "historyLength")
    blocking = at(configuration, "blocking")
    return Ask(
        message=_read_message(object_at(params, "message")) if has_message else None,
        task_id=text_at(params, "id") or text_at(params, "taskId"),
        metadata=object_at(params, "metadata"),
        history_length=history if isinstance(history, int) else None,
        accepted_output_modes=tuple(mode for mode in modes if isinstance(mode, str)),
        is_blocking=blocking if isinstance(blocking, bool) else None,
        callback=_read_callback(at(configuration, "pushNotificationConfig")),
    )


def _read_message(message: dict[str, Json]) -> Message:
    return Message(
        parts=_read_parts(list_at(message, "parts")),
        message_id=text_at(message, "messageId"),
        context_id=text_at(message, "contextId"),
        task_id=text_at(message, "taskId"),
        metadata=object_at(message, "metadata"),
    )


def _read_callback(config: Json) -> Callback | None:
    """The callback that a message's configuration registers (§7.1.2)."""
    if config is None:
        return None
    return Callback(text_at(config, "url") or "", text_at(config, "token"), object_at(config))


# Parts (§6.5, §6.6)


def read_part(raw: Json) -> Part | None:
    """The part that `raw` is; None where it has no kind."""
    return _read_part(raw) if isinstance(raw, dict) and "kind" in raw else None


def _read_part(raw: Json) -> Part:
    if not isinstance(raw, dict):
        return Part(raw=raw)
    text, label = raw.get("text"), raw.get("kind")
    return Part(
        text=text if isinstance(text, str) else None,
        data=raw.get("data"),
        has_data="data" in raw,
        file=_read_file(raw),
        label=label if label and isinstance(label, str) else "part",
        raw=raw,
    )


def _read_parts(parts: list[Json]) -> tuple[Part, ...]:
    return tuple(_read_part(part) for part in parts)


def _read_file(part: dict[str, Json]) -> File | None:
    """The file of a FilePart; A2A 1.0 writes it into the part itself (1.0 §4.1.6)."""
    if isinstance(inner := part.get("file"), dict):
        return File(
            text_at(inner, "name"),
            text_at(inner, "mimeType"),
            text_at(inner, "bytes"),
            text_at(inner, "uri"),
        )
    if "raw" in part or "url" in part:
        return File(
            text_at(part, "filename"),
            text_at(part, "mediaType"),
            text_at(part, "raw"),
            text_at(part, "url"),
        )
    return None


# Replies (§6.11, §7)


def read(raw: bytes, of: Operation | None, *, is_event: bool = False) -> Reply:
    """The reply in a body or in one event of a stream; its members say what it is."""
    if not is_event:
        return read_reply(raw, of)
    event = parse_event(raw)
    if event.data is None:
        return Reply(None, is_silent=True, is_terminated=event.is_terminated)
    reply = read_reply(event.data, of)
    return reply if event.is_terminated else replace(reply, is_terminated=False)


def read_reply(raw: bytes, of: Operation | None = None) -> Reply:
    """Read a JSON-RPC reply leniently; never raises.

    What answers a method that 0.3 does not know may wrap its result, as A2A 1.0 does.
    """
    parsed = parse_json(raw)
    envelope = parsed.value
    if parsed.problem:
        return Reply(None, problem=parsed.problem)
    if not isinstance(envelope, dict):
        return Reply(envelope, problem="a JSON-RPC reply must be an object")
    if "error" in envelope:
        return Reply(envelope, error=_read_error(envelope["error"]), warning=parsed.warning)
    if "result" in envelope:
        payload = envelope["result"]
        result = read_result(payload) if of is not None else _read_any(payload)
        return Reply(envelope, payload=payload, result=result, warning=parsed.warning)
    return Reply(envelope, problem="neither `result` nor `error` in the reply")


def _read_error(error: Json) -> AgentError:
    code = at(error, "code")
    known = code if isinstance(code, int) and not isinstance(code, bool) else None
    return AgentError(
        code=known,
        message=text_at(error, "message") or "",
        data=at(error, "data"),
        reason=_REASONS.get(known or 0),
    )


def _read_any(payload: Json) -> Result:
    """Read a result of 0.3, or what A2A 1.0 wraps; in 1.0 a stream ends where its task rests."""
    wrapper, inner = _unwrap(object_at(payload))
    if not wrapper:
        return read_result(payload)
    result = read_result(inner)
    return replace(result, is_final=result.is_final or is_resting(result.state))


def read_result(result: Json) -> Result:
    """Read `result` as what its `kind` says; an unknown kind as what its fields suggest."""
    kind = _kind(result)
    task_id, context_id = text_at(result, "taskId"), text_at(result, "contextId")
    match kind:
        case ResultKind.TASK:
            artifacts = OnDemand(list_at(result, "artifacts"), _artifact)
            return _from_status(result, kind, text_at(result, "id"), artifacts)
        case ResultKind.STATUS_UPDATE:
            return _from_status(result, kind, task_id, ())
        case ResultKind.ARTIFACT_UPDATE:
            is_append, is_last = at(result, "append") is True, at(result, "lastChunk") is True
            chunk = _artifact(at(result, "artifact"), is_append=is_append, is_last=is_last)
            return Result(kind, task_id, context_id, artifacts=(chunk,))
        case _:
            return Result(
                kind,
                task_id,
                context_id,
                is_final=kind == ResultKind.MESSAGE,
                message_id=text_at(result, "messageId"),
                parts=OnDemand(list_at(result, "parts"), _read_part),
            )


def _kind(result: Json) -> str:
    if (kind := text_at(result, "kind")) is not None:
        return kind
    if at(result, "artifact") is not None:
        return ResultKind.ARTIFACT_UPDATE
    if at(result, "status") is not None:
        return ResultKind.TASK if at(result, "id") is not None else ResultKind.STATUS_UPDATE
    if at(result, "pushNotificationConfig") is not None:
        return ResultKind.PUSH_CONFIG
    return ResultKind.MESSAGE if at(result, "parts") is not None else ResultKind.UNKNOWN


def _from_status(
    result: Json, kind: str, task_id: str | None, artifacts: Sequence[ArtifactChunk]
) -> Result:
    spelling = text_at(result, "status", "state")
    state = None if spelling is None else parse_state(spelling) or spelling
    timestamp = text_at(result, "status", "timestamp")
    is_final = at(result, "final") is True
    if kind == ResultKind.TASK:
        is_final = is_resting(state)
    return Result(
        kind=kind,
        task_id=task_id,
        context_id=text_at(result, "contextId"),
        state=state,
        is_final=is_final,
        message_id=text_at(result, "status", "message", "messageId"),
        parts=OnDemand(list_at(result, "status", "message", "parts"), _read_part),
        artifacts=artifacts,
        timestamp_ms=None if timestamp is None else parse_timestamp(timestamp),
        spelling=spelling,
    )


def _artifact(artifact: Json, *, is_append: bool = False, is_last: bool = True) -> ArtifactChunk:
    return ArtifactChunk(
        artifact_id=text_at(artifact, "artifactId") or "",
        name=text_at(artifact, "name") or "",
        parts=OnDemand(list_at(artifact, "parts"), _read_part),
        is_append=is_append,
        is_last=is_last,
    )


# Notifications (§9.5, 1.0 §4.3.3)


def read_notification(body: bytes) -> Notification:
    """Read `body` leniently: the bare Task of 0.3, or the StreamResponse that A2A 1.0 posts."""
    parsed = parse_json(body)
    if parsed.problem:
        return Notification(None, problem=parsed.problem)
    if not isinstance(parsed.value, dict):
        return Notification(parsed.value, problem="a notification must be a JSON object")
    wrapper, payload = _unwrap(parsed.value)
    result = read_result(payload)
    if result.task_id is None:
        return Notification(parsed.value, problem="the body names no task")
    return Notification(parsed.value, result, wrapper=wrapper, warning=parsed.warning)


def check_notification(notification: Notification) -> tuple[Finding, ...]:
    """What is wrong with a notification by itself."""
    if notification.problem:
        return (Finding(Severity.ERROR, sections.push, "$", notification.problem),)
    found: tuple[Finding, ...] = ()
    if notification.warning:
        found = (Finding(Severity.ERROR, sections.push, "$", notification.warning),)
    if not notification.wrapper:
        found += SCHEMA.check(notification.value, "Task")
        return found + check_status(notification.value, "$")
    name = notification.wrapper
    text = f"a StreamResponse of A2A 1.0 with `{name}`; A2A 0.3 sends the bare task"
    return (*found, Finding(Severity.HINT, STREAM_RESPONSE, f"$.{name}", text))


def _unwrap(value: dict[str, Json]) -> tuple[str, Json]:
    """The payload, with its kind where a StreamResponse names that by its member alone."""
    wrapped = [
        (name, {"kind": kind, **payload})
        for name, kind in _WRAPPED.items()
        if isinstance(payload := value.get(name), dict)
    ]
    return wrapped[0] if len(wrapped) == 1 and "id" not in value else ("", value)


# Checks


def check(reply: Reply, request: Request) -> tuple[Finding, ...]:
    """Every problem of `reply` as an answer to `request`: envelope, schema, ids and times."""
    found: tuple[Finding, ...] = ()
    if not reply.is_terminated:
        text = "the stream ended inside an event"
        found = (Finding(Severity.ERROR, sections.streaming, "$", text),)
    if reply.is_silent:
        return found
    if reply.problem:
        return (*found, Finding(Severity.ERROR, ENVELOPE, "$", reply.problem))
    found += _check_envelope(reply, request)
    if reply.error is not None:
        return found + SCHEMA.check(at(reply.envelope, "error"), "JSONRPCError", "$.error")
    type_ = RESULT_TYPES.get(request.operation) if request.operation is not None else None
    if type_ is None:
        return found
    return found + SCHEMA.check(reply.payload, type_, "$.result") + check_status(reply.payload)


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
        found.append(Finding(Severity.WARNING, sections.status, f"{path}.timestamp", text))
    message = object_at(result, "status", "message")
    task_id = text_at(result, "id") or text_at(result, "taskId")
    for name, expected in (("taskId", task_id), ("contextId", text_at(result, "contextId"))):
        value = message.get(name)
        if isinstance(value, str) and expected is not None and value != expected:
            text = f"the task has {expected!r}, its message {value[:80]!r}"
            found.append(Finding(Severity.ERROR, sections.status, f"{path}.message.{name}", text))
    if message.get("role") == "user":
        text = "a status message is the agent's, this one says 'user'"
        found.append(Finding(Severity.WARNING, sections.status, f"{path}.message.role", text))
    return tuple(found)


def wrong_answer(reply: Reply, of: Operation | None) -> str:
    """What `reply` holds in the place of what `of` asks for; "" where it may be an answer."""
    kinds = None if of is None else _ANSWERS.get(of)
    if kinds is None:
        return ""
    expected, payload = " or ".join(kinds), reply.payload
    if not isinstance(payload, dict) or (result := reply.result) is None:
        return f"{type_name(payload)}, not with a {expected}"
    if result.kind not in kinds:
        kind = text_at(payload, "kind")
        named = "an object without a kind" if kind is None else f"an object of kind {kind[:40]!r}"
        return f"{named}, not with a {expected}"
    if result.kind == ResultKind.TASK and result.state is None:
        return "a task that has no state"
    return ""


def cause_of_wrong_answer(reply: Reply) -> str:
    """Why an agent may answer like this; A2A 1.0 wraps its results (1.0 §3.2)."""
    if isinstance(reply.payload, dict) and not reply.payload.keys().isdisjoint(_WRAPPED):
        return "the agent answers as A2A 1.0 does, and was asked in 0.3"
    return "the server speaks JSON-RPC, but not A2A 0.3"
