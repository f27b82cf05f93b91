"""A turn read back from the request that carried it, so that it can be edited and sent again.

What composing the read turn would not give back exactly is kept as its raw body instead.
"""

from dataclasses import replace

from inspector.core.commands import Also, FollowMode, Json, SlotShape, Turn
from inspector.core.compose import compose_params
from inspector.core.entries import Headers, Purpose, RequestSent
from inspector.wire.jsonrpc import encode_request, read_request
from inspector.wire.masks import MASK
from inspector.wire.slots import add_fence, add_line, data_part, seedings
from inspector.wire.tree import at, encode_json, list_at, object_at, text_at

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
    follow = _follow(request.purpose, sent.params)
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


def _follow(purpose: Purpose, params: dict[str, Json]) -> FollowMode:
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
