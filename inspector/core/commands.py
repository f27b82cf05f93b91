"""What a user can ask a session to do; flags, keys and clicks all become one of these."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from inspector.net.events import Headers
from inspector.wire.dialect import Part
from inspector.wire.json_values import Json


class SlotShape(StrEnum):
    """Where seeded slots travel (server.md SLOT-1), lowest precedence first."""

    LINE = "line"
    FENCE = "fence"
    REQUEST = "request"
    METADATA = "metadata"
    DATA = "data"


class FollowMode(StrEnum):
    """How a turn is sent, which is the first channel of its task's progress."""

    BLOCKING = "blocking"
    STREAM = "stream"
    NO_BLOCKING = "no-blocking"


class Also(StrEnum):
    """A further channel of a task's progress (inspector.md COMP-3); several go at once."""

    SUBSCRIBE = "subscribe"
    POLL = "poll"
    PUSH = "push"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message to the agent. None leaves a field out of the wire.

    `parts` go out as they are, after the text and before the DataPart of slots. `headers` go with
    this turn alone. `raw` is a whole request body that goes out byte for byte in place of
    everything else but `headers`, `follow` and `also`. `is_replay`: a live replay sends it.
    """

    text: str
    slots: Mapping[str, Json] = field(default_factory=dict[str, Json])
    slot_shapes: tuple[SlotShape, ...] = (SlotShape.METADATA,)
    context_id: str | None = None
    message_id: str | None = None
    task_id: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    parts: tuple[Part, ...] = ()
    history_length: int | None = None
    accepted_output_modes: tuple[str, ...] = ()
    follow: FollowMode = FollowMode.BLOCKING
    also: frozenset[Also] = frozenset()
    headers: Headers = ()
    raw: bytes | None = None
    is_replay: bool = False


@dataclass(frozen=True, slots=True)
class FetchCard:
    pass


@dataclass(frozen=True, slots=True)
class SendTurn:
    turn: Turn


@dataclass(frozen=True, slots=True)
class GetTask:
    task_id: str
    context_id: str | None = None
    history_length: int | None = None


@dataclass(frozen=True, slots=True)
class CancelTask:
    """`is_replay`: a live replay cancels a task of its own."""

    task_id: str
    context_id: str | None = None
    is_replay: bool = False


@dataclass(frozen=True, slots=True)
class Resubscribe:
    task_id: str
    context_id: str | None = None


Command: TypeAlias = FetchCard | SendTurn | GetTask | CancelTask | Resubscribe
