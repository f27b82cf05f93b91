"""From the turn flags to a Turn."""

import argparse
import base64
import json
import mimetypes
import sys
from collections.abc import Sequence
from pathlib import Path

from inspector.core.commands import Also, FollowMode, Json, SlotShape, Turn
from inspector.errors import UsageError
from inspector.wire.tree import parse_json


def read_turn(arguments: argparse.Namespace) -> Turn:
    """The turn that the flags describe.

    Raises:
        UsageError: a pair without `=`, or a file that cannot be read as what it should be.
    """
    shapes = tuple(SlotShape(name) for name in arguments.slots_as or ("metadata",))
    slots = _read_slots_file(arguments.slots) if arguments.slots else {}
    return Turn(
        text=sys.stdin.read().rstrip("\n") if arguments.text == "-" else arguments.text,
        slots={**slots, **_read_pairs("--slot", arguments.slot)},
        slot_shapes=shapes,
        context_id=arguments.context,
        message_id=arguments.message_id,
        task_id=arguments.task,
        metadata=_read_pairs("--metadata", arguments.metadata),
        parts=tuple(read_part(path) for path in arguments.part),
        history_length=arguments.history_length,
        accepted_output_modes=tuple(arguments.accept),
        follow=_follow(arguments),
        also=_also(arguments),
    )


def _follow(arguments: argparse.Namespace) -> FollowMode:
    """Polling has a point only where the answer does not wait for the task's end."""
    if arguments.stream:
        return FollowMode.STREAM
    is_free = arguments.no_blocking or arguments.poll or arguments.resubscribe
    return FollowMode.NO_BLOCKING if is_free else FollowMode.BLOCKING


def _also(arguments: argparse.Namespace) -> frozenset[Also]:
    """The further ways.

    Raises:
        UsageError: a flag for --push without it.
    """
    if not arguments.push:
        for flag, value in (
            ("--push-port", arguments.push_port),
            ("--public-url", arguments.public_url),
        ):
            if value:
                raise UsageError(f"{flag} is for --push", "add --push, or leave it out")
    ways = {
        Also.POLL: arguments.poll,
        Also.PUSH: arguments.push,
        Also.SUBSCRIBE: arguments.resubscribe,
    }
    return frozenset(way for way, is_asked in ways.items() if is_asked)


def _read_pairs(flag: str, pairs: Sequence[str]) -> dict[str, Json]:
    read: dict[str, Json] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"{flag} {pair!r} is not NAME=VALUE", f"write it as {flag} amount=50")
        read[name] = read_value(text)
    return read


def read_value(text: str) -> Json:
    """JSON where `text` is JSON, else the text: `50`, `true`, `"50"`, `Joe`."""
    parsed = parse_json(text.encode(errors="surrogateescape"))
    return text if parsed.problem or parsed.warning else parsed.value


def _read_slots_file(path: Path) -> dict[str, Json]:
    parsed = parse_json(_read(path))
    if not isinstance(parsed.value, dict):
        found = parsed.problem or f"found {json.dumps(parsed.value)[:40]}"
        raise UsageError(f"{path}: expected a JSON object of slots; {found}")
    return parsed.value


def read_part(path: Path) -> Json:
    """A JSON file that holds a part is that part; any other file becomes a file part."""
    content = _read(path)
    if path.suffix == ".json":
        part = parse_json(content).value
        if isinstance(part, dict) and "kind" in part:
            return part
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    encoded = base64.b64encode(content).decode()
    return {"kind": "file", "file": {"name": path.name, "mimeType": media_type, "bytes": encoded}}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
