"""What a client asks for, free of any protocol version's names."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from mock_server.dialogue.model import Json
from mock_server.errors import RpcError
from mock_server.faults.tampering import AS_USUAL, Handling
from mock_server.records import record
from mock_server.tasks.task import Message, PushConfig
from mock_server.wire.jsonrpc import RpcId


@record
class SendMessage:
    """A turn.

    An empty `accepted_output_modes` accepts everything. `history_length` None is all of it.
    `authorized_until` is when the caller's token expires, in seconds since the epoch; None never.
    `handling` is what the admin API asks of it.
    """

    message: Message
    is_blocking: bool = True
    request_metadata: Mapping[str, Json] | None = None
    history_length: int | None = None
    accepted_output_modes: tuple[str, ...] = ()
    push_config: PushConfig | None = None
    authorized_until: float | None = None
    handling: Handling = AS_USUAL


@record
class StreamMessage:
    """A turn whose updates are wanted as they happen."""

    turn: SendMessage


@record
class GetTask:
    task_id: str
    history_length: int | None = None


@record
class CancelTask:
    task_id: str


@record
class Resubscribe:
    task_id: str


@record
class SetPushConfig:
    task_id: str
    config: PushConfig


@record
class GetPushConfig:
    task_id: str
    config_id: str | None = None


@record
class ListPushConfigs:
    task_id: str


@record
class DeletePushConfig:
    task_id: str
    config_id: str


@record
class GetExtendedCard:
    """There is none; which error says so depends on the profile."""


PushOperation: TypeAlias = SetPushConfig | GetPushConfig | ListPushConfigs | DeletePushConfig
Answered: TypeAlias = SendMessage | GetTask | CancelTask | PushOperation | GetExtendedCard
Streamed: TypeAlias = StreamMessage | Resubscribe
Operation: TypeAlias = Answered | Streamed


def handled(operation: Operation, handling: Handling) -> Operation:
    """The operation, to be handled so; one that is no turn stays as it is."""
    match operation:
        case SendMessage():
            return replace(operation, handling=handling)
        case StreamMessage(turn=turn):
            return StreamMessage(replace(turn, handling=handling))
        case _:
            return operation


def authorized(operation: Operation, until: float | None) -> Operation:
    """The operation, to begin before the caller's token expires at `until`."""
    match operation:
        case SendMessage():
            return replace(operation, authorized_until=until)
        case StreamMessage(turn=turn):
            return StreamMessage(replace(turn, authorized_until=until))
        case _:
            return operation


@record
class Call:
    """A JSON-RPC request that was understood; nobody waits for the answer to a notification."""

    id: RpcId
    operation: Operation
    is_notification: bool = False


@record
class BadCall:
    """A body that is no request; `id` is what could be read of it."""

    id: RpcId
    error: RpcError
    is_notification: bool = False
