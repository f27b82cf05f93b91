"""The fault catalogue: every way in which the mock can misbehave on request, as data.

The first line of a class is what the reference says of it; the descriptions of its fields are the
parameters' there.
"""

from enum import StrEnum
from typing import Annotated, ClassVar, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from mock_server.tasks.task import TaskState

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
LONGEST_SECONDS = 3600.0

Seconds: TypeAlias = Annotated[float, Field(ge=0, le=LONGEST_SECONDS)]


class Moment(StrEnum):
    """Before the request is worked on, or after: a turn has then run and its answer is lost."""

    BEFORE = "before"
    AFTER = "after"


MOMENT = "`before` the request is worked on, or `after`: the turn runs, its answer is lost"


class Reach(StrEnum):
    """The values are what the reference calls them."""

    ANY = "every request"
    RPC = "`POST /`"
    STREAM = "`message/stream`, `tasks/resubscribe`"
    TURN = "`message/send`, `message/stream`"
    CARD = "the agent card"
    PUSH = "push notifications"


class EffectModel(BaseModel):
    """What all effects have in common: `reach` says where one can show."""

    model_config = STRICT
    reach: ClassVar[Reach] = Reach.ANY


class HttpStatus(EffectModel):
    """Answers with an HTTP status instead of the answer."""

    kind: Literal["http_status"] = "http_status"
    status: int = Field(ge=200, le=599, description="the status")
    body: str | None = Field(
        default=None, description="the body; by default a JSON-RPC error, as the server has it"
    )
    content_type: str = Field(default="application/json", description="of the body")
    when: Moment = Field(default=Moment.BEFORE, description=MOMENT)


class RateLimited(EffectModel):
    """Answers 429 with `Retry-After`, and does nothing else."""

    kind: Literal["rate_limited"] = "rate_limited"
    retry_after_seconds: int = Field(
        default=1, ge=0, le=86400, description="seconds in `Retry-After`"
    )


class Delay(EffectModel):
    """Waits, a fixed or a random time."""

    kind: Literal["delay"] = "delay"
    seconds: Seconds = Field(description="at least so long")
    jitter_seconds: Seconds = Field(default=0.0, description="and a random part of this on top")
    when: Moment = Field(default=Moment.BEFORE, description="work on the request, or answer it")


class ConnectionReset(EffectModel):
    """Resets the TCP connection (RST)."""

    kind: Literal["connection_reset"] = "connection_reset"
    when: Literal["before", "during", "after"] = Field(
        default="before",
        description=(
            "`before` the request is worked on, `during` the answer (half of it, or a stream's "
            "first event, is sent), or `after`: the turn runs, nothing is sent"
        ),
    )


class SlowDribble(EffectModel):
    """Sends the body a few bytes at a time."""

    kind: Literal["slow_dribble"] = "slow_dribble"
    size_bytes: int = Field(default=16, ge=1, le=65536, description="of each piece")
    pause_seconds: Seconds = Field(default=0.05, description="before each piece but the first")


class MalformedJson(EffectModel):
    """Sends the first half of each JSON document as if it were all."""

    kind: Literal["malformed_json"] = "malformed_json"


class WrongContentType(EffectModel):
    """Sends a wrong `Content-Type`."""

    kind: Literal["wrong_content_type"] = "wrong_content_type"
    content_type: str = Field(default="text/html", min_length=1, description="the type sent")


class WrongId(EffectModel):
    """Answers under another JSON-RPC id than the request's."""

    reach = Reach.RPC
    kind: Literal["wrong_id"] = "wrong_id"
    id: str | int | None = Field(default="wrong-id", description="the id")


class WrongContextId(EffectModel):
    """Answers with another `contextId`, wherever the answer names it."""

    reach = Reach.RPC
    kind: Literal["wrong_context_id"] = "wrong_context_id"
    context_id: str = Field(default="wrong-context", description="the id")


class TruncatedStream(EffectModel):
    """Ends a stream in the middle of an event."""

    reach = Reach.STREAM
    kind: Literal["truncated_stream"] = "truncated_stream"
    after_events: int = Field(default=1, ge=0, description="so many whole events are sent")
    ending: Literal["cut", "clean"] = Field(
        default="cut",
        description="`cut`: the connection closes without the last chunk; `clean`: with it",
    )


class NoFinalEvent(EffectModel):
    """Ends a stream without the event that says `final: true`."""

    reach = Reach.STREAM
    kind: Literal["no_final_event"] = "no_final_event"


class DuplicateEvents(EffectModel):
    """Sends each event of a stream several times."""

    reach = Reach.STREAM
    kind: Literal["duplicate_events"] = "duplicate_events"
    times: int = Field(default=2, ge=2, le=100, description="how often")


class ReorderedEvents(EffectModel):
    """Swaps each two neighbours among a stream's events."""

    reach = Reach.STREAM
    kind: Literal["reordered_events"] = "reordered_events"


class ForcedState(EffectModel):
    """Ends the turn in a state of your choice; the dialogue goes on as usual."""

    reach = Reach.TURN
    kind: Literal["task_state"] = "task_state"
    state: TaskState = Field(description=f"one of {', '.join(TaskState)}")


class StuckWorking(EffectModel):
    """Leaves the task `working` until it is cancelled or times out."""

    reach = Reach.TURN
    kind: Literal["stuck_working"] = "stuck_working"


class ContextEvicted(EffectModel):
    """Forgets the conversation before the turn: its slots and its flows."""

    reach = Reach.TURN
    kind: Literal["context_evicted"] = "context_evicted"


class LyingCard(EffectModel):
    """Changes the agent card."""

    reach = Reach.CARD
    kind: Literal["lying_card"] = "lying_card"
    merge: dict[str, JsonValue] = Field(
        min_length=1, description="merged into the card as RFC 7396 has it; null removes a key"
    )


class PushLost(EffectModel):
    """Never sends a push notification."""

    reach = Reach.PUSH
    kind: Literal["push_lost"] = "push_lost"


class PushLate(EffectModel):
    """Sends a push notification late; the task's later ones wait for it."""

    reach = Reach.PUSH
    kind: Literal["push_late"] = "push_late"
    seconds: Seconds = Field(description="at least so late")
    jitter_seconds: Seconds = Field(default=0.0, description="and a random part of this on top")


class PushDuplicated(EffectModel):
    """Sends a push notification several times."""

    reach = Reach.PUSH
    kind: Literal["push_duplicated"] = "push_duplicated"
    times: int = Field(default=2, ge=2, le=100, description="how often")


class PushReordered(EffectModel):
    """Sends a push notification after the task's next one."""

    reach = Reach.PUSH
    kind: Literal["push_reordered"] = "push_reordered"


class PushWrongToken(EffectModel):
    """Sends a push notification with another token than was registered."""

    reach = Reach.PUSH
    kind: Literal["push_wrong_token"] = "push_wrong_token"
    token: str = Field(default="wrong-token", description="the token")


RequestEffect: TypeAlias = (
    HttpStatus
    | RateLimited
    | Delay
    | ConnectionReset
    | SlowDribble
    | MalformedJson
    | WrongContentType
    | WrongId
    | WrongContextId
    | TruncatedStream
    | NoFinalEvent
    | DuplicateEvents
    | ReorderedEvents
    | ForcedState
    | StuckWorking
    | ContextEvicted
    | LyingCard
)
PushEffect: TypeAlias = PushLost | PushLate | PushDuplicated | PushReordered | PushWrongToken
Effect: TypeAlias = RequestEffect | PushEffect
CATALOGUE: tuple[type[Effect], ...] = get_args(Effect)
KINDS = tuple(str(effect.model_fields["kind"].default) for effect in CATALOGUE)
