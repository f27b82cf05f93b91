"""From the turn flags to a Turn."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from inspector.core.commands import Also, FollowMode, Json, SlotShape, Turn
from inspector.core.requests import read_part, read_to_end, read_user_file
from inspector.core.saved.targets import decode_turn, read_targets, targets_file
from inspector.errors import UsageError
from inspector.wire.json_values import parse_json

T = TypeVar("T")
_IN_THE_BODY = (
    *("slot", "slots", "slot_set", "slots_as", "context", "message_id", "task"),
    *("metadata", "part", "history_length", "accept"),
)


def read_turn(arguments: argparse.Namespace) -> Turn:
    """The turn that the flags describe; those that are given win over a snippet's.

    Raises:
        UsageError: a pair without `=`, a file that cannot be read as what it should be, a name
            that nothing is kept under, or nothing to send.
    """
    if arguments.raw is not None:
        return _read_raw(arguments)
    _refuse_shapes_of_nothing(arguments)
    kept = _read_snippet(arguments)
    text = _read_stdin() if arguments.text == "-" else arguments.text
    if text is None and kept is None:
        raise UsageError("nothing to send", "add a TEXT, which may be '', --snippet or --raw")
    base = kept or Turn("")
    is_following = arguments.stream or arguments.no_blocking or arguments.poll
    shapes = tuple(SlotShape(name) for name in arguments.slots_as or ())
    return Turn(
        text=base.text if text is None else text,
        slots={**base.slots, **_read_slots(arguments)},
        slot_shapes=shapes or base.slot_shapes,
        context_id=arguments.context,
        message_id=arguments.message_id,
        task_id=arguments.task,
        metadata={**base.metadata, **_read_pairs("--metadata", arguments.metadata)},
        parts=(*base.parts, *(read_part(source) for source in arguments.part)),
        history_length=_given(arguments.history_length, base.history_length),
        accepted_output_modes=tuple(arguments.accept) or base.accepted_output_modes,
        follow=_follow(arguments) if is_following or kept is None else base.follow,
        also=_also(arguments) or base.also,
        headers=base.headers,
        raw=base.raw,
    )


def _read_stdin() -> str:
    """The text on stdin, without a byte order mark and the line end that most programs leave."""
    content = read_to_end(sys.stdin.buffer, "stdin")
    try:
        text = content.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        found = content[error.start : error.start + 8]
        raise UsageError(
            f"stdin is no UTF-8: {found!r} at byte {error.start}",
            "--part FILE sends a file as it is, --raw - a whole body",
        ) from error
    if not text:
        raise UsageError("stdin has no text", "'' in the place of - sends an empty message")
    return text


def _refuse_shapes_of_nothing(arguments: argparse.Namespace) -> None:
    sources = (arguments.slot, arguments.slots, arguments.slot_set, arguments.snippet)
    if arguments.slots_as and not any(sources):
        raise UsageError("--slots-as says nothing without slots", "add --slot NAME=VALUE")


def _read_raw(arguments: argparse.Namespace) -> Turn:
    if arguments.text is not None or arguments.snippet is not None:
        raise UsageError("--raw is a whole body: it takes neither a TEXT nor --snippet")
    for name in _IN_THE_BODY:
        if getattr(arguments, name) not in (None, []):
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"--raw is a whole body: {flag} would be ignored", f"leave out {flag}")
    path = Path(arguments.raw)
    raw = (
        read_to_end(sys.stdin.buffer, "stdin")
        if arguments.raw == "-"
        else read_user_file(path, f"--raw {path}")
    )
    return Turn("", follow=_follow(arguments), also=_also(arguments), raw=raw)


def _read_snippet(arguments: argparse.Namespace) -> Turn | None:
    if arguments.snippet is None:
        return None
    kept = read_targets(targets_file()).snippets(arguments.target)
    return decode_turn(_named("--snippet", arguments.snippet, kept))


def _read_slots(arguments: argparse.Namespace) -> dict[str, Json]:
    """Slots of a set, a file and flags; the later win."""
    slots: dict[str, Json] = {}
    if arguments.slot_set is not None:
        kept = read_targets(targets_file()).slot_sets(arguments.target)
        slots |= _named("--slot-set", arguments.slot_set, kept)
    if arguments.slots is not None:
        slots |= _read_slots_file(arguments.slots)
    return slots | _read_pairs("--slot", arguments.slot)


def _named(flag: str, name: str, kept: Mapping[str, T]) -> T:
    if name not in kept:
        names = ", ".join(sorted(kept))
        hint = f"one of {names}" if kept else "in the terminal app, F12 keeps what is written"
        raise UsageError(f"{flag} {name!r}: nothing is kept for this target under it", hint)
    return kept[name]


def _given(number: int | None, otherwise: int | None) -> int | None:
    return otherwise if number is None else number


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
            ("--patience", arguments.patience),
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
    parsed = parse_json(read_user_file(path, f"--slots {path}"))
    if not isinstance(parsed.value, dict):
        found = parsed.problem or f"found {json.dumps(parsed.value)[:40]}"
        raise UsageError(f"{path}: expected a JSON object of slots; {found}")
    return parsed.value
