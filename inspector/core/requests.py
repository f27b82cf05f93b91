"""From a command to the request that asks it of the agent (A2A 0.3 §7)."""

from collections.abc import Mapping
from dataclasses import dataclass

from inspector.core.commands import (
    CancelTask,
    FollowMode,
    GetTask,
    Resubscribe,
    Turn,
)
from inspector.core.compose import compose_params
from inspector.core.entries import Headers, Purpose
from inspector.core.redaction import SECRET_HEADERS
from inspector.net.events import Outgoing
from inspector.wire import jsonrpc
from inspector.wire.card import Endpoint
from inspector.wire.tree import Json

JSON_BODY: Headers = (("Content-Type", "application/json"),)
ACCEPT_JSON: Headers = (("Accept", "application/json"),)
ACCEPT_STREAM: Headers = (("Accept", "text/event-stream"),)

_STREAMS = frozenset({Purpose.STREAM, Purpose.RESUBSCRIBE})
_PURPOSES = {
    jsonrpc.MESSAGE_SEND: Purpose.SEND,
    jsonrpc.MESSAGE_STREAM: Purpose.STREAM,
    jsonrpc.TASKS_GET: Purpose.GET,
    jsonrpc.TASKS_CANCEL: Purpose.CANCEL,
    jsonrpc.TASKS_RESUBSCRIBE: Purpose.RESUBSCRIBE,
}


@dataclass(frozen=True, slots=True)
class Request:
    """What goes to the agent's endpoint, and why."""

    purpose: Purpose
    body: bytes
    headers: Headers = ()

    def outgoing(self, endpoint: Endpoint, credentials: Headers) -> Outgoing:
        """Credentials, those of the turn's headers included, stay with the card's origin."""
        extra = self.headers
        if endpoint.is_trusted:
            extra += credentials
        else:
            extra = tuple(one for one in extra if one[0].lower() not in SECRET_HEADERS)
        headers = overlay(JSON_BODY + self._accept(), extra)
        return Outgoing("POST", endpoint.url, headers, self.body)

    def _accept(self) -> Headers:
        return ACCEPT_STREAM if self.purpose in _STREAMS else ACCEPT_JSON


def request_of(command: GetTask | CancelTask | Resubscribe, request_id: str) -> Request:
    """The request about a task; its context leads to the replica that holds it."""
    params: dict[str, Json] = {"id": command.task_id}
    match command:
        case GetTask(history_length=history_length):
            method = jsonrpc.TASKS_GET
            if history_length is not None:
                params["historyLength"] = history_length
        case CancelTask():
            method = jsonrpc.TASKS_CANCEL
        case Resubscribe():
            method = jsonrpc.TASKS_RESUBSCRIBE
    body = jsonrpc.encode_request(request_id, method, params)
    return Request(_PURPOSES[method], body, routing(command.context_id))


def request_of_turn(
    turn: Turn, *, request_id: str, message_id: str, push_config: Mapping[str, Json] | None
) -> Request:
    """The request that sends `turn`; a raw one is what its method says, as far as that is known."""
    is_stream = turn.follow is FollowMode.STREAM
    method = jsonrpc.MESSAGE_STREAM if is_stream else jsonrpc.MESSAGE_SEND
    if turn.raw is not None:
        purpose = _PURPOSES.get(jsonrpc.read_request(turn.raw).method or "", _PURPOSES[method])
        return Request(purpose, turn.raw, turn.headers)
    params = compose_params(turn, message_id, push_config)
    body = jsonrpc.encode_request(request_id, method, params)
    return Request(_PURPOSES[method], body, turn.headers)


def routing(context_id: str | None) -> Headers:
    """What leads a call without a contextId in its body to the replica that holds the context.

    An agent may give contexts ids that no header can hold; such a call finds its own way.
    """
    if not context_id or not is_header_value(context_id):
        return ()
    return (("X-A2A-Context-Id", context_id),)


def is_header_value(text: str) -> bool:
    """Whether a header can hold `text` for sure: printable ASCII (RFC 9110 §5.5)."""
    return text.isascii() and text.isprintable()


def overlay(headers: Headers, others: Headers) -> Headers:
    """`headers` and `others`, which take the place of those with the same names."""
    named = {name.lower() for name, _ in others}
    return tuple(one for one in headers if one[0].lower() not in named) + others
