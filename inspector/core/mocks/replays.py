"""A conversation read back from the log, turn by turn, to be sent again in another context."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from inspector.core.commands import FollowMode, Json, Turn
from inspector.core.entries import Channel, Entry, FrameReceived, Headers, Purpose, RequestSent
from inspector.core.sent_turn import read_sent_turn
from inspector.wire.jsonrpc import encode_request, read_reply, read_request
from inspector.wire.results import Result, read_result
from inspector.wire.sse import parse_event
from inspector.wire.tree import object_at, text_at

# A context of this name is a replay: that is how a reopened log still tells them apart.
CONTEXT_PREFIX = "inspect-live-"
ROUTING_HEADER = "x-a2a-context-id"

_TURNS = frozenset({Purpose.SEND, Purpose.STREAM})


@dataclass(frozen=True, slots=True)
class Said:
    """A turn, or the cancelling of a task, and what its first reply named."""

    request: RequestSent
    context_id: str | None = None
    task_id: str | None = None
    has_result: bool = False


@dataclass(frozen=True, slots=True)
class Names:
    """What the ids of a conversation are called in its replay, by their old names."""

    context_id: str
    messages: Mapping[str, str] = field(default_factory=dict[str, str])
    tasks: Mapping[str, str] = field(default_factory=dict[str, str])


def is_of_replay(context_id: str | None, headers: Headers) -> bool:
    """Say whether a request is of a replay: a turn in `context_id`, or one about a task."""
    if context_id is None:
        named = (value for name, value in headers if name.lower() == ROUTING_HEADER)
        context_id = next(named, None)
    return _is_replayed(context_id)


def conversation(entries: Iterable[Entry]) -> tuple[Said, ...]:
    """What was said in the newest context that is no replay; turns without a result left out."""
    said: dict[int, Said] = {}
    for entry in entries:
        match entry:
            case RequestSent(purpose=Purpose.SEND | Purpose.STREAM | Purpose.CANCEL):
                said[entry.exchange] = _read_request(entry)
            case FrameReceived() if entry.exchange in said:
                said[entry.exchange] = _take_reply(said[entry.exchange], entry)
            case _:
                pass
    heard = [one for one in said.values() if one.has_result and not _is_replayed(one.context_id)]
    turns = [one for one in heard if one.request.purpose in _TURNS]
    if not turns:
        return ()
    return tuple(one for one in heard if one.context_id == turns[-1].context_id)


def again(said: Said, names: Names, message_id: str, request_id: str) -> tuple[Turn, Names]:
    """The turn to send in place of `said`, and the names that later turns know its ids by.

    All of the message stays but its ids, and nobody is told of the task by push.
    """
    request = said.request
    sent = read_request(request.body)
    message = {**object_at(sent.params, "message"), "contextId": names.context_id}
    old_id, old_task = text_at(message, "messageId"), text_at(message, "taskId")
    if old_id is not None:
        names = replace(names, messages={old_id: message_id, **names.messages})
        message["messageId"] = names.messages[old_id]
    if old_task is not None:
        message["taskId"] = names.tasks.get(old_task, old_task)
    params: dict[str, Json] = {**sent.params, "message": message}
    configuration = object_at(params, "configuration")
    if configuration:
        params["configuration"] = {
            name: value
            for name, value in configuration.items()
            if name != "pushNotificationConfig" and (name != "blocking" or value is True)
        }
    turn = read_sent_turn(request)
    is_stream = turn.follow is FollowMode.STREAM
    raw = encode_request(request_id, sent.method or "", params)
    follow = FollowMode.STREAM if is_stream else FollowMode.BLOCKING
    return Turn(turn.text, follow=follow, headers=turn.headers, raw=raw), names


def _is_replayed(context_id: str | None) -> bool:
    return context_id is not None and context_id.startswith(CONTEXT_PREFIX)


def _read_request(request: RequestSent) -> Said:
    params = read_request(request.body).params
    context_id = text_at(params, "message", "contextId")
    task_id = text_at(params, "id")
    return Said(request, context_id, task_id)


def _take_reply(said: Said, frame: FrameReceived) -> Said:
    if said.has_result or (result := result_in(frame)) is None:
        return said
    return replace(
        said,
        context_id=said.context_id or result.context_id,
        task_id=said.task_id or result.task_id,
        has_result=True,
    )


def result_in(frame: FrameReceived) -> Result | None:
    """The result in a body or an event; None where it holds none."""
    raw = parse_event(frame.raw).data if frame.channel is Channel.SSE else frame.raw
    reply = read_reply(raw) if raw is not None else None
    if reply is None or reply.problem or reply.error is not None:
        return None
    return read_result(reply.result)
