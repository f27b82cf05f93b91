"""Where each effect can show: what its fault is tried on before its matcher is asked."""

from collections.abc import Mapping
from enum import StrEnum

from mock_server.faults import effects
from mock_server.faults.effects import Effect
from mock_server.faults.request import RPC_PATH, ReceivedRequest

TURN_METHODS = frozenset(
    {"message/send", "message/stream", "SendMessage", "SendStreamingMessage"}
)  # fmt: skip
STREAM_METHODS = frozenset(
    {"message/stream", "tasks/resubscribe", "SendStreamingMessage", "SubscribeToTask"}
)
CARD_PATHS = frozenset({"/.well-known/agent-card.json", "/.well-known/agent.json"})


class Reach(StrEnum):
    """The values are what the reference calls them."""

    ANY = "every request"
    RPC = "`POST /`"
    STREAM = "`message/stream`, `tasks/resubscribe`"
    TURN = "`message/send`, `message/stream`"
    CARD = "the agent card"
    PUSH = "push notifications"


REACH: Mapping[type[Effect], Reach] = {
    effects.HttpStatus: Reach.ANY,
    effects.RateLimited: Reach.ANY,
    effects.Delay: Reach.ANY,
    effects.ConnectionReset: Reach.ANY,
    effects.SlowDribble: Reach.ANY,
    effects.MalformedJson: Reach.ANY,
    effects.WrongContentType: Reach.ANY,
    effects.WrongId: Reach.RPC,
    effects.WrongContextId: Reach.RPC,
    effects.TruncatedStream: Reach.STREAM,
    effects.NoFinalEvent: Reach.STREAM,
    effects.DuplicateEvents: Reach.STREAM,
    effects.ReorderedEvents: Reach.STREAM,
    effects.ForcedState: Reach.TURN,
    effects.StuckWorking: Reach.TURN,
    effects.ContextEvicted: Reach.TURN,
    effects.LyingCard: Reach.CARD,
    effects.PushLost: Reach.PUSH,
    effects.PushLate: Reach.PUSH,
    effects.PushDuplicated: Reach.PUSH,
    effects.PushReordered: Reach.PUSH,
    effects.PushWrongToken: Reach.PUSH,
}


def reaches(effect: Effect, request: ReceivedRequest) -> bool:
    """Whether `effect` can show in the answer to `request` at all."""
    match REACH[type(effect)]:
        case Reach.ANY:
            return True
        case Reach.RPC:
            return request.path == RPC_PATH and request.verb == "POST"
        case Reach.STREAM:
            return request.method in STREAM_METHODS
        case Reach.TURN:
            return request.method in TURN_METHODS
        case Reach.CARD:
            return request.path in CARD_PATHS
        case Reach.PUSH:
            return False
