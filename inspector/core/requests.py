"""From what a user asks to the request that asks it of the agent, and back to the turn."""

import base64
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from inspector.core.commands import (
    Also,
    CancelTask,
    FollowMode,
    GetTask,
    Resubscribe,
    SlotShape,
    Turn,
)
from inspector.core.entries import Headers, Purpose, RequestSent
from inspector.core.redaction import SECRET_HEADERS
from inspector.errors import UsageError
from inspector.net.events import Outgoing
from inspector.wire import v0_3
from inspector.wire.card import Endpoint
from inspector.wire.json_values import (
    Json,
    at,
    encode_json,
    list_at,
    object_at,
    parse_json,
    text_at,
)
from inspector.wire.slots import add_fence, add_line, data_part, in_metadata, seedings
from inspector.wire.tokens import MASK
from inspector.wire.v0_3 import encode_request, read_request

MOST_BYTES = 100 * 1024 * 1024


def read_user_file(path: Path, where: str) -> bytes:
    """The content of `path`; `where` names it in errors.

    Raises:
        UsageError: it cannot be read, or is longer than anything that is sent.
    """
    try:
        with path.open("rb") as stream:
            return read_to_end(stream, where)
    except OSError as error:
        raise UsageError(f"{where}: {error.strerror}") from error


def read_to_end(stream: BinaryIO, where: str, most_bytes: int = MOST_BYTES) -> bytes:
    """What `stream` holds.

    Raises:
        UsageError: it does not end within `most_bytes`.
    """
    content = stream.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise UsageError(f"{where}: more than {most_bytes} bytes", "name something smaller")
    return content


def read_part(source: str) -> Json:
    """The part in `source`: JSON text, a JSON file that holds a part, or any file as a FilePart.

    Raises:
        UsageError: JSON that is no part, or a file that cannot be read.
    """
    if source.lstrip().startswith("{"):
        return _part_of(source)
    path = Path(source).expanduser()
    content = read_user_file(path, str(path))
    if path.suffix == ".json" and is_part(part := parse_json(content).value):
        return part
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    encoded = base64.b64encode(content).decode()
    return {"kind": "file", "file": {"name": path.name, "mimeType": media_type, "bytes": encoded}}


def is_part(value: Json) -> bool:
    return isinstance(value, dict) and "kind" in value


def _part_of(text: str) -> Json:
    parsed = parse_json(text.encode(errors="replace"))
    if not is_part(parsed.value):
        found = parsed.problem or "an object without `kind`"
        raise UsageError(
            f"expected a part as JSON; {found}", """write it as {"kind": "data", "data": {…}}"""
        )
    return parsed.value


def compose_params(
    turn: Turn, message_id: str, push_config: Mapping[str, Json] | None = None
) -> dict[str, Json]:
    """`MessageSendParams` of `turn` (A2A 0.3 §7.1.1); `message_id` serves where it names none.

    `push_config` says where the task's notifications go (§7.5).
    """
    params: dict[str, Json] = {"message": compose_message(turn, message_id)}
    configuration = _configuration(turn)
    if push_config is not None:
        configuration["pushNotificationConfig"] = dict(push_config)
    if configuration:
        params["configuration"] = configuration
    if turn.slots and SlotShape.REQUEST in turn.slot_shapes:
        params["metadata"] = in_metadata({}, turn.slots)
    return params


def compose_message(turn: Turn, message_id: str) -> dict[str, Json]:
    message: dict[str, Json] = {
        "kind": "message",
        "messageId": turn.message_id or message_id,
        "role": "user",
        "parts": _parts(turn),
    }
    if turn.context_id is not None:
        message["contextId"] = turn.context_id
    if turn.task_id is not None:
        message["taskId"] = turn.task_id
    if metadata := _metadata(turn):
        message["metadata"] = metadata
    return message


def _parts(turn: Turn) -> list[Json]:
    text = turn.text
    if turn.slots and SlotShape.LINE in turn.slot_shapes:
        text = add_line(text, turn.slots)
    # the fence must end the text, so it comes after the line
    if turn.slots and SlotShape.FENCE in turn.slot_shapes:
        text = add_fence(text, turn.slots)
    parts: list[Json] = [{"kind": "text", "text": text}] if text else []
    parts += turn.parts
    if turn.slots and SlotShape.DATA in turn.slot_shapes:
        parts.append(data_part(turn.slots))
    return parts


def _metadata(turn: Turn) -> dict[str, Json]:
    if turn.slots and SlotShape.METADATA in turn.slot_shapes:
        return in_metadata(turn.metadata, turn.slots)
    return dict(turn.metadata)


def _configuration(turn: Turn) -> dict[str, Json]:
    configuration: dict[str, Json] = {}
    if turn.accepted_output_modes:
        configuration["acceptedOutputModes"] = list(turn.accepted_output_modes)
    if turn.history_length is not None:
        configuration["historyLength"] = turn.history_length
    if turn.follow is not FollowMode.STREAM:
        configuration["blocking"] = turn.follow is FollowMode.BLOCKING
    return configuration


JSON_BODY: Headers = (("Content-Type", "application/json"),)
ACCEPT_JSON: Headers = (("Accept", "application/json"),)
ACCEPT_STREAM: Headers = (("Accept", "text/event-stream"),)

_STREAMS = frozenset({Purpose.STREAM, Purpose.RESUBSCRIBE})
_PURPOSES = {
    v0_3.MESSAGE_SEND: Purpose.SEND,
    v0_3.MESSAGE_STREAM: Purpose.STREAM,
    v0_3.TASKS_GET: Purpose.GET,
    v0_3.TASKS_CANCEL: Purpose.CANCEL,
    v0_3.TASKS_RESUBSCRIBE: Purpose.RESUBSCRIBE,
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
            method = v0_3.TASKS_GET
            if history_length is not None:
                params["historyLength"] = history_length
        case CancelTask():
            method = v0_3.TASKS_CANCEL
        case Resubscribe():
            method = v0_3.TASKS_RESUBSCRIBE
    body = v0_3.encode_request(request_id, method, params)
    return Request(_PURPOSES[method], body, routing(command.context_id))


def request_of_turn(
    turn: Turn, *, request_id: str, message_id: str, push_config: Mapping[str, Json] | None
) -> Request:
    """The request that sends `turn`; a raw one is what its method says, as far as that is known."""
    is_stream = turn.follow is FollowMode.STREAM
    method = v0_3.MESSAGE_STREAM if is_stream else v0_3.MESSAGE_SEND
    if turn.raw is not None:
        purpose = _PURPOSES.get(v0_3.read_request(turn.raw).method or "", _PURPOSES[method])
        return Request(purpose, turn.raw, turn.headers)
    params = compose_params(turn, message_id, push_config)
    body = v0_3.encode_request(request_id, method, params)
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


TURNS = frozenset({Purpose.SEND, Purpose.STREAM})

# What the transport and the session write themselves.
_OWN_HEADERS = frozenset(
    {
        *("host", "content-length", "content-type", "connection", "accept", "accept-encoding"),
        "user-agent",
    }
)


def read_sent_turn(request: RequestSent) -> Turn:
    """The turn that `request` sent; header values that the log masks are left out."""
    sent = read_request(request.body)
    follow = _read_follow(request.purpose, sent.params)
    turn = _read_params(sent.params, follow)
    # where notifications go is the session's to say, anew for each task
    push_config = at(sent.params, "configuration", "pushNotificationConfig")
    is_pushed = isinstance(push_config, dict)
    params = compose_params(turn, "", push_config if is_pushed else None)
    # an id of another type is the user's own, and to be sent again as it is
    id = sent.id if isinstance(sent.id, str) else ""
    again = encode_request(id, sent.method or "", params)
    if again != request.body:
        turn = Turn(
            turn.text, context_id=turn.context_id, message_id=turn.message_id, raw=request.body
        )
    also = frozenset({Also.PUSH}) if is_pushed and turn.raw is None else frozenset[Also]()
    return replace(turn, follow=follow, also=also, headers=_own_headers(request.headers))


def _read_params(params: dict[str, Json], follow: FollowMode) -> Turn:
    message = object_at(params, "message")
    parts = list_at(message, "parts")
    slots, shapes = _read_slots(params)
    metadata = object_at(message, "metadata")
    if SlotShape.METADATA in shapes:
        metadata = {name: value for name, value in metadata.items() if name != "slots"}
    if SlotShape.DATA in shapes:
        parts = parts[:-1]
    text = ""
    if parts and (first := text_at(parts[0], "text")) is not None:
        text, parts = _without_markers(first, slots, shapes), parts[1:]
    modes = list_at(params, "configuration", "acceptedOutputModes")
    history = at(params, "configuration", "historyLength")
    return Turn(
        text,
        slots=slots,
        slot_shapes=shapes or (SlotShape.METADATA,),
        context_id=text_at(message, "contextId"),
        message_id=text_at(message, "messageId"),
        task_id=text_at(message, "taskId"),
        metadata=metadata,
        parts=tuple(parts),
        history_length=history if isinstance(history, int) else None,
        accepted_output_modes=tuple(mode for mode in modes if isinstance(mode, str)),
        follow=follow,
    )


def _read_slots(params: dict[str, Json]) -> tuple[dict[str, Json], tuple[SlotShape, ...]]:
    """The slots of the strongest place, and the shapes of all places that hold just the same."""
    found = [seeding for seeding in seedings(params) if seeding.slots]
    if not found:
        return {}, ()
    slots = found[-1].slots
    same = {seeding.shape for seeding in found if encode_json(seeding.slots) == encode_json(slots)}
    last = list_at(params, "message", "parts")[-1:]
    if last != [data_part(slots)]:
        same.discard(SlotShape.DATA)
    shapes = tuple(shape for shape in SlotShape if shape in same)
    return (slots, shapes) if shapes else ({}, ())


def _without_markers(text: str, slots: dict[str, Json], shapes: tuple[SlotShape, ...]) -> str:
    """`text` before compose_params wrote `slots` into it; what the user wrote there stays."""
    # they were added in the order of SlotShape, so the last one comes off first
    for shape, add in ((SlotShape.FENCE, add_fence), (SlotShape.LINE, add_line)):
        if shape in shapes:
            marker = add("", slots)
            text = text.removesuffix(marker).removesuffix("\n") if text.endswith(marker) else text
    return text


def _read_follow(purpose: Purpose, params: dict[str, Json]) -> FollowMode:
    if purpose is Purpose.STREAM:
        return FollowMode.STREAM
    is_blocking = at(params, "configuration", "blocking") is not False
    return FollowMode.BLOCKING if is_blocking else FollowMode.NO_BLOCKING


def _own_headers(headers: Headers) -> Headers:
    return tuple(
        (name, value)
        for name, value in headers
        if name.lower() not in _OWN_HEADERS and MASK not in value
    )
