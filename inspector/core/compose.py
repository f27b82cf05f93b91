"""From what the user asks to the parameters that go out; ids are given, nothing is invented."""

from collections.abc import Mapping

from inspector.core.commands import FollowMode, SlotShape, Turn
from inspector.wire.slots import add_fence, add_line, data_part, in_metadata
from inspector.wire.tree import Json


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
