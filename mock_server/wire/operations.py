"""What a client asks for, free of any protocol version's names, and the seam to the versions.

A version is a `Codec`: it reads request bodies and writes all that answers them. What lies behind
it, the service above all, knows operations and tasks only, and passes the codec on where bytes are
kept or posted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from mock_server.dialogue.model import Json
from mock_server.errors import RpcError
from mock_server.faults.tampering import AS_USUAL, Handling
from mock_server.records import record
from mock_server.tasks.task import Message, PushConfig, Task, Update


@record
class SendMessage:
    """A turn.

    An empty `accepted_output_modes` accepts everything. `history_length` None is all of it.
    """

    message: Message
    is_blocking: bool = True
    request_metadata: Mapping[str, Json] | None = None
    history_length: int | None = None
    accepted_output_modes: tuple[str, ...] = ()
    push_config: PushConfig | None = None


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
    """The mock has none; the profile decides on the error."""


PushOperation: TypeAlias = SetPushConfig | GetPushConfig | ListPushConfigs | DeletePushConfig
Answered: TypeAlias = SendMessage | GetTask | CancelTask | PushOperation | GetExtendedCard
Streamed: TypeAlias = StreamMessage | Resubscribe
Operation: TypeAlias = Answered | Streamed
RpcId: TypeAlias = str | int | float | None
EncodedTask: TypeAlias = bytes


@record
class TaskAnswer:
    """A task as the caller's codec writes it, and how much of its history is asked for."""

    encoded: EncodedTask
    history_length: int | None = None


@record
class TaskPushConfig:
    """A push configuration, and the task that it is for."""

    task_id: str
    config: PushConfig


Answer: TypeAlias = TaskAnswer | TaskPushConfig | tuple[TaskPushConfig, ...] | None
"""The answer to an operation: a task, one configuration or several, or nothing."""


@record
class Call:
    """A request that was understood."""

    id: RpcId
    operation: Operation


@record
class BadCall:
    """A body that is not a request; `id` is what could be read of it."""

    id: RpcId
    error: RpcError


class Codec(Protocol):
    """One version of A2A: bytes to calls, and everything that is sent back to bytes.

    An `EncodedTask` is what this codec's `encode_task` wrote.
    """

    def decode(self, body: bytes) -> Call | BadCall:
        """Read one request."""
        ...

    def encode_reply(self, call: Call, answer: Answer) -> bytes:
        """The whole reply to `call`."""
        ...

    def encode_event(
        self, call: Call, task_id: str, context_id: str, event: Task | Update
    ) -> bytes:
        """One event of the stream that answers `call`, without its SSE frame."""
        ...

    def encode_error(self, rpc_id: RpcId, error: RpcError) -> bytes:
        """The whole reply for `error`."""
        ...

    def encode_task(self, task: Task) -> EncodedTask:
        """The task as it is kept once it has settled."""
        ...

    def decode_task(self, encoded: EncodedTask) -> Task:
        """The task that `encode_task` wrote."""
        ...

    def encode_push(self, task: Task) -> bytes:
        """The body of a push notification."""
        ...


@dataclass(frozen=True, slots=True)
class CallContext:
    """What surrounds a call, beside what it asks for.

    `codec` is the version that the caller speaks: a task is kept and posted as it writes it.
    `authorized_until` is when the caller's token expires, in seconds since the epoch; None never.
    `handling` is what faults and the admin API do to its turn, the id of its trace included.
    """

    codec: Codec
    authorized_until: float | None = None
    handling: Handling = AS_USUAL
