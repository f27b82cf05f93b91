"""The 0.3 wire: request bodies to operations, validated as a2a-sdk 0.3.26 does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from a2a.compat.v0_3 import types
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from mock_server.dialogue.model import Json
from mock_server.tasks.json_text import parse_json
from mock_server.wire import rpc_errors
from mock_server.wire.envelopes import readable_id
from mock_server.wire.operations import (
    BadCall,
    Call,
    CancelTask,
    DeletePushConfig,
    GetExtendedCard,
    GetPushConfig,
    GetTask,
    ListPushConfigs,
    Operation,
    Resubscribe,
    SendMessage,
    SetPushConfig,
    StreamMessage,
)
from mock_server.wire.v03_push import decode_push_config
from mock_server.wire.v03_tasks import decode_message

# A larger body, or one with more mistakes, gets its error without an echo of what it sent.
ECHOED_BYTES = 64 * 1024
LISTED_PROBLEMS = 1000


@dataclass(frozen=True, slots=True)
class Method:
    """How params of `request` become an operation."""

    request: type[BaseModel]
    operation: Callable[[Any], Operation]


def decode_call(body: bytes) -> Call | BadCall:
    """Read one JSON-RPC request.

    Its envelope is judged first (-32600), then the method (-32601), then its params (-32602).
    """
    try:
        payload = parse_json(body)
    except ValueError:
        return BadCall(None, rpc_errors.parse_error())
    return decode_request(payload, echoes=len(body) <= ECHOED_BYTES)


def decode_request(payload: Json, *, echoes: bool) -> Call | BadCall:
    """As `decode_call`; an error shows what was sent if it `echoes`."""
    method = METHODS.get(_method_name(payload))
    if method is None:
        return _refuse_envelope(payload, echoes) or BadCall(
            readable_id(payload), rpc_errors.method_not_found()
        )
    try:
        request: Any = method.request.model_validate(payload)
    except ValidationError as error:
        return _refuse_envelope(payload, echoes) or BadCall(
            readable_id(payload), rpc_errors.invalid_params(_problems(error, echoes))
        )
    return Call(request.id, method.operation(request))


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
        return BadCall(readable_id(payload), rpc_errors.invalid_request(problems))
    return None


def _problems(error: ValidationError, echoes: bool) -> Json:
    """pydantic's list of errors; without what was sent where that cannot be written."""
    if error.error_count() > LISTED_PROBLEMS:
        return None
    try:
        return parse_json(error.json(include_input=echoes))
    except (ValueError, PydanticSerializationError):
        return parse_json(error.json(include_input=False, include_context=False))


def _send(request: types.SendMessageRequest) -> Operation:
    return _turn(request.params)


def _stream(request: types.SendStreamingMessageRequest) -> Operation:
    return StreamMessage(_turn(request.params))


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


def _get(request: types.GetTaskRequest) -> Operation:
    return GetTask(request.params.id, request.params.history_length)


def _cancel(request: types.CancelTaskRequest) -> Operation:
    return CancelTask(request.params.id)


def _resubscribe(request: types.TaskResubscriptionRequest) -> Operation:
    return Resubscribe(request.params.id)


def _extended_card(_: object) -> Operation:
    return GetExtendedCard()


def _set_push(request: types.SetTaskPushNotificationConfigRequest) -> Operation:
    params = request.params
    return SetPushConfig(params.task_id, decode_push_config(params.push_notification_config))


def _get_push(request: types.GetTaskPushNotificationConfigRequest) -> Operation:
    params = request.params
    if isinstance(params, types.GetTaskPushNotificationConfigParams):
        return GetPushConfig(params.id, params.push_notification_config_id)
    return GetPushConfig(params.id)


def _list_push(request: types.ListTaskPushNotificationConfigRequest) -> Operation:
    return ListPushConfigs(request.params.id)


def _delete_push(request: types.DeleteTaskPushNotificationConfigRequest) -> Operation:
    return DeletePushConfig(request.params.id, request.params.push_notification_config_id)


METHODS: Mapping[str, Method] = {
    "message/send": Method(types.SendMessageRequest, _send),
    "message/stream": Method(types.SendStreamingMessageRequest, _stream),
    "tasks/get": Method(types.GetTaskRequest, _get),
    "tasks/cancel": Method(types.CancelTaskRequest, _cancel),
    "tasks/resubscribe": Method(types.TaskResubscriptionRequest, _resubscribe),
    "tasks/pushNotificationConfig/set": Method(
        types.SetTaskPushNotificationConfigRequest, _set_push
    ),
    "tasks/pushNotificationConfig/get": Method(
        types.GetTaskPushNotificationConfigRequest, _get_push
    ),
    "tasks/pushNotificationConfig/list": Method(
        types.ListTaskPushNotificationConfigRequest, _list_push
    ),
    "tasks/pushNotificationConfig/delete": Method(
        types.DeleteTaskPushNotificationConfigRequest, _delete_push
    ),
    "agent/getAuthenticatedExtendedCard": Method(
        types.GetAuthenticatedExtendedCardRequest, _extended_card
    ),
}
