"""A2A 0.3 as a2a-sdk 0.3.26 reads and writes it.

Request bodies become operations; tasks, updates and push configurations become JSON with its order
of keys and no nulls.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias, get_args

from a2a.compat.v0_3 import types
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from mock_server.dialogue.model import Json
from mock_server.errors import RpcError
from mock_server.tasks.json_text import encode_json, parse_json
from mock_server.tasks.task import (
    Artifact,
    DataPart,
    FilePart,
    Message,
    Part,
    PushAuthentication,
    PushConfig,
    Role,
    Status,
    StatusUpdate,
    Task,
    TaskState,
    TextPart,
    Update,
)
from mock_server.wire import jsonrpc
from mock_server.wire.jsonrpc import readable_id
from mock_server.wire.operations import (
    Answer,
    BadCall,
    Call,
    CancelTask,
    DeletePushConfig,
    EncodedTask,
    GetExtendedCard,
    GetPushConfig,
    GetTask,
    ListPushConfigs,
    Operation,
    Resubscribe,
    RpcId,
    SendMessage,
    SetPushConfig,
    StreamMessage,
    TaskAnswer,
    TaskPushConfig,
)

# A larger body, or one with more mistakes, gets its error without an echo of what it sent.
ECHOED_BYTES = 64 * 1024
LISTED_PROBLEMS = 1000
# The models of the SDK ask for an id, of kinds that they know.
STANDS_FOR_ANY_ID = 0
CONTEXT = frozenset({"contextId"})
A2ARequest: TypeAlias = (
    types.SendMessageRequest
    | types.SendStreamingMessageRequest
    | types.GetTaskRequest
    | types.CancelTaskRequest
    | types.TaskResubscriptionRequest
    | types.SetTaskPushNotificationConfigRequest
    | types.GetTaskPushNotificationConfigRequest
    | types.ListTaskPushNotificationConfigRequest
    | types.DeleteTaskPushNotificationConfigRequest
    | types.GetAuthenticatedExtendedCardRequest
)
METHODS: Mapping[str, type[A2ARequest]] = {
    model.model_fields["method"].default: model for model in get_args(A2ARequest)
}
STATES = {state: state.value.replace("_", "-") for state in TaskState}


@dataclass(frozen=True, slots=True)
class V03:
    """The codec of A2A 0.3.

    `is_strict`: JSON-RPC 2.0 and A2A to the letter, where the SDK departs from them (HTTP-5a).
    """

    is_strict: bool = False

    def decode(self, body: bytes) -> Call | BadCall:
        return decode_strictly(body) if self.is_strict else decode_call(body)

    def encode_reply(self, call: Call, answer: Answer) -> bytes:
        return jsonrpc.result_envelope(call.id, _result(answer))

    def encode_event(
        self, call: Call, task_id: str, context_id: str, event: Task | Update
    ) -> bytes:
        is_task = isinstance(event, Task)
        encoded = encode_task(event) if is_task else encode_update(task_id, context_id, event)
        return jsonrpc.result_envelope(call.id, encoded)

    def encode_error(self, rpc_id: RpcId, error: RpcError) -> bytes:
        return jsonrpc.error_envelope(rpc_id, error, writes_null_id=self.is_strict)

    def encode_task(self, task: Task) -> EncodedTask:
        return encode_task(task)

    def decode_task(self, encoded: EncodedTask) -> Task:
        return decode_task(encoded)

    def encode_push(self, task: Task) -> bytes:
        """The task itself."""
        return encode_task(task)


def decode_call(body: bytes) -> Call | BadCall:
    """Read one JSON-RPC request.

    Its envelope is judged first (-32600), then the method (-32601), then its params (-32602).
    """
    try:
        payload = jsonrpc.parse_request(body)
    except ValueError:
        return BadCall(None, jsonrpc.parse_error())
    return decode_request(payload, echoes=len(body) <= ECHOED_BYTES)


def decode_strictly(body: bytes) -> Call | BadCall:
    """As `decode_call`, with the envelope judged by JSON-RPC itself, and params by A2A's text."""
    envelope = jsonrpc.read_envelope(body)
    if isinstance(envelope, BadCall):
        return envelope
    rpc_id, payload = envelope
    known = payload if isinstance(rpc_id, str | int) else {**payload, "id": STANDS_FOR_ANY_ID}
    decoded = decode_request(known, echoes=len(body) <= ECHOED_BYTES)
    if isinstance(decoded, Call) and (problems := _missed_by_models(decoded.operation)):
        return BadCall(rpc_id, jsonrpc.invalid_params(problems))
    return replace(decoded, id=rpc_id)


def _missed_by_models(operation: Operation) -> list[Json]:
    """Problems that the SDK's models let pass, in pydantic's form (HTTP-5a)."""
    match operation:
        case StreamMessage(turn=turn) | (SendMessage() as turn):
            problems = _negative_history(turn.history_length, "configuration")
            if not turn.message.parts:
                problems.append(
                    {
                        "type": "too_short",
                        "loc": ["params", "message", "parts"],
                        "msg": "List should have at least 1 item after validation, not 0",
                        "input": [],
                    }
                )
            return problems
        case GetTask(history_length=length):
            return _negative_history(length)
        case _:
            return []


def _negative_history(length: int | None, *inside: str) -> list[Json]:
    if length is None or length >= 0:
        return []
    return [
        {
            "type": "greater_than_equal",
            "loc": ["params", *inside, "historyLength"],
            "msg": "Input should be greater than or equal to 0",
            "input": length,
        }
    ]


def decode_request(payload: Json, *, echoes: bool) -> Call | BadCall:
    """As `decode_call`; an error shows what was sent if it `echoes`."""
    if plain := _plain_send(payload):
        return plain
    model = METHODS.get(_method_name(payload))
    if model is None:
        return _refuse_envelope(payload, echoes) or BadCall(
            readable_id(payload), jsonrpc.method_not_found()
        )
    try:
        request = model.model_validate(payload)
    except ValidationError as error:
        return _refuse_envelope(payload, echoes) or BadCall(
            readable_id(payload), jsonrpc.invalid_params(_problems(error, echoes))
        )
    return Call(request.id, _operation(request))


def _plain_send(payload: Json) -> Call | None:
    """A blocking turn of one plain text, as the models read it; None for all else.

    The models, which try every kind of part, take 5 % of a turn. A text that is printable holds
    no lone surrogate, which they refuse.
    """
    match payload:
        case {
            "jsonrpc": "2.0",
            "method": "message/send",
            "id": str() as rpc_id,
            "params": {
                "message": {
                    "kind": "message",
                    "role": "user",
                    "messageId": str() as message_id,
                    "parts": [{"kind": "text", "text": str() as text, **more_of_part}],
                    **more_of_message,
                },
                **more,
            },
        } if not more and not more_of_part and more_of_message.keys() <= CONTEXT:
            context_id = more_of_message.get("contextId")
            if context_id is not None and not isinstance(context_id, str):
                return None
            if not f"{rpc_id}{message_id}{text}{context_id}".isprintable():
                return None
            message = Message(message_id, Role.USER, (TextPart(text),), context_id)
            return Call(rpc_id, SendMessage(message))
        case _:
            return None


def _method_name(payload: Json) -> str:
    match payload:
        case {"method": str() as name}:
            return name
        case _:
            return ""


def _refuse_envelope(payload: Json, echoes: bool) -> BadCall | None:
    try:
        types.JSONRPCRequest.model_validate(payload)
    except ValidationError as error:
        problems = _problems(error, echoes)
        return BadCall(readable_id(payload), jsonrpc.invalid_request(problems))
    return None


def _problems(error: ValidationError, echoes: bool) -> Json:
    """pydantic's list of errors; without what was sent where that cannot be written."""
    if error.error_count() > LISTED_PROBLEMS:
        return None
    try:
        return parse_json(error.json(include_input=echoes))
    except (ValueError, PydanticSerializationError):
        return parse_json(error.json(include_input=False, include_context=False))


def _operation(request: A2ARequest) -> Operation:
    match request:
        case types.SendMessageRequest(params=params):
            return _turn(params)
        case types.SendStreamingMessageRequest(params=params):
            return StreamMessage(_turn(params))
        case types.GetTaskRequest(params=params):
            return GetTask(params.id, params.history_length)
        case types.CancelTaskRequest(params=params):
            return CancelTask(params.id)
        case types.TaskResubscriptionRequest(params=params):
            return Resubscribe(params.id)
        case types.SetTaskPushNotificationConfigRequest(params=params):
            config = decode_push_config(params.push_notification_config)
            return SetPushConfig(params.task_id, config)
        case types.GetTaskPushNotificationConfigRequest(
            params=types.GetTaskPushNotificationConfigParams() as params
        ):
            return GetPushConfig(params.id, params.push_notification_config_id)
        case types.GetTaskPushNotificationConfigRequest(params=params):
            return GetPushConfig(params.id)
        case types.ListTaskPushNotificationConfigRequest(params=params):
            return ListPushConfigs(params.id)
        case types.DeleteTaskPushNotificationConfigRequest(params=params):
            return DeletePushConfig(params.id, params.push_notification_config_id)
        case types.GetAuthenticatedExtendedCardRequest():
            return GetExtendedCard()


def _turn(params: types.MessageSendParams) -> SendMessage:
    message, configuration = decode_message(params.message), params.configuration
    if configuration is None:
        return SendMessage(message, request_metadata=params.metadata)
    push = configuration.push_notification_config
    return SendMessage(
        message=message,
        is_blocking=configuration.blocking is not False,
        request_metadata=params.metadata,
        history_length=configuration.history_length,
        accepted_output_modes=tuple(configuration.accepted_output_modes or ()),
        push_config=push and decode_push_config(push),
    )


def decode_push_config(config: types.PushNotificationConfig) -> PushConfig:
    authentication = config.authentication
    return PushConfig(
        url=config.url,
        id=config.id,
        token=config.token,
        authentication=authentication
        and PushAuthentication(tuple(authentication.schemes), authentication.credentials),
    )


def _result(answer: Answer) -> bytes | None:
    match answer:
        case TaskAnswer():
            return with_history(answer.encoded, answer.history_length)
        case TaskPushConfig():
            return encode_json(_push_config(answer))
        case tuple():
            return encode_json([_push_config(config) for config in answer])
        case None:
            return None


def _push_config(registered: TaskPushConfig) -> dict[str, object]:
    config, authentication = registered.config, registered.config.authentication
    fields: dict[str, object] = {
        "authentication": authentication
        and _without_nulls(
            {"credentials": authentication.credentials, "schemes": [*authentication.schemes]}
        ),
        "id": config.id,
        "token": config.token,
        "url": config.url,
    }
    return {"pushNotificationConfig": _without_nulls(fields), "taskId": registered.task_id}


def encode_task(task: Task) -> bytes:
    """The task in JSON; keys that are absent are not put in and taken out again: 4 % of a turn."""
    fields: dict[str, object] = {}
    if task.artifacts:
        fields["artifacts"] = [_artifact(artifact) for artifact in task.artifacts]
    fields["contextId"] = task.context_id
    fields["history"] = [_message(message) for message in task.history]
    fields["id"] = task.id
    fields["kind"] = "task"
    if task.metadata:
        fields["metadata"] = task.metadata
    fields["status"] = _status(task.status)
    return encode_json(fields)


def encode_update(task_id: str, context_id: str, update: Update) -> bytes:
    if isinstance(update, StatusUpdate):
        fields: dict[str, object] = {
            "contextId": context_id,
            "final": update.is_final,
            "kind": "status-update",
            "status": _status(update.status),
            "taskId": task_id,
        }
    else:
        fields = {
            "append": update.appends or None,
            "artifact": _artifact(update.artifact),
            "contextId": context_id,
            "kind": "artifact-update",
            "lastChunk": update.is_last_chunk or None,
            "taskId": task_id,
        }
    return encode_json(_without_nulls(fields))


def with_history(encoded_task: bytes, length: int | None) -> bytes:
    """Keep the last `length` messages of the history; 0 leaves it out, None and less keep all."""
    if length is None or length < 0:
        return encoded_task
    match parse_json(encoded_task):
        case {"history": list() as history, **rest} if len(history) > length:
            kept: dict[str, Json] = {"history": history[-length:]} if length else {}
            return encode_json(dict(sorted({**rest, **kept}.items())))
        case _:
            return encoded_task


def decode_task(encoded: bytes) -> Task:
    """The task that `encode_task` wrote."""
    task = types.Task.model_validate(parse_json(encoded))
    return Task(
        id=task.id,
        context_id=task.context_id,
        status=_read_status(task.status),
        history=tuple(decode_message(message) for message in task.history or ()),
        artifacts=tuple(
            Artifact(artifact.artifact_id, _parts(artifact.parts), artifact.name)
            for artifact in task.artifacts or ()
        ),
        metadata=task.metadata or {},
    )


def decode_message(message: types.Message) -> Message:
    return Message(
        message_id=message.message_id,
        role=Role(message.role.value),
        parts=_parts(message.parts),
        context_id=message.context_id,
        task_id=message.task_id,
        metadata=message.metadata,
        extensions=_tuple(message.extensions),
        reference_task_ids=_tuple(message.reference_task_ids),
    )


def _status(status: Status) -> dict[str, object]:
    fields: dict[str, object] = {}
    if status.message is not None:
        fields["message"] = _message(status.message)
    fields["state"] = STATES[status.state]
    if status.timestamp is not None:
        fields["timestamp"] = status.timestamp.isoformat(timespec="microseconds")
    return fields


def _message(message: Message) -> dict[str, object]:
    fields: dict[str, object] = {}
    if message.context_id is not None:
        fields["contextId"] = message.context_id
    if message.extensions is not None:
        fields["extensions"] = message.extensions
    fields["kind"] = "message"
    fields["messageId"] = message.message_id
    if message.metadata is not None:
        fields["metadata"] = message.metadata
    fields["parts"] = [_part(part) for part in message.parts]
    if message.reference_task_ids is not None:
        fields["referenceTaskIds"] = message.reference_task_ids
    fields["role"] = message.role
    if message.task_id is not None:
        fields["taskId"] = message.task_id
    return fields


def _artifact(artifact: Artifact) -> dict[str, object]:
    return _without_nulls(
        {
            "artifactId": artifact.artifact_id,
            "name": artifact.name,
            "parts": [_part(part) for part in artifact.parts],
        }
    )


def _part(part: Part) -> dict[str, object]:
    if isinstance(part, TextPart):
        if part.metadata is None:
            return {"kind": "text", "text": part.text}
        return {"kind": "text", "metadata": part.metadata, "text": part.text}
    fields: dict[str, object] = (
        {"data": part.data, "kind": "data"}
        if isinstance(part, DataPart)
        else {"file": part.file, "kind": "file"}
    )
    return fields if part.metadata is None else {**fields, "metadata": part.metadata}


def _without_nulls(fields: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in fields.items() if value is not None}


def _read_status(status: types.TaskStatus) -> Status:
    return Status(
        state=TaskState(status.state.value.replace("-", "_")),
        timestamp=datetime.fromisoformat(status.timestamp) if status.timestamp else None,
        message=decode_message(status.message) if status.message else None,
    )


def _parts(parts: list[types.Part]) -> tuple[Part, ...]:
    return tuple(_read_part(part.root) for part in parts)


def _read_part(part: types.TextPart | types.FilePart | types.DataPart) -> Part:
    if isinstance(part, types.TextPart):
        return TextPart(part.text, part.metadata)
    if isinstance(part, types.DataPart):
        return DataPart(part.data, part.metadata)
    return FilePart(part.file.model_dump(mode="json", exclude_none=True), part.metadata)


def _tuple(items: list[str] | None) -> tuple[str, ...] | None:
    return None if items is None else tuple(items)
