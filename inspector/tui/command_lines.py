"""An exchange or a turn as a command line to paste into a shell."""

import json
import shlex

from inspector.core.commands import FollowMode, SlotShape, Turn
from inspector.core.entries import PushReceived, RequestSent

# What curl writes itself, and what it must not be told twice.
_OWN_HEADERS = frozenset({"host", "content-length", "connection", "accept-encoding", "user-agent"})


def curl(request: RequestSent | PushReceived) -> str:
    """Return the request of an exchange; secrets stay masked as the log has them."""
    words = ["curl", "-X", request.method, request.url]
    for name, value in request.headers:
        if name.lower() not in _OWN_HEADERS:
            words += ["-H", f"{name}: {value}"]
    if request.body:
        words += ["--data-raw", request.body.decode("utf-8", "backslashreplace")]
    return shlex.join(words)


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
