"""A turn as a command line to paste into a shell."""

import json
import shlex

from inspector.core.commands import FollowMode, SlotShape, Turn


def send_command(target: str, turn: Turn) -> str:
    """Return the `a2a-inspect send` that sends `turn`."""
    words = ["a2a-inspect", "send", target, turn.text]
    for name, value in turn.slots.items():
        words += ["--slot", f"{name}={json.dumps(value, ensure_ascii=False)}"]
    if turn.slots and turn.slot_shapes != (SlotShape.METADATA,):
        words += [word for shape in turn.slot_shapes for word in ("--slots-as", shape.value)]
    for flag, value in (("--context", turn.context_id), ("--message-id", turn.message_id)):
        words += [flag, value] if value else []
    match turn.follow:
        case FollowMode.STREAM:
            words.append("--stream")
        case FollowMode.NO_BLOCKING:
            words.append("--no-blocking")
        case FollowMode.BLOCKING:
            pass
    return shlex.join(words)
